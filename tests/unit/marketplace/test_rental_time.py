"""Hours, undelivered minutes and slot boundaries."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from marketplace.rental_time import (
    HOUR,
    Period,
    hour_period,
    hours_begun,
    next_boundary,
    undelivered_minutes,
)

P = datetime(2026, 11, 2, 9, 0, tzinfo=UTC)
FIRST = Period(P, P + HOUR)


def minutes(start: float, end: float) -> Period:
    return Period(P + timedelta(minutes=start), P + timedelta(minutes=end))


class TestHoursBegun:
    def test_counts_an_hour_from_its_first_moment(self):
        assert hours_begun(starts_at=P, hours=3, until=P) == 1

    def test_counts_none_before_the_paid_start(self):
        assert hours_begun(starts_at=P, hours=3, until=P - timedelta(microseconds=1)) == 0

    def test_counts_each_hour_once_the_clock_passed_it(self):
        begun = [
            hours_begun(starts_at=P, hours=3, until=P + timedelta(minutes=m))
            for m in (59, 60, 119, 120, 179, 180, 500)
        ]
        assert begun == [1, 2, 2, 3, 3, 3, 3]

    def test_agrees_with_the_hours_periods(self):
        assert hour_period(starts_at=P, number=3) == minutes(120, 180)


class TestUndeliveredMinutes:
    def test_are_none_when_nothing_is_missing(self):
        assert undelivered_minutes(hour=FIRST, missing=[]) == 0

    def test_count_whole_minutes_only(self):
        assert undelivered_minutes(hour=FIRST, missing=[minutes(10, 22.9)]) == 12

    def test_are_none_below_two(self):
        assert undelivered_minutes(hour=FIRST, missing=[minutes(10, 11.99)]) == 0
        assert undelivered_minutes(hour=FIRST, missing=[minutes(10, 12)]) == 2

    def test_add_short_gaps_up_before_rounding(self):
        missing = [minutes(10, 11.5), minutes(30, 31.5)]
        assert undelivered_minutes(hour=FIRST, missing=missing) == 3

    def test_count_only_what_lies_inside_the_hour(self):
        missing = [minutes(-30, 5), minutes(55, 90)]
        assert undelivered_minutes(hour=FIRST, missing=missing) == 10

    def test_count_overlapping_periods_once(self):
        missing = [minutes(0, 20), minutes(10, 15), minutes(15, 30)]
        assert undelivered_minutes(hour=FIRST, missing=missing) == 30

    @given(
        st.lists(
            st.tuples(st.integers(-60, 120), st.integers(0, 90)).map(
                lambda p: minutes(p[0], p[0] + p[1])
            ),
            max_size=6,
        )
    )
    def test_never_exceed_the_hour_and_agree_with_a_count_minute_by_minute(self, missing):
        lost = sum(
            any(p.starts_at <= P + timedelta(minutes=m) < p.ends_at for p in missing)
            for m in range(60)
        )
        assert undelivered_minutes(hour=FIRST, missing=missing) == (lost if lost >= 2 else 0)


class TestNextBoundary:
    def test_is_the_moment_itself_on_the_grid(self):
        assert next_boundary(P) == P

    def test_is_the_end_of_the_running_slot(self):
        assert next_boundary(P + timedelta(microseconds=1)) == P + timedelta(minutes=15)
        assert next_boundary(P + timedelta(minutes=14, seconds=59)) == P + timedelta(minutes=15)
