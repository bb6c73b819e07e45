"""What an hour costs by model and number of GPUs on one server, as the market published it."""

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from django.db.models import F, Min

from billing.money import Currency
from catalog.models import PublishedOffer, Quote

# The numbers of GPUs that jobs are placed on.
COUNTS = (1, 2, 4, 8)


class LivePrices(NamedTuple):
    """Prices per GPU and hour by slug and number of GPUs; ``as_of`` is the oldest one's age."""

    prices: Mapping[tuple[str, int], int]
    as_of: datetime | None


def live_prices(currency: Currency) -> Mapping[tuple[str, int], int]:
    """Return the price per GPU and hour, in micro-units, by slug and number of GPUs. Two queries.

    The number of GPUs can be bought on one server at that price; what nobody offers now is absent.
    """
    return published_prices(currency).prices


def prices_as_of(currency: Currency) -> datetime | None:
    """Return the age that holds for all prices of a currency: the oldest one's. One query."""
    found = Quote.objects.filter(currency=currency.value).aggregate(oldest=Min("as_of"))
    oldest: datetime | None = found["oldest"]
    return oldest


def published_prices(currency: Currency) -> LivePrices:
    """Return the prices with their age. Two queries."""
    quotes = list(Quote.objects.filter(currency=currency.value).annotate(slug=F("gpu_model__slug")))
    quoted = {
        (quote.slug, quote.gpus): quote.price_micro
        for quote in quotes
        if quote.price_micro is not None
    }
    as_of = min((quote.as_of for quote in quotes), default=None)
    return LivePrices(with_offers(quoted, currency=currency), as_of)


def with_offers(
    quoted: Mapping[tuple[str, int], int], *, currency: Currency
) -> Mapping[tuple[str, int], int]:
    """Return known quotes and the prices of the sizes between them. One query.

    Quotes are the best offer themselves; of the other sizes the cheapest offer comes first.
    """
    prices = dict(quoted)
    offers = PublishedOffer.objects.filter(currency=currency.value).order_by("price_micro")
    for offer in offers.annotate(slug=F("gpu_model__slug")):
        for gpus in COUNTS:
            if _sells(offer, gpus):
                prices.setdefault((offer.slug, gpus), offer.price_micro)
    return prices


def _sells(offer: PublishedOffer, gpus: int) -> bool:
    is_inside = offer.min_gpus <= gpus <= offer.max_gpus
    return is_inside and (gpus - offer.min_gpus) % offer.gpu_step == 0
