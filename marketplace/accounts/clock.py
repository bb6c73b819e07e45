"""The one source of time: the database's clock plus the offset of demo and tests.

Views, tasks and commands ask it once and pass the answer down as ``now``.
"""

from datetime import UTC, datetime, timedelta

from django.conf import settings
from django.db import connection

from marketplace.accounts.models import ClockOffset


class ClockIsReal(Exception):
    """The clock can be moved in demo and tests only."""


def now() -> datetime:
    """Return the current time, aware, in UTC.

    The time of the statement, not of the transaction: a long batch must not run in the past.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT clock_timestamp() + coalesce("
            "(SELECT offset_seconds FROM accounts_clockoffset WHERE id = 1), 0) * interval '1 s'"
        )
        (moment,) = cursor.fetchone()
    assert isinstance(moment, datetime)
    return moment.astimezone(UTC)


def set_offset(*, offset_seconds: int) -> None:
    """Set the distance between our time and the database's.

    Raises
    ------
    ClockIsReal
        Elsewhere than in demo and tests.
    """
    if not settings.IS_DEMO:
        raise ClockIsReal
    ClockOffset.objects.update_or_create(id=1, defaults={"offset_seconds": offset_seconds})


def advance(*, by: timedelta) -> None:
    """Move the clock forward.

    Raises
    ------
    ClockIsReal
        Elsewhere than in demo and tests.
    """
    assert by > timedelta(0), "time never goes back"
    row = ClockOffset.objects.filter(id=1).first()
    current = row.offset_seconds if row else 0
    set_offset(offset_seconds=current + int(by.total_seconds()))
