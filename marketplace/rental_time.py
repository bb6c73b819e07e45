"""When a rental's hours begin and what of them was delivered. Pure: standard library and the grid.

Periods are ``[from, to)``. An hour's undelivered time is the union of what is missing in it, whole
minutes only: fewer than two count as none, since a check a minute cannot tell them.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from marketplace.book.types import SLOT_MINUTES, SLOT_SECONDS

HOUR = timedelta(hours=1)
SLOT = timedelta(minutes=SLOT_MINUTES)

# A machine that is not ready so long after the paid start is not delivered.
READY_WITHIN = timedelta(minutes=15)
# Access opens at most this long before the paid start.
EARLY_ACCESS = SLOT
# A customer who just left a server gets no free minutes before the next paid start on it.
CHAIN_WINDOW = timedelta(hours=2)

# The heartbeat of a machine delivered by hand.
PROBE_INTERVAL = timedelta(seconds=60)
# How long a check under way may take, its answer's writing included: three times its time limit.
PROBE_LEASE = timedelta(seconds=15)
# One lost check proves nothing; two in a row are a stop.
MISSES_TO_STOP = 2
# Time without a check that may still lie between two good ones.
UNCHECKED_TAIL = MISSES_TO_STOP * PROBE_INTERVAL

CUSTOMER_MAY_END_AFTER = timedelta(minutes=15)
AUTOMATIC_END_AFTER = timedelta(minutes=60)

FEWEST_CREDITED_MINUTES = 2


@dataclass(frozen=True, slots=True)
class Period:
    """Time from ``starts_at`` to ``ends_at``, the end excluded."""

    starts_at: datetime
    ends_at: datetime


def hour_period(*, starts_at: datetime, number: int) -> Period:
    """Return the period of hour ``number`` (the first is 1) of a rental paid from ``starts_at``."""
    assert number >= 1
    return Period(starts_at + (number - 1) * HOUR, starts_at + number * HOUR)


def hours_begun(*, starts_at: datetime, hours: int, until: datetime) -> int:
    """Return how many paid hours have begun at ``until``; an hour begins with its first moment."""
    if until < starts_at:
        return 0
    return min(hours, (until - starts_at) // HOUR + 1)


def undelivered_minutes(*, hour: Period, missing: Iterable[Period]) -> int:
    """Return the whole minutes of ``hour`` inside ``missing``, in the customer's credit.

    Rounded down, in favour of the seller, by less than a minute an hour; below two minutes, none.
    """
    total = timedelta(0)
    counted_to = hour.starts_at
    for period in sorted(missing, key=lambda p: p.starts_at):
        begin = max(period.starts_at, counted_to)
        end = min(period.ends_at, hour.ends_at)
        if end > begin:
            total += end - begin
            counted_to = end
    minutes = total // timedelta(minutes=1)
    return minutes if minutes >= FEWEST_CREDITED_MINUTES else 0


def next_boundary(moment: datetime) -> datetime:
    """Return the first slot boundary at or after ``moment``: from there hours can be sold again."""
    seconds = moment.timestamp()
    slot = -(-seconds // SLOT_SECONDS)
    return datetime.fromtimestamp(slot * SLOT_SECONDS, tz=UTC)
