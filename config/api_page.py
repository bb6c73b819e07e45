"""The page about the API, and its machine-readable description. Routes come from the site map."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import URLPattern, get_resolver, reverse
from django.urls.resolvers import URLResolver
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe
from drf_spectacular.views import SpectacularSwaggerSplitView
from rest_framework.exceptions import ValidationError
from rest_framework.permissions import AllowAny
from rest_framework.throttling import AnonRateThrottle

from billing.money import Currency
from catalog.api.serializers import CurrencyQuery, row_answer
from catalog.forms import DEFAULT_CURRENCY
from catalog.queries import gpu_rows, listed_gpus
from config.api_schema import TokenScheme
from config.drf import problem_response
from marketplace.accounts.models import Scope

BASE = "api/v1/"
# A part of an address that varies, as the site map writes it.
CONVERTER = re.compile(r"<\w+:(\w+)>")
# What each address of the API is for. A test asks for a line for every address.
ABOUT: dict[str, str | Promise] = {
    "api-gpus": _("Every listed GPU model with its memory, what fits, and its best offer."),
    "api-use-case": _("The cards that suit a use case, as on its page."),
    "sizing-estimate": _("The memory that a job takes, term by term, with its formulas."),
    "sizing-fit": _("On which cards a job fits, and on a named card what would make it fit."),
    "sizing-rank": _("Cards and numbers of cards for a job, the cheapest first, at prices of now."),
    "sizing-capacity": _("The indicative capacity of every card, and its rule."),
    "sizing-accuracy": _("How far our estimates are from measurements."),
    "api-market": _(
        "Every model’s best offers, hours on offer and sold, last price and its change."
    ),
    "api-gpu-market": _("One model’s market: best offers, last sales, and prices paid over time."),
    "api-me": _("Who you are: the organisation and the scopes of your token."),
    "api-schema": _("The description of the API for programs, as OpenAPI 3."),
    "api-docs": _("The same description for people, to read and to try."),
}
DESCRIPTIONS = frozenset({"api-schema", "api-docs"})
# Values for the parts of an address that vary.
EXAMPLE_VALUES = {"key": "fine-tuning", "slug": "rtx-4090", "pk": 1}
EXAMPLE_JOB = "?model=llama-3.1-8b&method=qlora"
# What an example asks, where an address needs more than itself.
EXAMPLE_QUERIES = {
    "sizing-estimate": EXAMPLE_JOB,
    "sizing-fit": f"{EXAMPLE_JOB}&card=rtx-4090",
    "sizing-rank": f"{EXAMPLE_JOB}&training_tokens=50000000&top=5",
}
EXAMPLE_CARD = "rtx-4090"
# A currency that the market does not have.
UNKNOWN_CURRENCY = "CHF"


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """An address of the API: as it stands in the site map, and one that can be called."""

    name: str
    path: str
    example: str
    about: str | Promise
    needs_token: bool

    @property
    def is_description(self) -> bool:
        """Say whether it describes the API rather than being of it."""
        return self.name in DESCRIPTIONS


# Named so that its import registers it.
TOKEN_SCHEME = TokenScheme.name


class ApiDocs(SpectacularSwaggerSplitView):
    """The description of the API to read and to try; its script is a file of its own."""

    template_name = "api_docs.html"


@require_safe
def api_page(request: HttpRequest) -> HttpResponse:
    """Show what programs can ask, how, and what they get."""
    context = {
        "origin": settings.PUBLIC_URL.rstrip("/"),
        "base": f"{settings.PUBLIC_URL.rstrip('/')}/{BASE}",
        "routes": list(api_routes()),
        "currencies": [currency.value for currency in Currency],
        "default_currency": DEFAULT_CURRENCY.value,
        "scopes": [{"code": scope.value, "label": scope.label} for scope in Scope],
        "answer": _shown(_example_answer()),
        "problem": _shown(_example_problem()),
        "limits": {name: _times(name) for name in ("anon", "user")},
    }
    return render(request, "api_page.html", context)


def api_routes() -> Iterator[Route]:
    """Yield every address of the API in the order of the site map."""
    for resolver in get_resolver().url_patterns:
        if str(resolver.pattern).startswith(BASE):
            yield from _routes_below(resolver, prefix="/")


def _routes_below(pattern: URLPattern | URLResolver, *, prefix: str) -> Iterator[Route]:
    path = prefix + str(pattern.pattern)
    if isinstance(pattern, URLResolver):
        for inner in pattern.url_patterns:
            yield from _routes_below(inner, prefix=path)
        return
    name = str(pattern.name)
    kwargs = {key: EXAMPLE_VALUES[key] for key in pattern.pattern.converters}
    yield Route(
        name=name,
        path=CONVERTER.sub(r"{\1}", path),
        example=reverse(name, kwargs=kwargs) + EXAMPLE_QUERIES.get(name, ""),
        about=ABOUT.get(name, ""),
        needs_token=AllowAny not in _permissions(pattern),
    )


def _permissions(pattern: URLPattern) -> tuple[type, ...]:
    view: Any = getattr(pattern.callback, "cls", None)
    return tuple(view.permission_classes) if view else ()


def _example_answer() -> dict[str, object]:
    """Return the first rows of a real answer: one card, as it is now."""
    cards = [card for card in listed_gpus() if card.slug == EXAMPLE_CARD]
    rows = gpu_rows(gpus=cards, currency=DEFAULT_CURRENCY)
    return {
        "currency": DEFAULT_CURRENCY.value,
        "rows": [row_answer(row, DEFAULT_CURRENCY) for row in rows],
    }


def _example_problem() -> object:
    """Return what a real mistake is answered with."""
    try:
        CurrencyQuery(data={"currency": UNKNOWN_CURRENCY}).is_valid(raise_exception=True)
    except ValidationError as error:
        response = problem_response(error, {})
        assert response is not None
        return response.data
    raise AssertionError(UNKNOWN_CURRENCY)


def _shown(answer: object) -> str:
    return json.dumps(answer, indent=2, ensure_ascii=False, default=str)


def _times(name: str) -> int:
    """Return how many calls a minute are taken of a kind of visitor."""
    rate = str(AnonRateThrottle.THROTTLE_RATES[name])
    times, _slash, _period = rate.partition("/")
    return int(times)
