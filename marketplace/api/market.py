"""The market over the API: no key needed, the same numbers as on the pages."""

from datetime import UTC

from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import NotFound
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from billing.money import Currency
from catalog.api.serializers import CurrencyQuery, instant_text
from catalog.models import GpuModel
from catalog.queries import listed_gpus
from catalog.queries_market import by_day, market_rows, price_history, published_offers
from marketplace.accounts import clock
from marketplace.api.market_answers import (
    Answer,
    GpuMarketAnswer,
    MarketAnswer,
    RangeQuery,
    activity_answer,
    history_answer,
    offer_answer,
    row_answer,
    sale_answer,
)
from marketplace.forms.market import RANGES
from marketplace.queries.market import activity, last_sales

PRICE_BASIS = "per GPU and hour, excluding tax"
FILLS_SHOWN = 50
# Beyond two months of hours a row is a day of UTC, so that the answer stays small.
MAX_ROWS = 1_500


class Market(APIView):
    """Every listed GPU model: best offers, hours offered and sold, last price and its change."""

    permission_classes = (AllowAny,)

    @extend_schema(parameters=[CurrencyQuery], responses=MarketAnswer)
    def get(self, request: Request) -> Response:
        query = CurrencyQuery(data=request.query_params.dict())
        query.is_valid(raise_exception=True)
        currency = Currency(query.validated_data["currency"])
        rows = market_rows(gpus=listed_gpus(), currency=currency, now=clock.now())
        oldest = min((row.as_of for row in rows if row.as_of), default=None)
        return Response(
            {
                "currency": currency.value,
                "price_basis": PRICE_BASIS,
                "as_of": instant_text(oldest),
                "rows": [row_answer(row) for row in rows],
            }
        )


class GpuMarket(APIView):
    """One GPU model's market: figures, the ten best offers, the last sales, the prices paid.

    Every price stands with its time; a model that nobody offers has null, never a made-up price.
    """

    permission_classes = (AllowAny,)

    @extend_schema(
        operation_id="gpu_market_retrieve", parameters=[RangeQuery], responses=GpuMarketAnswer
    )
    def get(self, request: Request, slug: str) -> Response:
        query = RangeQuery(data=request.query_params.dict())
        query.is_valid(raise_exception=True)
        gpu = GpuModel.objects.filter(slug=slug).first()
        if gpu is None:
            raise NotFound("No GPU model has this slug. All of them: /api/v1/market/.")
        currency = Currency(query.validated_data["currency"])
        return Response(_answer(gpu, currency=currency, period=query.validated_data["range"]))


def _answer(gpu: GpuModel, *, currency: Currency, period: str) -> Answer:
    now = clock.now()
    (row,) = market_rows(gpus=[gpu], currency=currency, now=now)
    offers = published_offers(gpu=gpu, currency=currency) if gpu.is_listed else []
    sales = last_sales(gpu=gpu, currency=currency, most=FILLS_SHOWN)
    return {
        "currency": currency.value,
        "price_basis": PRICE_BASIS,
        **row_answer(row),
        "last_24h": activity_answer(activity(gpu=gpu, currency=currency, now=now)),
        "best_offers": [offer_answer(offer) for offer in offers],
        "last_fills": [sale_answer(sale) for sale in sales],
        "history": _history(gpu, currency=currency, period=period),
    }


def _history(gpu: GpuModel, *, currency: Currency, period: str) -> Answer:
    length = RANGES[period]
    since = None if length is None else clock.now() - length
    hours = price_history(gpu=gpu, currency=currency, since=since)
    is_by_day = len(hours) > MAX_ROWS
    shown = by_day(hours, zone=UTC) if is_by_day else hours
    return history_answer(shown, period=period, is_by_day=is_by_day)
