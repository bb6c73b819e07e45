"""The sizing engine over the API: the commands of the same names, no key needed.

A job is told in the address, or as JSON, in the same fields; a refusal names the field, a stable
key of what is wrong, and says in the caller's language what to try.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework.exceptions import ValidationError
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from billing.money import Currency
from catalog.api.json_bodies import StrictJSONParser
from catalog.api.serializers import instant_text
from catalog.api.sizing_schema import (
    CARD,
    CURRENCY,
    GPUS_TO_TRY,
    TOP,
    SizingProblem,
    job_body,
    job_parameters,
)
from catalog.calculator.words import assumption_text
from catalog.forms import DEFAULT_CURRENCY
from catalog.queries import listed_gpus
from catalog.queries_prices import live_prices, prices_as_of
from catalog.sizing_words import plain_problem_text
from sizing.accuracy.plain import heading_object, stored_report_object
from sizing.bounds import InputError
from sizing.capacity import indicative_capacity
from sizing.cards import Card, all_cards
from sizing.plain.answers import (
    capacity_object,
    estimate_object,
    fit_object,
    ranked_object,
    whole_fit_object,
)
from sizing.plain.benchmarked import (
    benchmarked_task,
    costs_object,
    memory_object,
    verdicts_object,
)
from sizing.plain.jobs import job_from, work_tokens_from
from sizing.plain.places import cards_from, counts_from, gpus_from, job_to_place
from sizing.plain.values import is_given, read_whole, unknown_choice
from sizing.planning.ranking import rank
from sizing.planning.work import Work

PRICE_BASIS = "best offer now for so many GPUs on one server, per GPU and hour, excluding tax"
# Some milliseconds each.
MOST_WHOLE_CARDS = 8
OWN_DATA = "tables/measured.csv"
Values = Mapping[str, object]

_REFUSED = {400: SizingProblem}
_ANSWERED = {200: OpenApiTypes.OBJECT} | _REFUSED


class SizingView(APIView):
    """What the sizing addresses share: who may ask, how a job is read, how it is refused."""

    permission_classes = (AllowAny,)
    parser_classes = (StrictJSONParser,)

    def handle_exception(self, exc: Exception) -> Response:
        return _refusal(exc) if isinstance(exc, InputError) else super().handle_exception(exc)


class JobView(SizingView, ABC):
    """An address that answers a job, told either way."""

    def get(self, request: Request) -> Response:
        return Response(self.answer(_query_values(request)))

    def post(self, request: Request) -> Response:
        values = request.data
        assert isinstance(values, dict)
        return Response(self.answer(values))

    @abstractmethod
    def answer(self, values: Values) -> dict[str, Any]:
        """Return the answer to a job told by its fields."""


@extend_schema_view(
    get=extend_schema(
        operation_id="sizing_estimate", parameters=job_parameters(), responses=_ANSWERED
    ),
    post=extend_schema(
        operation_id="sizing_estimate_of_json",
        request=job_body("SizingEstimateBody"),
        responses=_ANSWERED,
    ),
)
class SizingEstimate(JobView):
    """The peak memory of a job, in bytes of the fullest card: interval, terms and formulas."""

    def answer(self, values: Values) -> dict[str, Any]:
        task = benchmarked_task(values)
        if task:
            return memory_object(task, values)
        return estimate_object(job_from(values), say=assumption_text)


@extend_schema_view(
    get=extend_schema(
        operation_id="sizing_fit", parameters=[*job_parameters(), CARD], responses=_ANSWERED
    ),
    post=extend_schema(
        operation_id="sizing_fit_of_json",
        request=job_body("SizingFitBody", extra=(CARD,)),
        responses=_ANSWERED,
    ),
)
class SizingFit(JobView):
    """The verdict on every listed card.

    Up to eight cards that are named are answered in full: the smallest change that fits, the
    speed, and the largest of everything that each would hold.
    """

    def answer(self, values: Values) -> dict[str, Any]:
        named = cards_from(values.get("card"))
        task = benchmarked_task(values)
        if task:
            return verdicts_object(task, values, named or _listed_cards())
        gpus = gpus_from(values.get("gpus"))
        job = job_to_place(values, gpus=gpus)
        if 0 < len(named) <= MOST_WHOLE_CARDS:
            return whole_fit_object(job, named, gpus=gpus, say=assumption_text)
        return fit_object(job, named or _listed_cards(), gpus=gpus, say=assumption_text)


_RANK_EXTRA = (CARD, GPUS_TO_TRY, CURRENCY, TOP)


@extend_schema_view(
    get=extend_schema(
        operation_id="sizing_rank",
        parameters=[*job_parameters(without=("gpus",)), *_RANK_EXTRA],
        responses=_ANSWERED,
    ),
    post=extend_schema(
        operation_id="sizing_rank_of_json",
        request=job_body("SizingRankBody", extra=_RANK_EXTRA),
        responses=_ANSWERED,
    ),
)
class SizingRank(JobView):
    """Every listed card with 1, 2, 4 and 8 on one server, the cheapest that fits first.

    By the cost of the work where ``training_tokens`` or ``generated_tokens`` tell it, else by the
    hour. Prices are those on offer now; null where nobody offers so many.
    """

    def answer(self, values: Values) -> dict[str, Any]:
        own = ("currency", "top")
        currency = _currency(values.get("currency"))
        top = read_whole("top", values["top"]) if is_given(values.get("top")) else None
        asked = {name: value for name, value in values.items() if name not in own}
        cards = cards_from(asked.get("card")) or _listed_cards()
        prices = live_prices(currency)
        task = benchmarked_task(asked)
        if task:
            answer = costs_object(task, asked, cards, prices=prices, top=top)
        else:
            answer = _ranking(asked, cards, prices=prices, top=top)
        return {
            "currency": currency.value,
            "price_basis": PRICE_BASIS,
            "as_of": instant_text(prices_as_of(currency)),
        } | answer


def _ranking(
    asked: Values,
    cards: Sequence[Card],
    *,
    prices: Mapping[tuple[str, int], int],
    top: int | None,
) -> dict[str, Any]:
    tokens = work_tokens_from(asked)
    job = job_to_place(asked)
    rows = rank(
        job,
        cards=cards,
        prices=prices,
        work=None if tokens is None else Work(tokens),
        counts=counts_from(asked.get("gpus")),
    )
    return ranked_object(rows[:top], job=job, say=assumption_text)


class SizingCapacity(SizingView):
    """The indicative capacity of cards, in billions of parameters, and its rule."""

    @extend_schema(operation_id="sizing_capacity", parameters=[CARD], responses=_ANSWERED)
    def get(self, request: Request) -> Response:
        values = _query_values(request)
        for name in values:
            if name != "card":
                choices = {"choices": ("card",)}
                raise InputError(field=name, problem="unknown_field", values=choices)
        cards = cards_from(values.get("card")) or tuple(all_cards().values())
        capacities = [
            indicative_capacity(slug=card.slug, memory_gb=card.memory_gb) for card in cards
        ]
        return Response(capacity_object(capacities))


class SizingAccuracy(SizingView):
    """How far estimates are from measurements, beside the published rules of others."""

    @extend_schema(
        operation_id="sizing_accuracy", responses={200: OpenApiTypes.OBJECT}, parameters=[]
    )
    def get(self, request: Request) -> Response:
        return Response(heading_object(OWN_DATA) | dict(stored_report_object()))


def _refusal(error: InputError) -> Response:
    content = {
        "type": "about:blank",
        "title": str(ValidationError.default_detail),
        "status": 400,
        "code": ValidationError.default_code,
        "field": error.field,
        "problem": error.problem,
        "detail": plain_problem_text(error),
    }
    return Response(content, status=400, content_type="application/problem+json")


def _query_values(request: Request) -> dict[str, object]:
    """Return the fields of an address; only cards may be named more than once."""
    values: dict[str, object] = {}
    for name, texts in request.query_params.lists():
        if name != "card" and len(texts) > 1:
            raise InputError(field=name, problem="config_repeated")
        values[name] = texts if name == "card" else texts[0]
    return values


def _listed_cards() -> Sequence[Card]:
    known = all_cards()
    return [known[gpu.slug] for gpu in listed_gpus() if gpu.slug in known]


def _currency(given: object) -> Currency:
    if not is_given(given):
        return DEFAULT_CURRENCY
    for currency in Currency:
        if currency.value == given:
            return currency
    raise unknown_choice("currency", given, [currency.value for currency in Currency])
