"""``accuracy``: how far the estimates are from measurements, ours or those of a file."""

import argparse
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sizing.accuracy.constants_dates import constants_fitted_on
from sizing.accuracy.plain import heading_object, report_object
from sizing.accuracy.report import (
    AccuracyReport,
    Comparison,
    Group,
    VerdictCount,
    accuracy_report,
    meets,
)
from sizing.commands.answers import answer, answer_json, new_parser, refuse
from sizing.measurements import (
    MOST_FILE_BYTES,
    READ_ON,
    REASON_TEXTS,
    MeasurementsFile,
    MeasurementsFileError,
    measurements_of,
    own_measurements,
    source_name,
)
from sizing.relative_errors import ErrorSummary

if TYPE_CHECKING:
    from sizing.commands.answers import Subparsers

EXAMPLES: Final = """\
  python -m sizing accuracy
  python -m sizing accuracy --json
  python -m sizing accuracy --data my-runs.csv
"""
_LABEL_WIDTH: Final = 56


def add_parser(subparsers: "Subparsers") -> None:
    parser = new_parser(
        subparsers,
        name="accuracy",
        summary="how far the estimates are from measurements",
        description=(
            "Errors of the estimates against measured runs, by task, method and source, also with "
            "each source left out of the fit, beside the published rules of others."
        ),
        examples=EXAMPLES,
    )
    parser.add_argument(
        "--data",
        metavar="FILE.csv",
        help="measurements to judge instead of our own table, in the same columns",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    try:
        table = own_measurements() if options.data is None else _read(options.data)
    except MeasurementsFileError as error:
        return refuse(f"--data: {error}")
    report = accuracy_report(table)
    name = "tables/measured.csv" if options.data is None else Path(options.data).name
    if options.json:
        return answer_json(heading_object(name) | report_object(report))
    return answer("\n".join(_lines(name, report)) + "\n")


def _read(path: str) -> MeasurementsFile:
    """Read no more of the file than is judged, so that a wrong one costs nothing."""
    try:
        with Path(path).open("rb") as file:
            content = file.read(MOST_FILE_BYTES + 1)
    except OSError as error:
        raise MeasurementsFileError(f"{path!r} cannot be read: {error.strerror or error}") from None
    except ValueError:
        raise MeasurementsFileError(f"{path!r} is no name of a file") from None
    return measurements_of(content=content)


def _lines(name: str, report: AccuracyReport) -> Iterable[str]:
    dates = ", ".join(f"{part} {day:%Y-%m-%d}" for part, day in constants_fitted_on().items())
    yield f"Rows of {name}: {report.rows}, of which {report.judged} judged."
    yield f"Our own table was read on {READ_ON:%Y-%m-%d}; constants were fitted on: {dates}."
    yield (
        "Errors are relative to what was measured, in %. "
        '"Left out": constants fitted without the row\'s source.'
    )
    if report.groups:
        yield from _group_lines(report)
    if report.comparisons:
        yield from _comparison_lines(report.comparisons)
    if report.verdicts:
        yield from _verdict_lines(report)
    yield from _reason_lines(report)


def _group_lines(report: AccuracyReport) -> Iterable[str]:
    yield ""
    yield (
        f"{'':<{_LABEL_WIDTH}}{'rows':>5}{'median':>8}{'90th':>8}{'worst':>8}{'bias':>8}"
        f"  {'left out: median':>16}{'90th':>8}{'worst':>8}"
    )
    for group in report.groups:
        yield (
            f"{_label(group):<{_LABEL_WIDTH}}{group.in_sample.rows:>5}"
            f"{_errors(group.in_sample)}{group.in_sample.bias_percent:>+8.1f}"
            f"  {group.left_out.median_percent:>16.1f}{group.left_out.p90_percent:>8.1f}"
            f"{group.left_out.worst_percent:>8.1f}"
        )


def _label(group: Group) -> str:
    if group.method is None:
        words = {None: "", True: " (target met)", False: " (target missed)"}
        return f"{group.kind.value}{words[meets(group)]}"
    if group.source is None:
        return f"  {group.method or 'no method'}"
    return f"    {source_name(group.source)}"[: _LABEL_WIDTH - 1]


def _errors(errors: ErrorSummary) -> str:
    return f"{errors.median_percent:>8.1f}{errors.p90_percent:>8.1f}{errors.worst_percent:>8.1f}"


def _comparison_lines(comparisons: Iterable[Comparison]) -> Iterable[str]:
    yield ""
    yield "Published rules on the same runs on one card. They assume recipes of their own."
    yield (
        f"{'':<{_LABEL_WIDTH}}{'rows':>5}{'median':>8}{'90th':>8}{'worst':>8}"
        f"  {'engine: median':>16}{'90th':>8}{'worst':>8}"
    )
    for each in comparisons:
        label = each.rival.name if each.method is None else f"  {each.method}"
        ours = each.engine_errors
        yield (
            f"{label:<{_LABEL_WIDTH}}{each.rival_errors.rows:>5}{_errors(each.rival_errors)}"
            f"  {ours.median_percent:>16.1f}{ours.p90_percent:>8.1f}{ours.worst_percent:>8.1f}"
        )


def _verdict_lines(report: AccuracyReport) -> Iterable[str]:
    yield ""
    yield (
        f"Verdicts with a margin of {report.margin_percent} % on one card of "
        "24, 32, 48, 80, 96 and 141 GB."
    )
    yield (
        f"{'':<{_LABEL_WIDTH}}{'decisions':>10}{'false fits':>12}{'false refusals':>16}"
        f"  {'left out: fits':>14}{'refusals':>10}"
    )
    yield from (_verdict_line(each) for each in report.verdicts)


def _verdict_line(each: VerdictCount) -> str:
    refusals = f"{each.false_refusals} ({each.false_refusals_percent:.1f} %)"
    return (
        f"{each.kind.value:<{_LABEL_WIDTH}}{each.decisions:>10}{each.false_fits:>12}"
        f"{refusals:>16}  {each.left_out_false_fits:>14}{each.left_out_false_refusals:>10}"
    )


def _reason_lines(report: AccuracyReport) -> Iterable[str]:
    if report.missing_columns:
        yield ""
        yield f"Columns that the file lacks: {', '.join(report.missing_columns)}."
    if report.not_judged:
        yield ""
        yield f"Rows not judged: {report.rows - report.judged}."
        for count in report.not_judged:
            yield f"{count.rows:>5}  {REASON_TEXTS[count.reason]}: {'; '.join(count.details)}"
