"""The shapes of the market's answers: decimals as strings, the unit in each name, nobody named."""

from collections.abc import Iterable
from typing import Any

from rest_framework import serializers

from catalog.api.serializers import CurrencyQuery, instant_text, price_text
from catalog.models import PublishedOffer, TradedHour
from catalog.queries_market import MarketRow
from marketplace.forms.market import DEFAULT_RANGE, RANGES
from marketplace.queries.market import Activity, Sale

Answer = dict[str, Any]
Schema = serializers.Serializer[Answer]


class RangeQuery(CurrencyQuery):
    """The query of a model's market: a currency, and how far back its history goes."""

    range = serializers.ChoiceField(choices=list(RANGES), default=DEFAULT_RANGE)


class QuoteAnswer(Schema):
    """The lowest price at which one hour can be bought now; null when there is no offer."""

    price_per_gpu_hour = serializers.CharField(allow_null=True)
    starts_at = serializers.DateTimeField(allow_null=True)


class MarketRowAnswer(Schema):
    """A model's best offers and its day in one currency; null where there is nothing yet."""

    card = serializers.CharField()
    slug = serializers.SlugField()
    best_offer_1_gpu = QuoteAnswer()
    best_offer_8_gpus = QuoteAnswer()
    offers = serializers.IntegerField(allow_null=True)
    offered_gpu_hours_next_24h = serializers.IntegerField(allow_null=True)
    sold_gpu_hours_24h = serializers.IntegerField(allow_null=True)
    fills_24h = serializers.IntegerField(allow_null=True)
    last_price_per_gpu_hour = serializers.CharField(allow_null=True)
    last_fill_at = serializers.DateTimeField(allow_null=True)
    change_24h_share = serializers.CharField(
        allow_null=True,
        help_text="0.021 is up by 2.1 percent against the last price of a day before",
    )
    as_of = serializers.DateTimeField(allow_null=True)


class MarketAnswer(Schema):
    """Every listed model's market."""

    currency = serializers.CharField()
    price_basis = serializers.CharField()
    as_of = serializers.DateTimeField(allow_null=True)
    rows = MarketRowAnswer(many=True)


class IncludedAnswer(Schema):
    """What the server brings, as its listing states; a figure that is not stated is left out."""

    disk_gb_per_gpu = serializers.IntegerField(required=False)
    ram_gb = serializers.IntegerField(required=False, help_text="of the whole server")
    vcpus = serializers.IntegerField(required=False, help_text="of the whole server")
    has_nvlink = serializers.BooleanField()


class OfferAnswer(Schema):
    """One of the ten cheapest offers that can be bought now, from its own next start."""

    price_per_gpu_hour = serializers.CharField()
    min_gpus = serializers.IntegerField()
    max_gpus = serializers.IntegerField()
    gpu_step = serializers.IntegerField()
    min_hours = serializers.IntegerField()
    max_hours = serializers.IntegerField()
    starts_at = serializers.DateTimeField()
    region = serializers.CharField()
    tier = serializers.CharField()
    included = IncludedAnswer()
    is_verified_by_agent = serializers.BooleanField()


class FillAnswer(Schema):
    """A sale."""

    matched_at = serializers.DateTimeField()
    price_per_gpu_hour = serializers.CharField()
    gpus = serializers.IntegerField()
    hours = serializers.IntegerField()
    starts_at = serializers.DateTimeField()


class HourAnswer(Schema):
    """What was paid in one hour, or in one day of UTC; an hour without a sale is left out."""

    starts_at = serializers.DateTimeField()
    average_price_per_gpu_hour = serializers.CharField()
    last_price_per_gpu_hour = serializers.CharField()
    gpu_hours = serializers.IntegerField()
    fills = serializers.IntegerField()


class HistoryAnswer(Schema):
    """The prices paid, oldest first; ``period`` says whether a row is an hour or a day."""

    range = serializers.ChoiceField(choices=list(RANGES))
    period = serializers.ChoiceField(choices=["hour", "day"])
    rows = HourAnswer(many=True)


class ActivityAnswer(Schema):
    """What was sold in the last 24 hours and among how many; too few are no index."""

    average_price_per_gpu_hour = serializers.CharField(allow_null=True)
    gpu_hours = serializers.IntegerField()
    fills = serializers.IntegerField()
    sellers = serializers.IntegerField()
    customers = serializers.IntegerField()
    is_thin = serializers.BooleanField()


class GpuMarketAnswer(MarketRowAnswer):
    """One model's market: figures, best offers, last sales, prices paid."""

    currency = serializers.CharField()
    price_basis = serializers.CharField()
    last_24h = ActivityAnswer()
    best_offers = OfferAnswer(many=True)
    last_fills = FillAnswer(many=True)
    history = HistoryAnswer()


def row_answer(row: MarketRow) -> Answer:
    figures = row.figures
    change = figures.change_share if figures else None
    return {
        "card": row.gpu.name,
        "slug": row.gpu.slug,
        "best_offer_1_gpu": {
            "price_per_gpu_hour": price_text(row.price_micro),
            "starts_at": instant_text(row.one.starts_at if row.one else None),
        },
        "best_offer_8_gpus": {
            "price_per_gpu_hour": price_text(row.eight_price_micro),
            "starts_at": instant_text(row.eight.starts_at if row.eight else None),
        },
        "offers": figures.offers if figures else None,
        "offered_gpu_hours_next_24h": figures.offered_gpu_hours if figures else None,
        "sold_gpu_hours_24h": figures.sold_gpu_hours_24h if figures else None,
        "fills_24h": figures.fills_24h if figures else None,
        "last_price_per_gpu_hour": price_text(figures.last_price_micro if figures else None),
        "last_fill_at": instant_text(figures.last_fill_at if figures else None),
        "change_24h_share": None if change is None else str(change),
        "as_of": instant_text(row.as_of),
    }


def offer_answer(offer: PublishedOffer) -> Answer:
    return {
        "price_per_gpu_hour": price_text(offer.price_micro),
        "min_gpus": offer.min_gpus,
        "max_gpus": offer.max_gpus,
        "gpu_step": offer.gpu_step,
        "min_hours": offer.min_hours,
        "max_hours": offer.max_hours,
        "starts_at": instant_text(offer.starts_at),
        "region": offer.region,
        "tier": offer.tier,
        "included": offer.included,
        "is_verified_by_agent": offer.is_verified_by_agent,
    }


def sale_answer(sale: Sale) -> Answer:
    return {
        "matched_at": instant_text(sale.matched_at),
        "price_per_gpu_hour": price_text(sale.price_micro),
        "gpus": sale.gpus,
        "hours": sale.hours,
        "starts_at": instant_text(sale.starts_at),
    }


def activity_answer(activity: Activity) -> Answer:
    return {
        "average_price_per_gpu_hour": price_text(activity.average_micro),
        "gpu_hours": activity.gpu_hours,
        "fills": activity.fills,
        "sellers": activity.sellers,
        "customers": activity.customers,
        "is_thin": activity.is_thin,
    }


def history_answer(hours: Iterable[TradedHour], *, period: str, is_by_day: bool) -> Answer:
    return {
        "range": period,
        "period": "day" if is_by_day else "hour",
        "rows": [
            {
                "starts_at": instant_text(hour.hour_starts_at),
                "average_price_per_gpu_hour": price_text(hour.average_price_micro),
                "last_price_per_gpu_hour": price_text(hour.last_price_micro),
                "gpu_hours": hour.gpu_hours,
                "fills": hour.fills,
            }
            for hour in hours
        ],
    }
