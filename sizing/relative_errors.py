"""Relative errors of estimates against measurements, summed up.

The error of one row is estimate / measured - 1. Sums use its size without the sign; the bias is
the median with the sign, below zero where estimates are too small. Percentiles interpolate between
the closest ranks.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

HIGH_PERCENTILE: Final = 90


@dataclass(frozen=True, slots=True, kw_only=True)
class RowError:
    """The error of one row, in percent of the measured value."""

    id: str
    percent: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorSummary:
    """Errors of a group of rows, in percent of what was measured."""

    rows: int
    median_percent: float
    p90_percent: float
    worst_percent: float
    worst_id: str
    bias_percent: float


def row_error(*, id: str, estimate: float, measured: float) -> RowError:  # noqa: A002 - the column's name
    assert measured > 0
    return RowError(id=id, percent=100 * (estimate / measured - 1))


def summed_up(errors: Sequence[RowError]) -> ErrorSummary | None:
    """Return the summary of a group; None of an empty one."""
    if not errors:
        return None
    sizes = sorted(abs(error.percent) for error in errors)
    worst = max(errors, key=lambda error: abs(error.percent))
    return ErrorSummary(
        rows=len(errors),
        median_percent=percentile(sizes, percent=50),
        p90_percent=percentile(sizes, percent=HIGH_PERCENTILE),
        worst_percent=abs(worst.percent),
        worst_id=worst.id,
        bias_percent=percentile(sorted(error.percent for error in errors), percent=50),
    )


def percentile(ascending: Sequence[float], *, percent: int) -> float:
    """Return a percentile of values in ascending order, between the closest ranks."""
    assert ascending
    position = (len(ascending) - 1) * percent / 100
    below = int(position)
    above = min(below + 1, len(ascending) - 1)
    return ascending[below] + (ascending[above] - ascending[below]) * (position - below)
