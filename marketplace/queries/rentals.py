"""What a customer's pages show of rentals: the list, and one rental hour by hour."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from django.db.models import QuerySet

from billing.money import Terms, hour_tally
from marketplace.models import Rental, RentalHour
from marketplace.rental_time import AUTOMATIC_END_AFTER, CUSTOMER_MAY_END_AFTER, hour_period


class HourState(StrEnum):
    """Where one hour of a rental stands."""

    HELD = "held"
    RUNNING = "running"
    DONE = "done"
    CREDITED = "credited"
    RELEASED = "released"


@dataclass(frozen=True, slots=True, kw_only=True)
class HourRow:
    """One hour with its money, in minor units of the customer's currency."""

    number: int
    starts_at: datetime
    ends_at: datetime
    state: HourState
    gross_minor: int
    credit_minor: int
    undelivered_minutes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Interruption:
    """Since when nothing is known of a rental's machine, and what follows when."""

    since: datetime
    may_end_at: datetime
    ends_itself_at: datetime
    customer_waits: bool


def interruption_of(rental: Rental) -> Interruption | None:
    """Return the interruption that a rental is in, if any."""
    gap = rental.gaps.filter(ends_at__isnull=True).first()
    if gap is None:
        return None
    return Interruption(
        since=gap.starts_at,
        may_end_at=gap.noticed_at + CUSTOMER_MAY_END_AFTER,
        ends_itself_at=min(gap.noticed_at + AUTOMATIC_END_AFTER, rental.ends_at),
        customer_waits=gap.customer_waits,
    )


def rentals_of(*, organisation_id: int) -> QuerySet[Rental]:
    """Return the organisation's rentals, newest first."""
    return (
        Rental.objects.filter(organisation_id=organisation_id)
        .select_related("fill__bid", "server__gpu_model")
        .order_by("-id")
    )


def live_rentals_of(*, organisation_id: int) -> QuerySet[Rental]:
    return rentals_of(organisation_id=organisation_id).filter(ended_at__isnull=True)


def hour_rows(*, rental: Rental, now: datetime) -> list[HourRow]:
    """Return every hour of the rental: the charged ones as charged, the others as they would be."""
    charged = {hour.number: hour for hour in rental.rental_hours.all()}
    return [
        _row(rental, number=number, hour=charged.get(number), now=now)
        for number in range(1, rental.fill.hours + 1)
    ]


def terms_of(rental: Rental) -> Terms:
    """Return what prices the rental's hours: copied to its fill and bid, never changed since."""
    fill = rental.fill
    return Terms(
        gpus=fill.gpus,
        customer_price_micro=fill.customer_price_micro,
        seller_price_micro=fill.seller_price_micro,
        vat_bps=fill.bid.vat_bps,
        fee_bps=fill.fee_bps,
    )


def _row(rental: Rental, *, number: int, hour: RentalHour | None, now: datetime) -> HourRow:
    period = hour_period(starts_at=rental.starts_at, number=number)
    planned = hour_tally(terms=terms_of(rental), number=number)
    gross = hour.net_minor + hour.vat_minor if hour else planned.gross_minor
    return HourRow(
        number=number,
        starts_at=period.starts_at,
        ends_at=period.ends_at,
        state=_state(rental, hour, ends_at=period.ends_at, now=now),
        gross_minor=gross,
        credit_minor=hour.credit_net_minor + hour.credit_vat_minor if hour else 0,
        undelivered_minutes=hour.undelivered_minutes if hour else 0,
    )


def _state(
    rental: Rental, hour: RentalHour | None, *, ends_at: datetime, now: datetime
) -> HourState:
    if hour is None:
        return HourState.RELEASED if rental.ended_at else HourState.HELD
    if hour.undelivered_minutes:
        return HourState.CREDITED
    return HourState.RUNNING if now < ends_at and rental.ended_at is None else HourState.DONE
