"""Settle each charged hour when it is over: give back what was not delivered of it."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import DurationField, Exists, ExpressionWrapper, F, OuterRef, Q, QuerySet

from billing.money import Tally, undelivered_share
from billing.operations.charges import HourCredit, credit_hours
from marketplace.locks import claim_rentals
from marketplace.models import DeliveryGap, Rental, RentalHour
from marketplace.operations.charging import SWEEP_RENTALS, in_batches
from marketplace.queries.delivered import is_hour_known, missing_periods
from marketplace.rental_time import HOUR, hour_period, undelivered_minutes


@dataclass(frozen=True, slots=True)
class Settlement:
    """An hour that is over, and what of it is given back."""

    rental: Rental
    hour: RentalHour
    minutes: int
    share: Tally

    @property
    def key(self) -> str:
        return f"credit:{self.rental.pk}:{self.hour.number}"


def settle_due_hours(*, now: datetime) -> int:
    """Settle every charged hour whose delivery is known to its end; return how many.

    Safe to repeat and to run twice at once. An hour whose end the site has not checked yet waits:
    a stop may still turn out to have begun before it.
    """
    due = _due_rentals(now)
    return in_batches(
        ids=list(due.order_by("pk").values_list("pk", flat=True)[:SWEEP_RENTALS]),
        act=lambda ids: _settle_batch(due=due, ids=ids, now=now),
        failure="Hours of a rental could not be settled.",
    )


def _due_rentals(now: datetime) -> QuerySet[Rental]:
    settled_time = ExpressionWrapper((F("hours_settled") + 1) * HOUR, output_field=DurationField())
    hour_end = F("starts_at") + settled_time
    open_gap = DeliveryGap.objects.filter(
        rental=OuterRef("pk"), ends_at__isnull=True, starts_at__lt=OuterRef("hour_end")
    )
    is_known = Q(last_verified_at__gte=F("hour_end")) | Exists(open_gap)
    return (
        Rental.objects.filter(hours_settled__lt=F("hours_charged"))
        .annotate(hour_end=hour_end)
        .filter(Q(ended_at__isnull=False) | (Q(hour_end__lte=now) & is_known))
    )


@transaction.atomic
def _settle_batch(*, due: QuerySet[Rental], ids: Collection[int], now: datetime) -> int:
    rentals = {rental.pk: rental for rental in claim_rentals(due=due, ids=ids)}
    settlements = list(_settlements(rentals, now=now))
    journals = credit_hours(credits=[_credit(s, now=now) for s in settlements if s.minutes])
    for settlement in settlements:
        hour = settlement.hour
        hour.undelivered_minutes = settlement.minutes
        hour.credit_net_minor = settlement.share.net_minor
        hour.credit_vat_minor = settlement.share.vat_minor
        hour.credit_seller_minor = settlement.share.seller_minor
        hour.credit_journal_id = journals.get(settlement.key)
        hour.settled_at = now
        settlement.rental.hours_settled = hour.number
    _write(settlements, rentals=list(rentals.values()))
    return len(settlements)


def _settlements(rentals: dict[int, Rental], *, now: datetime) -> Iterator[Settlement]:
    """Yield the hours that are over and known, in order, without a hole."""
    gaps: dict[int, list[DeliveryGap]] = {pk: [] for pk in rentals}
    for gap in DeliveryGap.objects.filter(rental__in=rentals).order_by("pk"):
        gaps[gap.rental_id].append(gap)
    waiting = RentalHour.objects.filter(rental__in=rentals, settled_at__isnull=True)
    held_up = set()
    for hour in waiting.order_by("rental_id", "number"):
        rental, rental_gaps = rentals[hour.rental_id], gaps[hour.rental_id]
        period = hour_period(starts_at=rental.starts_at, number=hour.number)
        is_over = rental.ended_at is not None or period.ends_at <= now
        if not is_over or not is_hour_known(rental=rental, number=hour.number, gaps=rental_gaps):
            held_up.add(rental.pk)
        if rental.pk in held_up:
            continue
        missing = missing_periods(rental=rental, gaps=rental_gaps)
        minutes = undelivered_minutes(hour=period, missing=missing)
        charged = Tally(hour.net_minor, hour.vat_minor, hour.seller_minor)
        yield Settlement(rental, hour, minutes, undelivered_share(hour=charged, minutes=minutes))


def _credit(settlement: Settlement, *, now: datetime) -> HourCredit:
    rental, fill = settlement.rental, settlement.rental.fill
    return HourCredit(
        key=settlement.key,
        organisation_id=rental.organisation_id,
        currency=fill.customer_currency,
        seller_id=fill.seller_id,
        vat_country=fill.bid.vat_country,
        tally=settlement.share,
        source_id=rental.pk,
        occurred_at=now,
    )


def _write(settlements: Sequence[Settlement], *, rentals: Sequence[Rental]) -> None:
    RentalHour.objects.bulk_update(
        [settlement.hour for settlement in settlements],
        [
            "undelivered_minutes",
            "credit_net_minor",
            "credit_vat_minor",
            "credit_seller_minor",
            "credit_journal",
            "settled_at",
        ],
    )
    Rental.objects.bulk_update(rentals, ["hours_settled"])
