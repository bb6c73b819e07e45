"""What the market's pages and API read of the fills themselves: the last ones, and who was there.

Nobody is named: sellers and customers are only counted.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal

from django.db.models import Count, F, Sum

from billing.money import Currency
from catalog.models import GpuModel, TradedHour
from marketplace.models import Command, Fill, MarketState

DAY = timedelta(hours=24)
# Below any of these an average is one of few sales and no index: see the market's rule.
LEAST_FILLS, LEAST_SELLERS, LEAST_CUSTOMERS = 5, 3, 3
# Enough for any spreadsheet, and little enough to be sent at once.
MAX_FILLS = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Sale:
    """A fill as everybody may see it: when, at what price, how much, and when it is paid from."""

    matched_at: datetime
    price_micro: int
    gpus: int
    hours: int
    starts_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Activity:
    """What was sold in 24 hours, and among how many; the average weighs prices by GPU-hours."""

    fills: int
    gpu_hours: int
    sellers: int
    customers: int
    average_micro: int | None

    @property
    def is_thin(self) -> bool:
        """Say whether too few traded for an index."""
        return (
            self.fills < LEAST_FILLS
            or self.sellers < LEAST_SELLERS
            or self.customers < LEAST_CUSTOMERS
        )


def last_sales(*, gpu: GpuModel, currency: Currency, most: int) -> list[Sale]:
    """Return a model's last fills in a currency, newest first. At most two queries.

    The published hours say from when on there are enough of them, so that the fills of other
    models are not walked through.
    """
    assert most <= MAX_FILLS
    traded = TradedHour.objects.filter(gpu_model=gpu, currency=currency.value)
    hours = list(traded.order_by("-hour_starts_at").values_list("hour_starts_at", flat=True)[:most])
    if not hours:
        return []
    fills = Fill.objects.filter(
        offer__gpu_model=gpu, customer_currency=currency.value, occurred_at__gte=hours[-1]
    ).order_by("-occurred_at", "-id")
    rows = fills.values_list("occurred_at", "customer_price_micro", "gpus", "hours", "starts_at")
    return [
        Sale(
            matched_at=matched_at,
            price_micro=price_micro,
            gpus=gpus,
            hours=hours_sold,
            starts_at=starts_at,
        )
        for matched_at, price_micro, gpus, hours_sold, starts_at in rows[:most]
    ]


def activity(*, gpu: GpuModel, currency: Currency, now: datetime) -> Activity:
    """Return what was sold of a model in a currency in the 24 hours before ``now``. One query."""
    size = F("gpus") * F("hours")
    found = Fill.objects.filter(
        offer__gpu_model=gpu,
        customer_currency=currency.value,
        occurred_at__gt=now - DAY,
        occurred_at__lte=now,
    ).aggregate(
        fills=Count("pk"),
        gpu_hours=Sum(size),
        value_micro=Sum(F("customer_price_micro") * size),
        sellers=Count("seller", distinct=True),
        customers=Count("bid__organisation", distinct=True),
    )
    gpu_hours = found["gpu_hours"] or 0
    average = Decimal(found["value_micro"]) / gpu_hours if gpu_hours else None
    return Activity(
        fills=found["fills"],
        gpu_hours=gpu_hours,
        sellers=found["sellers"],
        customers=found["customers"],
        average_micro=int(average.quantize(Decimal(1), ROUND_HALF_UP)) if average else None,
    )


def halted_model_ids() -> frozenset[int]:
    """Return the models whose own book is not open, whatever the whole market's state. One query."""
    closed = MarketState.objects.exclude(state=MarketState.State.OPEN)
    models = closed.exclude(gpu_model=None).values_list("gpu_model_id", flat=True)
    return frozenset(models)


def first_opening() -> datetime | None:
    """Return when the market first opened, from the exchange's log; None while it has not."""
    openings = Command.objects.filter(
        kind=Command.Kind.SET_MARKET_STATE,
        sequence__isnull=False,
        payload__state=MarketState.State.OPEN.value,
    ).order_by("sequence")
    return openings.values_list("numbered_at", flat=True).first()
