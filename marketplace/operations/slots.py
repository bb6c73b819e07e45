"""Translate between times and the book's grid of slots."""

from datetime import UTC, datetime

from marketplace.book.types import SLOT_SECONDS, seconds_of, slot_of


def seconds_at(moment: datetime) -> int:
    """Return the whole Unix seconds of a time; the fraction is dropped."""
    return int(moment.timestamp())


def slot_at(moment: datetime) -> int:
    """Return the slot that is running at this time."""
    return slot_of(seconds_at(moment))


def time_of(slot: int) -> datetime:
    """Return the time at which a slot begins."""
    return datetime.fromtimestamp(seconds_of(slot), tz=UTC)


def is_on_grid(moment: datetime) -> bool:
    """Say whether a slot begins exactly at this time."""
    return moment.microsecond == 0 and seconds_at(moment) % SLOT_SECONDS == 0
