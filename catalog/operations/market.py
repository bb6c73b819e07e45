"""Publish market data: the exchange tells the pages what was paid and what is on offer.

Every function replaces what it is given in a fixed order of rows, so that two writers cannot
deadlock, runs inside the caller's transaction, and may be repeated.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db import connection

from billing.money import Currency
from catalog.models import MarketFigures, PublishedOffer, TradedHour

MAX_PUBLISHED_OFFERS = 10
# A history of ten years of hours in one model, written in parts that the database takes well.
ROWS_PER_STATEMENT = 2000

FORGET_OFFERS = """
DELETE FROM catalog_publishedoffer AS offer
USING unnest(%s::bigint[], %s::text[], %s::int[]) AS kept (gpu_model_id, currency, offers)
WHERE offer.gpu_model_id = kept.gpu_model_id AND offer.currency = kept.currency
  AND offer.rank > kept.offers
"""

FIGURES = (
    "offers",
    "offered_gpu_hours",
    "sold_gpu_hours_24h",
    "fills_24h",
    "last_price_micro",
    "last_fill_at",
    "change_share",
)

Market = tuple[int, Currency]


@dataclass(frozen=True, slots=True, kw_only=True)
class HourToPublish:
    """What was paid for a model in a currency in one hour; at least one fill."""

    gpu_model_id: int
    currency: Currency
    hour_starts_at: datetime
    average_price_micro: int
    last_price_micro: int
    gpu_hours: int
    fills: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferToPublish:
    """A buyable offer without its seller: see `catalog.models.PublishedOffer`."""

    price_micro: int
    min_gpus: int
    max_gpus: int
    gpu_step: int
    starts_at: datetime
    min_hours: int
    max_hours: int
    region: str
    tier: str
    included: Mapping[str, int | bool]
    is_verified_by_agent: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class FiguresToPublish:
    """A model's day in one currency: see `catalog.models.MarketFigures`."""

    gpu_model_id: int
    currency: Currency
    offers: int
    offered_gpu_hours: int
    sold_gpu_hours_24h: int
    fills_24h: int
    last_price_micro: int | None
    last_fill_at: datetime | None
    change_share: Decimal | None


def publish_hours(*, hours: Iterable[HourToPublish]) -> None:
    """Replace the published figures of these hours."""
    ordered = sorted(hours, key=lambda h: (h.gpu_model_id, h.currency.value, h.hour_starts_at))
    TradedHour.objects.bulk_create(
        [TradedHour(**_columns(hour)) for hour in ordered],
        batch_size=ROWS_PER_STATEMENT,
        update_conflicts=True,
        unique_fields=["gpu_model", "currency", "hour_starts_at"],
        update_fields=["average_price_micro", "last_price_micro", "gpu_hours", "fills"],
    )


def forget_hours() -> None:
    """Remove every published hour, for a history that is written anew."""
    TradedHour.objects.all().delete()


def publish_offers(*, offers: Mapping[Market, Sequence[OfferToPublish]], as_of: datetime) -> None:
    """Replace the published offers of these markets, best first; an empty list removes them."""
    markets = sorted(offers, key=_market_order)
    assert all(len(offers[market]) <= MAX_PUBLISHED_OFFERS for market in markets)
    PublishedOffer.objects.bulk_create(
        [
            PublishedOffer(
                gpu_model_id=market[0],
                currency=market[1].value,
                rank=rank,
                as_of=as_of,
                **asdict(offer),
            )
            for market in markets
            for rank, offer in enumerate(offers[market], start=1)
        ],
        batch_size=ROWS_PER_STATEMENT,
        update_conflicts=True,
        unique_fields=["gpu_model", "currency", "rank"],
        update_fields=[*OfferToPublish.__slots__, "as_of"],
    )
    _forget_offers(markets, counts=[len(offers[market]) for market in markets])


def publish_figures(*, figures: Collection[FiguresToPublish], as_of: datetime) -> None:
    """Replace the published figures of these models and currencies."""
    MarketFigures.objects.bulk_create(
        [
            MarketFigures(as_of=as_of, **_columns(one))
            for one in sorted(figures, key=lambda f: _market_order((f.gpu_model_id, f.currency)))
        ],
        update_conflicts=True,
        unique_fields=["gpu_model", "currency"],
        update_fields=[*FIGURES, "as_of"],
    )


def _columns(row: HourToPublish | FiguresToPublish) -> dict[str, Any]:
    return asdict(row) | {"currency": row.currency.value}


def _forget_offers(markets: Sequence[Market], *, counts: list[int]) -> None:
    models = [gpu_model_id for gpu_model_id, _ in markets]
    currencies = [currency.value for _, currency in markets]
    with connection.cursor() as cursor:
        cursor.execute(FORGET_OFFERS, [models, currencies, counts])


def _market_order(market: Market) -> tuple[int, str]:
    return market[0], market[1].value
