"""How often one organisation, person or server may do a thing: counters in the cache.

A window opens with the first act and lasts as long as its limit says; the act after the last
allowed one is refused until the window closes. Adding is atomic, so acts of one moment are all
counted. A repeat with the same idempotency key is the same act and is not counted again. When the
cache is away nothing is refused: orders have their own bounds in the database.
"""

import time
from dataclasses import dataclass
from enum import StrEnum, unique
from hashlib import sha256

from django.conf import settings
from django.core.cache import cache
from redis.exceptions import RedisError

MINUTE = 60
HOUR = 60 * MINUTE
DAY = 24 * HOUR


@unique
class Limit(StrEnum):
    """What is counted."""

    ORDER = "order"
    CANCEL = "cancel"
    PREVIEW = "preview"
    OFFER = "offer"
    HAND_OVER = "hand_over"
    INVITATION = "invitation"
    TOP_UP = "top_up"
    CONTACT = "contact"
    EXPORT = "export"
    MEMORY_TEST = "memory_test"


@dataclass(frozen=True, slots=True)
class Rate:
    """So many times in so many seconds."""

    times: int
    seconds: int


# The first four are the market's published rules. The others keep the site from being made a
# machine that looks at strangers' ports, writes mails to them, opens payment pages, packs
# archives or reads files all day.
RATES: dict[Limit, tuple[Rate, ...]] = {
    Limit.ORDER: (Rate(30, MINUTE),),
    Limit.CANCEL: (Rate(60, MINUTE),),
    Limit.PREVIEW: (Rate(60, MINUTE),),
    Limit.OFFER: (Rate(1, MINUTE), Rate(60, DAY)),
    Limit.HAND_OVER: (Rate(30, HOUR),),
    Limit.INVITATION: (Rate(30, HOUR),),
    Limit.TOP_UP: (Rate(30, HOUR),),
    Limit.CONTACT: (Rate(5, HOUR),),
    Limit.EXPORT: (Rate(5, DAY),),
    Limit.MEMORY_TEST: (Rate(30, HOUR),),
}


class TooOften(Exception):
    """The act would be one more than its limit allows; nothing was done."""

    def __init__(self, limit: Limit, retry_seconds: int) -> None:
        super().__init__(limit, retry_seconds)
        self.limit = limit
        self.retry_seconds = retry_seconds


def count_act(*, limit: Limit, who: int, key: str = "") -> None:
    """Count one act of ``who``: the number of the organisation, person or server that the limit is for.

    Raises
    ------
    TooOften
        The limit is reached; says in how many seconds the act may be tried again.
    """
    if not settings.RATE_LIMITS_ARE_ON:
        return
    # Real time, not the market's: a demo's clock that jumps must not open every window.
    now_seconds = int(time.time())
    try:
        waits = [_wait(limit, rate, who=who, key=key, now=now_seconds) for rate in RATES[limit]]
    except RedisError:
        return
    if any(waits):
        raise TooOften(limit, max(waits))


def _wait(limit: Limit, rate: Rate, *, who: int, key: str, now: int) -> int:
    """Count in one window; return the seconds until it closes when it is full, else 0."""
    name = f"rate:{limit}:{rate.seconds}:{who}"
    if key and not cache.add(f"{name}:{sha256(key.encode()).hexdigest()}", 1, rate.seconds):
        return 0
    cache.add(f"{name}:from", now, rate.seconds)
    opened = cache.get(f"{name}:from", now)
    counter = f"{name}:{opened}"
    # Kept longer than its window, so that it cannot vanish between these two lines.
    cache.add(counter, 0, 2 * rate.seconds)
    return 0 if cache.incr(counter) <= rate.times else max(1, opened + rate.seconds - now)
