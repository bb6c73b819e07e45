"""Charge each paid hour when it begins.

A charge is a journal of the ledger and a row of the rental, written together; both are unique per
rental and hour. Hours that began while nobody swept are charged one by one when somebody does.
"""

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime

from django.db import transaction
from django.db.models import (
    Count,
    DurationField,
    ExpressionWrapper,
    F,
    OuterRef,
    QuerySet,
    Subquery,
)
from django.db.models.functions import Coalesce

from billing.money import hour_tally
from billing.operations.charges import HourCharge, charge_hours
from marketplace.locks import claim_rentals
from marketplace.models import Rental, RentalHour
from marketplace.queries.rentals import terms_of
from marketplace.rental_time import HOUR, hour_period, hours_begun

logger = logging.getLogger(__name__)

# One transaction of well under a second, during which its customers' wallets are locked.
BATCH_RENTALS = 500
# What one sweep takes on; the next sweep, seconds later, takes the rest.
SWEEP_RENTALS = 10_000


def charge_due_hours(*, now: datetime) -> int:
    """Charge every hour that has begun by ``now`` and whose access was opened; return how many.

    Safe to repeat and to run twice at once: rentals that somebody works on are left to him.
    """
    due = _due_rentals(now)
    return in_batches(
        ids=list(due.order_by("pk").values_list("pk", flat=True)[:SWEEP_RENTALS]),
        act=lambda ids: _charge_batch(due=due, ids=ids, now=now),
        failure="Hours of a rental could not be charged.",
    )


def charge_rental(*, rental: Rental, up_to_hour: int, now: datetime) -> None:
    """Charge a locked rental's hours to ``up_to_hour``, in the caller's transaction."""
    numbers = range(rental.hours_charged + 1, up_to_hour + 1)
    _write_hours({rental: numbers}, now=now)
    rental.hours_charged = max(rental.hours_charged, up_to_hour)


def in_batches(*, ids: Sequence[int], act: Callable[[Sequence[int]], int], failure: str) -> int:
    """Run ``act`` on batches of ids and add its answers up.

    A batch that fails is done again one by one, so that one bad rental holds up no other.
    """
    done = 0
    for start in range(0, len(ids), BATCH_RENTALS):
        batch = ids[start : start + BATCH_RENTALS]
        try:
            done += act(batch)
        # The edge of the sweep: whatever went wrong, the other rentals are due.
        except Exception:
            done += sum(_alone(rental_id, act=act, failure=failure) for rental_id in batch)
    return done


def _alone(rental_id: int, *, act: Callable[[Sequence[int]], int], failure: str) -> int:
    try:
        return act([rental_id])
    # As above.
    except Exception:
        logger.exception(failure, extra={"rental_id": rental_id})
        return 0


def _due_rentals(now: datetime) -> QuerySet[Rental]:
    charged_time = ExpressionWrapper(F("hours_charged") * HOUR, output_field=DurationField())
    return Rental.objects.filter(
        ended_at__isnull=True,
        access_opened_at__isnull=False,
        hours_charged__lt=F("fill__hours"),
        starts_at__lte=now - charged_time,
    )


@transaction.atomic
def _charge_batch(*, due: QuerySet[Rental], ids: Collection[int], now: datetime) -> int:
    hours = {
        rental: range(
            rental.hours_charged + 1,
            hours_begun(starts_at=rental.starts_at, hours=rental.fill.hours, until=now) + 1,
        )
        for rental in claim_rentals(due=due, ids=ids)
    }
    return _write_hours(hours, now=now)


def _write_hours(hours: Mapping[Rental, range], *, now: datetime) -> int:
    charges = {
        (rental, number): _hour_charge(rental, number, now=now)
        for rental, numbers in hours.items()
        for number in numbers
    }
    if not charges:
        return 0
    journals = charge_hours(charges=list(charges.values()))
    RentalHour.objects.bulk_create(
        RentalHour(
            rental=rental,
            number=number,
            starts_at=hour_period(starts_at=rental.starts_at, number=number).starts_at,
            net_minor=charge.tally.net_minor,
            vat_minor=charge.tally.vat_minor,
            seller_minor=charge.tally.seller_minor,
            journal_id=journals[charge.key],
        )
        for (rental, number), charge in charges.items()
    )
    _count_hours([rental.pk for rental in hours])
    return len(charges)


def _hour_charge(rental: Rental, number: int, *, now: datetime) -> HourCharge:
    return HourCharge(
        key=f"charge:{rental.pk}:{number}",
        hold_purpose=rental.fill.bid.hold_purpose,
        seller_id=rental.fill.seller_id,
        vat_country=rental.fill.bid.vat_country,
        tally=hour_tally(terms=terms_of(rental), number=number),
        source_id=rental.pk,
        occurred_at=now,
    )


def _count_hours(rental_ids: Collection[int]) -> None:
    """Bring ``hours_charged`` to what the rows say."""
    rows = RentalHour.objects.filter(rental=OuterRef("pk")).order_by()
    counted = rows.values("rental").annotate(count=Count("pk")).values("count")
    Rental.objects.filter(pk__in=rental_ids).update(hours_charged=Coalesce(Subquery(counted), 0))
