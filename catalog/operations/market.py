"""Publish market data: the exchange tells the pages what was paid and what is on offer.

Every function replaces what it is given in a fixed order of rows, so that two writers cannot
deadlock, runs inside the caller's transaction, and may be repeated.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db import connection

from billing.money import Currency
from catalog.models import TradedHour

MAX_PUBLISHED_OFFERS = 10
# A history of ten years of hours in one model, written in parts that the database takes well.
ROWS_PER_STATEMENT = 2000

# One parameter holds all rows: many times faster than one for each value.
REPLACE_OFFERS = """
INSERT INTO catalog_publishedoffer (
    gpu_model_id, currency, rank, price_micro, min_gpus, max_gpus, gpu_step, starts_at, min_hours,
    max_hours, region, tier, included, is_verified_by_agent, as_of)
SELECT gpu_model_id, currency, rank, price_micro, min_gpus, max_gpus, gpu_step, starts_at,
    min_hours, max_hours, region, tier, included, is_verified_by_agent, %s
FROM jsonb_to_recordset(%s::jsonb) AS row (
    gpu_model_id bigint, currency text, rank int, price_micro bigint, min_gpus int, max_gpus int,
    gpu_step int, starts_at timestamptz, min_hours int, max_hours int, region text, tier text,
    included jsonb, is_verified_by_agent boolean)
ORDER BY gpu_model_id, currency, rank
ON CONFLICT (gpu_model_id, currency, rank) DO UPDATE SET
    price_micro = excluded.price_micro, min_gpus = excluded.min_gpus,
    max_gpus = excluded.max_gpus, gpu_step = excluded.gpu_step, starts_at = excluded.starts_at,
    min_hours = excluded.min_hours, max_hours = excluded.max_hours, region = excluded.region,
    tier = excluded.tier, included = excluded.included,
    is_verified_by_agent = excluded.is_verified_by_agent, as_of = excluded.as_of
"""
FORGET_OFFERS = """
DELETE FROM catalog_publishedoffer AS offer
USING jsonb_to_recordset(%s::jsonb) AS kept (gpu_model_id bigint, currency text, offers int)
WHERE offer.gpu_model_id = kept.gpu_model_id AND offer.currency = kept.currency
  AND offer.rank > kept.offers
"""
REPLACE_FIGURES = """
INSERT INTO catalog_marketfigures (
    gpu_model_id, currency, offers, offered_gpu_hours, sold_gpu_hours_24h, fills_24h,
    last_price_micro, last_fill_at, change_share, as_of)
SELECT gpu_model_id, currency, offers, offered_gpu_hours, sold_gpu_hours_24h, fills_24h,
    last_price_micro, last_fill_at, change_share, %s
FROM jsonb_to_recordset(%s::jsonb) AS row (
    gpu_model_id bigint, currency text, offers int, offered_gpu_hours int, sold_gpu_hours_24h int,
    fills_24h int, last_price_micro bigint, last_fill_at timestamptz, change_share numeric)
ORDER BY gpu_model_id, currency
ON CONFLICT (gpu_model_id, currency) DO UPDATE SET
    offers = excluded.offers, offered_gpu_hours = excluded.offered_gpu_hours,
    sold_gpu_hours_24h = excluded.sold_gpu_hours_24h, fills_24h = excluded.fills_24h,
    last_price_micro = excluded.last_price_micro, last_fill_at = excluded.last_fill_at,
    change_share = excluded.change_share, as_of = excluded.as_of
"""

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
        [TradedHour(**asdict(hour) | {"currency": hour.currency.value}) for hour in ordered],
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
    assert all(len(best) <= MAX_PUBLISHED_OFFERS for best in offers.values())
    rows = [
        {**_market(market), "rank": rank, **asdict(offer)}
        for market, best in offers.items()
        for rank, offer in enumerate(best, start=1)
    ]
    counts = [{**_market(market), "offers": len(best)} for market, best in offers.items()]
    with connection.cursor() as cursor:
        cursor.execute(REPLACE_OFFERS, [as_of, _json(rows)])
        cursor.execute(FORGET_OFFERS, [_json(counts)])


def publish_figures(*, figures: Iterable[FiguresToPublish], as_of: datetime) -> None:
    """Replace the published figures of these models and currencies."""
    with connection.cursor() as cursor:
        cursor.execute(REPLACE_FIGURES, [as_of, _json([asdict(one) for one in figures])])


def _market(market: Market) -> dict[str, int | str]:
    gpu_model_id, currency = market
    return {"gpu_model_id": gpu_model_id, "currency": currency.value}


def _json(rows: list[dict[str, Any]]) -> str:
    return json.dumps(rows, default=str)
