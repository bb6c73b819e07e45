"""Market data of the catalogue: no key needed, the same numbers as on the pages."""

from collections.abc import Sequence

from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import NotFound
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
from catalog.api.use_cases import FIRST, answer_schema, case_answer
from catalog.content.use_cases import use_case_keys
from catalog.queries import GpuRow, gpu_rows, listed_gpus, oldest_as_of
from catalog.use_cases.rows import case_rows, listed_rows

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
    """The cards of a use case with the columns of its page.

    Keys: fine-tuning, llm-training, llm-inference, image-video, rendering, scientific.
    """

    permission_classes = (AllowAny,)

    @extend_schema(parameters=[CurrencyQuery], responses=answer_schema())
    def get(self, request: Request, key: str) -> Response:
        if key not in use_case_keys():
            raise NotFound(f"No use case has this key. Known keys: {', '.join(use_case_keys())}.")
        currency = _currency(request)
        listed = listed_rows(currency=currency)
        cases = case_rows(key=key, rows=listed, currency=currency)
        answer = {"use_case": key} | _list_answer([case.row for case in cases], currency)
        if key != FIRST:
            answer |= case_answer(key=key, cases=cases, currency=currency)
        return Response(answer)


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
