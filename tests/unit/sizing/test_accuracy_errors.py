"""Errors of estimates, summed up."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sizing.relative_errors import ErrorSummary, RowError, percentile, row_error, summed_up


def test_the_error_is_relative_to_what_was_measured() -> None:
    assert row_error(id="a", estimate=15, measured=20) == RowError(id="a", percent=-25.0)


def test_sums_up_sizes_and_keeps_the_sign_in_the_bias() -> None:
    errors = [RowError(id=str(percent), percent=percent) for percent in (-40, -10, -5, 5, 20)]

    found = summed_up(errors)
    assert found is not None
    assert found.p90_percent == pytest.approx(32)
    assert found == ErrorSummary(
        rows=5,
        median_percent=10,
        p90_percent=found.p90_percent,
        worst_percent=40,
        worst_id="-40",
        bias_percent=-5,
    )


def test_nothing_sums_up_to_nothing() -> None:
    assert summed_up([]) is None


@pytest.mark.parametrize(("percent", "expected"), [(0, 1), (50, 2.5), (90, 3.7), (100, 4)])
def test_percentiles_lie_between_the_closest_ranks(percent: int, expected: float) -> None:
    assert percentile([1, 2, 3, 4], percent=percent) == pytest.approx(expected)


@given(st.lists(st.floats(min_value=-100, max_value=1000), min_size=1))
def test_median_p90_and_worst_stand_in_order(percents: list[float]) -> None:
    summary = summed_up([RowError(id="", percent=percent) for percent in percents])

    assert summary is not None
    assert 0 <= summary.median_percent <= summary.p90_percent * (1 + 1e-9) + 1e-9
    assert summary.p90_percent <= summary.worst_percent * (1 + 1e-9) + 1e-9
