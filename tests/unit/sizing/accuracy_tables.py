"""The tables of docs/algorithms/accuracy.md, built from the report.

``python -m tests.unit.sizing.accuracy_tables`` writes them anew after constants were fitted, and
with them the report that pages read.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from sizing.accuracy.plain import report_object
from sizing.accuracy.report import AccuracyReport
from sizing.csv_tables import table_rows
from sizing.measurements import REASON_TEXTS, Reason, source_name
from sizing.relative_errors import ErrorSummary
from tests.unit.sizing.own_report import own_report

ROOT = Path(__file__).parents[3]
DOCS = ROOT / "docs/algorithms/accuracy.md"
STORED = ROOT / "sizing/tables/accuracy.json"


def all_tables() -> dict[str, str]:
    """Return every table by the mark that stands above it."""
    report = own_report()
    return {
        "left out": left_out_table(),
        "kinds": kinds_table(report),
        "rivals": rivals_table(report),
        "verdicts": verdicts_table(report),
    }


def stored_report() -> str:
    """Return the text of the report that pages read instead of computing it."""
    return json.dumps(report_object(own_report()), indent=1, ensure_ascii=False) + "\n"


def write_tables() -> None:
    STORED.write_text(stored_report(), encoding="utf-8")
    text = DOCS.read_text(encoding="utf-8")
    for mark, table in all_tables().items():
        pattern = rf"<!-- {mark} -->\n(\|[^\n]*\n)*"
        text = re.sub(pattern, lambda _, m=mark, t=table: f"<!-- {m} -->\n{t}\n", text)
    DOCS.write_text(text, encoding="utf-8")


def left_out_table() -> str:
    counts = Counter(row["reason"] for row in table_rows("measured_left_out.csv"))
    return _table(
        ("rows", "reason"),
        ((str(counts[r]), REASON_TEXTS[r]) for r in Reason if counts[r]),
    )


def kinds_table(report: AccuracyReport) -> str:
    """Kinds, and under each its sources."""
    header = ("", "rows", "median", "90th", "worst", "bias", "median, left out", "worst, left out")
    rows = [
        (
            group.kind.value
            if group.method is None
            else f"— {group.method}: {source_name(group.source or '')}",
            str(group.in_sample.rows),
            *_errors(group.in_sample),
            f"{group.in_sample.bias_percent:+.1f}",
            f"{group.left_out.median_percent:.1f}",
            f"{group.left_out.worst_percent:.0f}",
        )
        for group in report.groups
        if group.method is None or group.source is not None
    ]
    return _table(header, rows)


def rivals_table(report: AccuracyReport) -> str:
    header = ("rule", "rows", "median", "90th", "worst", "engine: median", "90th", "worst")
    return _table(
        header,
        (
            (
                c.rival.name if c.method is None else f"— {c.method}",
                str(c.rival_errors.rows),
                *_errors(c.rival_errors),
                *_errors(c.engine_errors),
            )
            for c in report.comparisons
        ),
    )


def verdicts_table(report: AccuracyReport) -> str:
    header = ("", "decisions", "false fits", "false refusals", "left out: fits", "refusals")
    return _table(
        header,
        (
            (
                v.kind.value,
                str(v.decisions),
                str(v.false_fits),
                f"{v.false_refusals} ({v.false_refusals_percent:.1f} %)",
                str(v.left_out_false_fits),
                str(v.left_out_false_refusals),
            )
            for v in report.verdicts
        ),
    )


def _errors(errors: ErrorSummary) -> tuple[str, str, str]:
    return (
        f"{errors.median_percent:.1f}",
        f"{errors.p90_percent:.1f}",
        f"{errors.worst_percent:.0f}",
    )


def _table(header: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [header, ("---",) * len(header), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


if __name__ == "__main__":
    write_tables()
