"""Sweep rentals through their states, and end one at its customer's wish."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q

from billing.models import Journal
from billing.money import Tally, hour_tally, total_to, undelivered_share
from billing.operations.charges import HourCharge, charge_hours
from marketplace.accounts.operations.audit import record_act
from marketplace.early_end import NOTHING, end_early
from marketplace.locks import claim_rental, lock_rental
from marketplace.models import DeliveryGap, Rental
from marketplace.operations.charging import charge_rental
from marketplace.operations.deliveries import RentalNotFound
from marketplace.operations.transitions import advance, end_rental
from marketplace.queries.delivered import missing_if_ended
from marketplace.queries.rentals import terms_of
from marketplace.rental_time import (
    AUTOMATIC_END_AFTER,
    CUSTOMER_MAY_END_AFTER,
    EARLY_ACCESS,
    HOUR,
    READY_WITHIN,
    Period,
    hour_period,
    hours_begun,
    undelivered_minutes,
)

logger = logging.getLogger(__name__)

# What one sweep takes on, each in its own short transaction; the next sweep is seconds away.
SWEEP_RENTALS = 1_000

# A fill of hours that are still far away may be taken back for a short time.
FREE_STOP_WITHIN = timedelta(minutes=10)
FREE_STOP_NOTICE = HOUR
FREE_STOPS_A_DAY = 3
DAY = timedelta(hours=24)

STATE = Rental.State
REASON = Rental.EndReason


class RentalIsOver(Exception):
    """The rental ended before this wish to end it."""


class NotInterrupted(Exception):
    """There is nothing to wait for: the machine answers, or the rental is over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StopConsequence:
    """What ending a rental now means. Amounts in minor units of its customer's currency.

    ``due_hours`` counts every hour charged in full, those already charged included;
    ``charged_minor`` is what the end itself takes, ``freed_minor`` what becomes free, and
    ``credited_minor`` what the settlement of hours then gives back for undelivered minutes.
    """

    reason: Rental.EndReason
    due_hours: int
    released_hours: int
    fee: Tally
    charged_minor: int
    freed_minor: int
    credited_minor: int

    @property
    def is_free(self) -> bool:
        return self.charged_minor == 0

    @property
    def is_sellers_fault(self) -> bool:
        return self.reason in Rental.UNDELIVERED


def sweep_rentals(*, now: datetime) -> int:
    """Take every rental through the states that are due at ``now``; return how many moved.

    Safe to repeat and to run twice at once. A rental that fails holds up no other.
    """
    return sum(_advance_alone(rental_id, now=now) for rental_id in _due_ids(now))


@transaction.atomic
def stop_rental(
    *, rental_id: int, organisation_id: int, actor_id: int, now: datetime
) -> StopConsequence:
    """End a rental at its customer's wish, and return what that meant.

    Raises
    ------
    RentalNotFound
        No rental of this organisation.
    RentalIsOver
        It had ended; nothing changed.
    """
    rental = lock_rental(rental_id=rental_id)
    if rental is None or rental.organisation_id != organisation_id:
        raise RentalNotFound
    advance(rental=rental, now=now)
    if rental.ended_at is not None:
        raise RentalIsOver
    consequence = stop_consequence(rental=rental, now=now)
    if consequence.reason == REASON.STOPPED_BY_CUSTOMER:
        charge_rental(rental=rental, up_to_hour=consequence.due_hours, now=now)
        _charge_fee(rental, fee=consequence.fee, now=now)
    end_rental(rental=rental, reason=consequence.reason, now=now, actor_id=actor_id)
    return consequence


@transaction.atomic
def keep_waiting(*, rental_id: int, organisation_id: int, actor_id: int, now: datetime) -> None:
    """Keep an interrupted rental: it no longer ends by itself before its time is over.

    The customer may still end it. Holds for this interruption alone; safe to repeat.

    Raises
    ------
    RentalNotFound
        No rental of this organisation.
    NotInterrupted
        The machine answers, or the rental is over.
    """
    rental = lock_rental(rental_id=rental_id)
    if rental is None or rental.organisation_id != organisation_id:
        raise RentalNotFound
    advance(rental=rental, now=now)
    gaps = DeliveryGap.objects.filter(rental=rental, ends_at__isnull=True)
    if not gaps.update(customer_waits=True):
        raise NotInterrupted
    record_act(
        actor_id=actor_id,
        organisation_id=organisation_id,
        action="rental.wait",
        object_type="rental",
        object_id=rental.pk,
        now=now,
    )


def stop_consequence(*, rental: Rental, now: datetime) -> StopConsequence:
    """Return what ending this rental at ``now`` would mean; changes nothing."""
    reason = _fault_of_seller(rental, now=now)
    if reason is not None:
        due_hours, fee = _begun_hours(rental, now), NOTHING
    elif _may_take_back(rental, now=now):
        reason, due_hours, fee = REASON.STOPPED_BY_CUSTOMER, 0, NOTHING
    else:
        reason = REASON.STOPPED_BY_CUSTOMER
        ending = end_early(
            terms=terms_of(rental),
            hours=rental.fill.hours,
            begun_hours=_due_hours(rental, now),
            min_hours=rental.fill.min_hours,
            break_fee_bps=settings.BREAK_FEE_BPS,
        )
        due_hours, fee = ending.due_hours, ending.fee
    return _consequence(rental, reason=reason, due_hours=due_hours, fee=fee, now=now)


def _due_ids(now: datetime) -> list[int]:
    """Return the rentals that time may move, in the order in which their set-ups begin.

    That order is what lets every sold GPU find a number: see `bookings.bind_gpus`.
    """
    long_gap = DeliveryGap.objects.filter(
        rental=OuterRef("pk"),
        ends_at__isnull=True,
        noticed_at__lte=now - AUTOMATIC_END_AFTER,
        customer_waits=False,
    )
    may_move = (
        Q(state=STATE.SOLD, setup_starts_at__lte=now)
        | Q(state=STATE.PREPARING, starts_at__lte=now - READY_WITHIN)
        | Q(state=STATE.READY, access_opened_at__isnull=True, starts_at__lte=now + EARLY_ACCESS)
        | Q(state=STATE.READY, starts_at__lte=now)
        | Q(ends_at__lte=now)
        | (Q(state=STATE.INTERRUPTED) & Exists(long_gap))
    )
    live = Rental.objects.filter(may_move, ended_at__isnull=True)
    ids = live.order_by("setup_starts_at", "pk").values_list("pk", flat=True)
    return list(ids[:SWEEP_RENTALS])


def _advance_alone(rental_id: int, *, now: datetime) -> bool:
    try:
        with transaction.atomic():
            rental = claim_rental(rental_id=rental_id)
            return rental is not None and advance(rental=rental, now=now)
    # The edge of the sweep: whatever went wrong, the other rentals are due.
    except Exception:
        logger.exception("A rental could not be advanced.", extra={"rental_id": rental_id})
        return False


def _fault_of_seller(rental: Rental, *, now: datetime) -> Rental.EndReason | None:
    """Return why the customer may leave without a fee: a late or long interrupted machine."""
    if rental.ready_at is None and now >= rental.starts_at:
        return REASON.NOT_DELIVERED
    long_gap = DeliveryGap.objects.filter(
        rental=rental, ends_at__isnull=True, noticed_at__lte=now - CUSTOMER_MAY_END_AFTER
    )
    return REASON.SELLER_FAILURE if long_gap.exists() else None


def _may_take_back(rental: Rental, *, now: datetime) -> bool:
    filled_at = rental.fill.occurred_at
    is_early = now <= filled_at + FREE_STOP_WITHIN and rental.access_opened_at is None
    if not is_early or rental.starts_at <= filled_at + FREE_STOP_NOTICE:
        return False
    taken_back = Rental.objects.filter(
        organisation=rental.organisation_id,
        end_reason=REASON.STOPPED_BY_CUSTOMER,
        hours_charged=0,
        break_fee_net_minor=0,
        ended_at__gt=now - DAY,
        ended_at__lte=F("fill__occurred_at") + FREE_STOP_WITHIN,
    )
    return taken_back.count() < FREE_STOPS_A_DAY


def _begun_hours(rental: Rental, now: datetime) -> int:
    if rental.access_opened_at is None:
        return 0
    return hours_begun(starts_at=rental.starts_at, hours=rental.fill.hours, until=now)


def _due_hours(rental: Rental, now: datetime) -> int:
    """Return the hours that the customer has begun: the first from the opening of access."""
    return max(_begun_hours(rental, now), 0 if rental.access_opened_at is None else 1)


def _consequence(
    rental: Rental, *, reason: Rental.EndReason, due_hours: int, fee: Tally, now: datetime
) -> StopConsequence:
    terms, hours = terms_of(rental), rental.fill.hours
    due = total_to(terms=terms, hours=due_hours)
    before = total_to(terms=terms, hours=rental.hours_charged)
    full = total_to(terms=terms, hours=hours)
    missing = missing_if_ended(rental=rental, reason=reason, ended_at=now)
    return StopConsequence(
        reason=reason,
        due_hours=due_hours,
        released_hours=hours - due_hours,
        fee=fee,
        charged_minor=due.gross_minor - before.gross_minor + fee.gross_minor,
        freed_minor=full.gross_minor - due.gross_minor - fee.gross_minor,
        credited_minor=sum(
            _credit_minor(rental, number=number, missing=missing)
            for number in range(rental.hours_settled + 1, due_hours + 1)
        ),
    )


def _credit_minor(rental: Rental, *, number: int, missing: Sequence[Period]) -> int:
    period = hour_period(starts_at=rental.starts_at, number=number)
    minutes = undelivered_minutes(hour=period, missing=missing)
    tally = hour_tally(terms=terms_of(rental), number=number)
    return undelivered_share(hour=tally, minutes=minutes).gross_minor


def _charge_fee(rental: Rental, *, fee: Tally, now: datetime) -> None:
    if fee == NOTHING:
        return
    charge = HourCharge(
        key=f"breakfee:{rental.pk}",
        kind=Journal.Kind.BREAK_FEE,
        hold_purpose=rental.fill.bid.hold_purpose,
        seller_id=rental.fill.seller_id,
        vat_country=rental.fill.bid.vat_country,
        tally=fee,
        source_id=rental.pk,
        occurred_at=now,
    )
    charge_hours(charges=[charge])
    rental.break_fee_net_minor = fee.net_minor
    rental.break_fee_vat_minor = fee.vat_minor
    rental.break_fee_seller_minor = fee.seller_minor
