"""What an hour costs by model and number of GPUs on one server, as the market published it."""

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from django.db.models import F

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


def published_prices(currency: Currency) -> LivePrices:
    """Return the prices with their age. Two queries."""
    quotes = list(Quote.objects.filter(currency=currency.value).annotate(slug=F("gpu_model__slug")))
    prices = {
        (quote.slug, quote.gpus): quote.price_micro
        for quote in quotes
        if quote.price_micro is not None
    }
    offers = PublishedOffer.objects.filter(currency=currency.value).order_by("price_micro")
    for offer in offers.annotate(slug=F("gpu_model__slug")):
        for gpus in COUNTS:
            if _sells(offer, gpus):
                # Quotes are the best offer themselves; among offers the cheapest comes first.
                prices.setdefault((offer.slug, gpus), offer.price_micro)
    return LivePrices(prices, min((quote.as_of for quote in quotes), default=None))


def _sells(offer: PublishedOffer, gpus: int) -> bool:
    is_inside = offer.min_gpus <= gpus <= offer.max_gpus
    return is_inside and (gpus - offer.min_gpus) % offer.gpu_step == 0
