"""The report on accuracy as plain values, for JSON."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any

from sizing.accuracy.constants_dates import constants_fitted_on
from sizing.accuracy.report import TARGETS, AccuracyReport, Comparison, Group, VerdictCount, meets
from sizing.measurements import READ_ON, REASON_TEXTS, own_measurements, source_name
from sizing.relative_errors import ErrorSummary

DECIMALS = 2


@cache
def stored_report_object() -> Mapping[str, Any]:
    """Return the report on our own table as it was stored: fitting anew takes seconds.

    A test holds it equal to the computed one.
    """
    text = files("sizing.tables").joinpath("accuracy.json").read_text(encoding="utf-8")
    return MappingProxyType(json.loads(text))


def heading_object(name: str) -> dict[str, Any]:
    """Return what the report is about: the rows judged, and how old our own figures are."""
    own = own_measurements()
    return {
        "data": name,
        "own_table": {"rows": own.rows, "read_on": READ_ON.isoformat()},
        "constants_fitted_on": {
            part: fitted_on.isoformat() for part, fitted_on in constants_fitted_on().items()
        },
    }


def report_object(report: AccuracyReport) -> dict[str, Any]:
    """Return the report as an object; errors in percent, rounded half-even to two decimals."""
    return {
        "rows": report.rows,
        "judged": report.judged,
        "missing_columns": list(report.missing_columns),
        "groups": [_group(group) for group in report.groups],
        "rivals": [_comparison(comparison) for comparison in report.comparisons],
        "verdicts": {
            "margin_percent": report.margin_percent,
            "kinds": [_verdicts(count) for count in report.verdicts],
        },
        "not_judged": [
            {
                "reason": count.reason.value,
                "text": REASON_TEXTS[count.reason],
                "rows": count.rows,
                "details": list(count.details),
            }
            for count in report.not_judged
        ],
    }


def _group(group: Group) -> dict[str, Any]:
    target = TARGETS.get(group.kind) if group.method is None else None
    return {
        "task": group.kind.task,
        "kind": group.kind.name.lower(),
        "method": group.method,
        "source": group.source,
        "source_name": None if group.source is None else source_name(group.source),
        "rows": group.in_sample.rows,
        "in_sample": _errors(group.in_sample),
        "left_out": _errors(group.left_out),
        "target": None if target is None else target._asdict(),
        "target_met": meets(group),
    }


def _comparison(comparison: Comparison) -> dict[str, Any]:
    return {
        "rule": comparison.rival.key,
        "name": comparison.rival.name,
        "published_at": comparison.rival.source,
        "method": comparison.method,
        "rows": comparison.rival_errors.rows,
        "errors": _errors(comparison.rival_errors),
        "engine": _errors(comparison.engine_errors),
    }


def _verdicts(count: VerdictCount) -> dict[str, Any]:
    fields = asdict(count)
    return fields | {
        "kind": count.kind.name.lower(),
        "false_refusals_percent": round(count.false_refusals_percent, DECIMALS),
    }


def _errors(errors: ErrorSummary) -> dict[str, Any]:
    return {
        name: round(value, DECIMALS) if isinstance(value, float) else value
        for name, value in asdict(errors).items()
        if name != "rows"
    }
