"""The picture of prices paid over time: one point an hour, or one a day over long periods."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, tzinfo
from decimal import ROUND_HALF_UP, Decimal
from itertools import groupby, pairwise
from typing import Protocol

from config.pictures.axis import BOX, Axis, around

HOUR = timedelta(hours=1)
# Beyond this a point is a day: hours would be narrower than a pixel, and their table endless.
LONGEST_BY_HOUR = timedelta(days=8)
# The line of prices stays above the bars of volume.
MARGIN_BELOW_PERCENT, MARGIN_ABOVE_PERCENT = 50, 8
# A price that never moved is a line, not a point at the edge.
LEAST_SPAN_MICRO = 40_000
# Volumes take the lowest quarter of the box.
VOLUME_HEIGHT = BOX // 4
BAR_SHARE_PERCENT = 80
MOST_LABELS = 5
# A label further right would run out of the picture.
LAST_LABEL_PLACE = BOX * 9 // 10
# Up to so long the time axis names hours.
LONGEST_LABELLED_BY_HOUR = timedelta(days=2)


class PricedHour(Protocol):
    """What was sold within one hour of trade."""

    @property
    def hour_starts_at(self) -> datetime: ...
    @property
    def average_price_micro(self) -> int: ...
    @property
    def gpu_hours(self) -> int | Decimal: ...


@dataclass(frozen=True, slots=True)
class Point:
    """The average price within a period [starts_at, ends_at), weighted by what was sold."""

    starts_at: datetime
    ends_at: datetime
    price_micro: int
    gpu_hours: int | Decimal


@dataclass(frozen=True, slots=True)
class History:
    """Points in order of time, at least one; a period without a sale has none."""

    points: tuple[Point, ...]
    is_by_day: bool

    @property
    def times(self) -> Axis:
        return Axis(_seconds(self.points[0].starts_at), _seconds(self.points[-1].ends_at))

    @property
    def prices(self) -> Axis:
        return around(
            (point.price_micro for point in self.points),
            below_percent=MARGIN_BELOW_PERCENT,
            above_percent=MARGIN_ABOVE_PERCENT,
            at_least=LEAST_SPAN_MICRO,
        )

    @property
    def periods_without_sale(self) -> int:
        """Return how many hours (or days) lie between the points without one."""
        length = timedelta(days=1) if self.is_by_day else HOUR
        # Days of 23 and 25 hours count as one.
        return sum(
            round((after.starts_at - before.ends_at) / length)
            for before, after in pairwise(self.points)
        )

    def line(self) -> str:
        """Return the path of the prices; it breaks where nothing was sold."""
        times, prices = self.times, self.prices
        parts, before = [], None
        for point in self.points:
            sign = "L" if before is not None and before.ends_at == point.starts_at else "M"
            middle = (_seconds(point.starts_at) + _seconds(point.ends_at)) // 2
            parts.append(f"{sign}{times.place(middle)} {prices.height(point.price_micro)}")
            before = point
        return "".join(parts)

    def lone_points(self) -> str:
        """Return short strokes, drawn as dots, for points without a neighbour, which a line cannot show."""
        times, prices = self.times, self.prices
        ends = {point.ends_at for point in self.points}
        starts = {point.starts_at for point in self.points}
        return "".join(
            f"M{times.place((_seconds(p.starts_at) + _seconds(p.ends_at)) // 2)} "
            f"{prices.height(p.price_micro)}h1"
            for p in self.points
            if p.starts_at not in ends and p.ends_at not in starts
        )

    def volumes(self) -> str:
        """Return bars of the GPU-hours sold, at the bottom of the box."""
        times = self.times
        most = max(point.gpu_hours for point in self.points)
        parts = []
        for point in self.points:
            left, right = (
                times.place(_seconds(point.starts_at)),
                times.place(_seconds(point.ends_at)),
            )
            width = max((right - left) * BAR_SHARE_PERCENT // 100, 1)
            height = int(VOLUME_HEIGHT * point.gpu_hours / most) if most else 0
            parts.append(f"M{left} {BOX}v-{height}h{width}V{BOX}z")
        return "".join(parts)

    def time_labels(self, *, zone: tzinfo) -> list[datetime]:
        """Return a few full hours, or midnights over a longer time, evenly apart."""
        low, high = self.points[0].starts_at, self.points[-1].ends_at
        if self.is_labelled_by_hour:
            # Every hour of trade starts on a full one.
            starts = [low + HOUR * number for number in range((high - low) // HOUR)]
        else:
            days = range((high - low) // timedelta(days=1) + 2)
            midnights = (
                datetime.combine(low.astimezone(zone).date() + timedelta(days=day), time(), zone)
                for day in days
            )
            starts = [start for start in midnights if low <= start < high]
        step = -(-len(starts) // MOST_LABELS)
        return [start for start in starts[:: max(step, 1)] if self._has_room_for(start)]

    def _has_room_for(self, start: datetime) -> bool:
        """Say whether a label that begins there ends within the picture."""
        return self.times.place(_seconds(start)) <= LAST_LABEL_PLACE

    @property
    def is_labelled_by_hour(self) -> bool:
        length = self.points[-1].ends_at - self.points[0].starts_at
        return not self.is_by_day and length <= LONGEST_LABELLED_BY_HOUR


def history_of(hours: Iterable[PricedHour], *, zone: tzinfo) -> History | None:
    """Return the history of ``hours``, in any order; None when nothing was sold."""
    ordered = sorted(hours, key=lambda hour: hour.hour_starts_at)
    if not ordered:
        return None
    is_by_day = ordered[-1].hour_starts_at - ordered[0].hour_starts_at > LONGEST_BY_HOUR
    points = _days(ordered, zone) if is_by_day else [_hour_point(hour) for hour in ordered]
    return History(tuple(points), is_by_day)


def _hour_point(hour: PricedHour) -> Point:
    start = hour.hour_starts_at
    return Point(start, start + HOUR, hour.average_price_micro, hour.gpu_hours)


def _days(ordered: Sequence[PricedHour], zone: tzinfo) -> list[Point]:
    days = groupby(ordered, key=lambda hour: hour.hour_starts_at.astimezone(zone).date())
    return [_day_point(day, list(hours), zone) for day, hours in days]


def _day_point(day: date, hours: list[PricedHour], zone: tzinfo) -> Point:
    gpu_hours = sum((Decimal(hour.gpu_hours) for hour in hours), Decimal(0))
    paid = sum((hour.average_price_micro * Decimal(hour.gpu_hours) for hour in hours), Decimal(0))
    # Half-up, for show only: nobody pays an average.
    price = int((paid / gpu_hours).quantize(Decimal(1), ROUND_HALF_UP))
    start, end = (datetime.combine(d, time(), zone) for d in (day, day + timedelta(days=1)))
    return Point(start, end, price, gpu_hours)


def _seconds(moment: datetime) -> int:
    return int(moment.timestamp())
