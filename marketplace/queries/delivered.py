"""What of a rental's paid time was not delivered, or is not known yet."""

from collections.abc import Iterable
from copy import copy
from datetime import datetime

from marketplace.models import DeliveryGap, Rental
from marketplace.rental_time import Period, hour_period

# Who ends a rental so has bought the running hour, used or not.
ENDS_AT_CUSTOMERS_COST = frozenset(
    {Rental.EndReason.STOPPED_BY_CUSTOMER, Rental.EndReason.BALANCE, Rental.EndReason.ABUSE}
)


def missing_periods(*, rental: Rental, gaps: Iterable[DeliveryGap]) -> list[Period]:
    """Return what the customer did not get, or the site could not verify.

    An open gap lasts to the rental's end: what of it lies in the past is certain.
    """
    missing = [
        Period(gap.starts_at, gap.ends_at or rental.ends_at)
        for gap in gaps
        if gap.cause != DeliveryGap.Cause.WORKLOAD
    ]
    if rental.access_opened_at is not None:
        missing.append(Period(rental.starts_at, rental.access_opened_at))
    if rental.ended_at is not None and rental.end_reason not in ENDS_AT_CUSTOMERS_COST:
        missing.append(Period(rental.ended_at, rental.ends_at))
    return missing


def missing_if_ended(
    *, rental: Rental, reason: Rental.EndReason, ended_at: datetime
) -> list[Period]:
    """Return what would be missing of a rental that ended so; changes nothing."""
    gaps = list(rental.gaps.order_by("pk"))
    for gap in gaps:
        gap.ends_at = gap.ends_at or ended_at
    ended = copy(rental)
    ended.ended_at, ended.end_reason = min(ended_at, rental.ends_at), reason
    return missing_periods(rental=ended, gaps=gaps)


def is_hour_known(*, rental: Rental, number: int, gaps: Iterable[DeliveryGap]) -> bool:
    """Say whether nothing that will be learnt can change what was delivered of an hour.

    True when the machine was seen after the hour's end, when a stop was known to last beyond it,
    or when the rental is over.
    """
    if rental.ended_at is not None:
        return True
    end = hour_period(starts_at=rental.starts_at, number=number).ends_at
    if rental.last_verified_at is not None and rental.last_verified_at >= end:
        return True
    return any(gap.ends_at is None and gap.starts_at < end for gap in gaps)
