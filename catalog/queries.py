"""What the catalogue's pages and API read: models, their capacity, and published prices."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from billing.money import Currency
from catalog.models import GpuModel, Quote
from sizing.capacity import Capacity, indicative_capacity

ONE_GPU = 1
EIGHT_GPUS = 8
# Prices are published again at least every slot of 15 minutes; twice that means trouble.
STALE_AFTER = timedelta(minutes=30)


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuRow:
    """A GPU model with its indicative capacity and its price for one GPU and one hour."""

    gpu: GpuModel
    capacity: Capacity
    price_micro: int | None
    starts_at: datetime | None
    as_of: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrencyQuotes:
    """A model's published prices in one currency: one GPU, and eight on one server."""

    currency: Currency
    one: Quote | None
    eight: Quote | None


def listed_gpus() -> list[GpuModel]:
    """Return every listed model, smallest memory first."""
    return list(
        GpuModel.objects.filter(is_listed=True).order_by("memory_gb", "bandwidth_gb_per_s", "slug")
    )


def gpu_rows(*, gpus: Iterable[GpuModel], currency: Currency) -> list[GpuRow]:
    """Return the rows of ``gpus`` in their order, priced in ``currency``. One query."""
    models = list(gpus)
    quotes = {
        quote.gpu_model_id: quote
        for quote in Quote.objects.filter(
            gpu_model__in=models, currency=currency.value, gpus=ONE_GPU
        )
    }
    return [_row(gpu, quotes.get(gpu.pk)) for gpu in models]


def quotes_by_currency(*, gpu: GpuModel) -> list[CurrencyQuotes]:
    """Return the published prices of a model in every currency. One query."""
    quotes = {(quote.currency, quote.gpus): quote for quote in Quote.objects.filter(gpu_model=gpu)}
    return [
        CurrencyQuotes(
            currency=currency,
            one=quotes.get((currency.value, ONE_GPU)),
            eight=quotes.get((currency.value, EIGHT_GPUS)),
        )
        for currency in Currency
    ]


def oldest_as_of(rows: Iterable[GpuRow]) -> datetime | None:
    """Return the age that holds for all prices shown: the oldest one's."""
    return min((row.as_of for row in rows if row.as_of is not None), default=None)


def cheapest(rows: Iterable[GpuRow]) -> GpuRow | None:
    """Return the row with the lowest price; at equal price, the first."""
    priced = [row for row in rows if row.price_micro is not None]
    return min(priced, key=lambda row: row.price_micro or 0, default=None)


def _row(gpu: GpuModel, quote: Quote | None) -> GpuRow:
    return GpuRow(
        gpu=gpu,
        capacity=indicative_capacity(slug=gpu.slug, memory_gb=gpu.memory_gb),
        price_micro=quote.price_micro if quote else None,
        starts_at=quote.starts_at if quote else None,
        as_of=quote.as_of if quote else None,
    )
