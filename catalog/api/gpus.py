"""Market data of the catalogue: no key needed, the same numbers as on the pages."""

from collections.abc import Sequence

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from billing.money import Currency
from catalog.api.serializers import (
    CurrencyQuery,
    GpuListAnswer,
    instant_text,
    row_answer,
)
from catalog.content.use_cases import cards_of, use_case_keys
from catalog.queries import GpuRow, gpu_rows, listed_gpus, oldest_as_of, use_case_rows

PRICE_BASIS = "best open offer for 1 GPU and 1 hour, excluding tax"


class Gpus(APIView):
    """Every listed GPU model with its indicative capacity and best offer."""

    permission_classes = (AllowAny,)

    @extend_schema(parameters=[CurrencyQuery], responses=GpuListAnswer)
    def get(self, request: Request) -> Response:
        currency = _currency(request)
        rows = gpu_rows(gpus=listed_gpus(), currency=currency)
        return Response(_list_answer(rows, currency))


class UseCase(APIView):
    """The cards of a use case, as on its page."""

    permission_classes = (AllowAny,)

    @extend_schema(parameters=[CurrencyQuery], responses=GpuListAnswer)
    def get(self, request: Request, key: str) -> Response:
        if key not in use_case_keys():
            raise Http404
        currency = _currency(request)
        rows = use_case_rows(slugs=cards_of(key), currency=currency)
        return Response({"use_case": key} | _list_answer(rows, currency))


def _currency(request: Request) -> Currency:
    query = CurrencyQuery(data=request.query_params.dict())
    query.is_valid(raise_exception=True)
    return Currency(query.validated_data["currency"])


def _list_answer(rows: Sequence[GpuRow], currency: Currency) -> dict[str, object]:
    return {
        "currency": currency.value,
        "price_basis": PRICE_BASIS,
        "as_of": instant_text(oldest_as_of(rows)),
        "rows": [row_answer(row, currency) for row in rows],
    }
