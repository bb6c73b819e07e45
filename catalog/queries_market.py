"""What pages read of the published market: history, best offers, and the day of every model."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta, tzinfo
from decimal import ROUND_HALF_UP, Decimal
from itertools import groupby

from billing.money import Currency
from catalog.models import GpuModel, MarketFigures, PublishedOffer, Quote, TradedHour
from catalog.queries import EIGHT_GPUS, ONE_GPU

TREND_LENGTH = timedelta(hours=24)
# Beyond this a picture shows days: hours would be narrower than a pixel.
LONGEST_BY_HOUR = timedelta(days=8)
# Ten years of hours: no page and no answer of the API grows beyond it.
MAX_HISTORY_HOURS = 87_660


@dataclass(frozen=True, slots=True, kw_only=True)
class MarketRow:
    """A model in one currency: its quotes, its day, and what was paid by hour in that day.

    ``trend`` holds the average price of each hour with a trade, in order; hours without a trade
    are left out.
    """

    gpu: GpuModel
    one: Quote | None
    eight: Quote | None
    figures: MarketFigures | None
    trend: tuple[int, ...]

    @property
    def price_micro(self) -> int | None:
        """The best offer for one GPU, None when nothing can be bought now."""
        return self.one.price_micro if self.one else None

    @property
    def eight_price_micro(self) -> int | None:
        """The best offer for eight GPUs on one server, None when there is none now."""
        return self.eight.price_micro if self.eight else None

    @property
    def is_offered(self) -> bool:
        """Say whether anything of this model can be bought now, in any size."""
        return bool(self.price_micro or self.eight_price_micro) or bool(
            self.figures and self.figures.offers
        )

    @property
    def as_of(self) -> datetime | None:
        return self.one.as_of if self.one else None


def price_history(
    *, gpu: GpuModel, currency: Currency, since: datetime | None = None
) -> list[TradedHour]:
    """Return the hours with a trade from ``since`` on, all without it, oldest first. One query."""
    hours = TradedHour.objects.filter(gpu_model=gpu, currency=currency.value)
    if since is not None:
        hours = hours.filter(hour_starts_at__gte=since)
    newest = hours.order_by("-hour_starts_at")[:MAX_HISTORY_HOURS]
    return list(reversed(newest))


def is_by_day(hours: Sequence[TradedHour]) -> bool:
    """Say whether a picture of these hours, oldest first, shows days."""
    return bool(hours) and hours[-1].hour_starts_at - hours[0].hour_starts_at > LONGEST_BY_HOUR


def by_day(hours: Iterable[TradedHour], *, zone: tzinfo) -> list[TradedHour]:
    """Return one row for each day of ``zone`` with a trade, not saved, weighed by GPU-hours.

    ``hours`` come oldest first; the last price is that of the day's last hour.
    """
    days = groupby(hours, key=lambda hour: hour.hour_starts_at.astimezone(zone).date())
    return [
        _day(list(of_day), starts_at=datetime.combine(day, time(), zone)) for day, of_day in days
    ]


def published_offers(*, gpu: GpuModel, currency: Currency) -> list[PublishedOffer]:
    """Return the best buyable offers of a model, best first, at most ten. One query."""
    offers = PublishedOffer.objects.filter(gpu_model=gpu, currency=currency.value)
    return list(offers.order_by("rank"))


def market_rows(*, gpus: Iterable[GpuModel], currency: Currency, now: datetime) -> list[MarketRow]:
    """Return the rows of ``gpus`` in their order, in one currency. Three queries."""
    models = list(gpus)
    quotes = {
        (quote.gpu_model_id, quote.gpus): quote
        for quote in Quote.objects.filter(gpu_model__in=models, currency=currency.value)
    }
    figures = {
        one.gpu_model_id: one
        for one in MarketFigures.objects.filter(gpu_model__in=models, currency=currency.value)
    }
    trends = _trends(models, currency=currency, now=now)
    return [
        MarketRow(
            gpu=gpu,
            one=quotes.get((gpu.pk, ONE_GPU)),
            eight=quotes.get((gpu.pk, EIGHT_GPUS)),
            figures=figures.get(gpu.pk),
            trend=tuple(trends.get(gpu.pk, ())),
        )
        for gpu in models
    ]


def _day(hours: list[TradedHour], *, starts_at: datetime) -> TradedHour:
    gpu_hours = sum(hour.gpu_hours for hour in hours)
    value_micro = sum(hour.average_price_micro * hour.gpu_hours for hour in hours)
    average = (Decimal(value_micro) / gpu_hours).quantize(Decimal(1), ROUND_HALF_UP)
    return TradedHour(
        gpu_model_id=hours[-1].gpu_model_id,
        currency=hours[-1].currency,
        hour_starts_at=starts_at,
        average_price_micro=int(average),
        last_price_micro=hours[-1].last_price_micro,
        gpu_hours=gpu_hours,
        fills=sum(hour.fills for hour in hours),
    )


def _trends(
    models: Iterable[GpuModel], *, currency: Currency, now: datetime
) -> Mapping[int, list[int]]:
    hours = TradedHour.objects.filter(
        gpu_model__in=models, currency=currency.value, hour_starts_at__gt=now - TREND_LENGTH
    ).order_by("hour_starts_at")
    trends: dict[int, list[int]] = {}
    for gpu_model_id, average_micro in hours.values_list("gpu_model_id", "average_price_micro"):
        trends.setdefault(gpu_model_id, []).append(average_micro)
    return trends
