"""The calculator: a job in the address, its answer on the page, instantly or by a button."""

from collections.abc import Mapping
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse

from catalog.calculator.dimensions import DimensionsForm
from catalog.calculator.own_model import checked_config, checked_dimensions, told_dimensions
from catalog.calculator.page import context_of
from catalog.calculator.reading import Asked, read_asked
from catalog.forms import chosen_currency
from catalog.queries import listed_gpus
from catalog.sizing_words import problem_text
from marketplace.accounts import clock
from marketplace.accounts.http import form_page
from marketplace.accounts.public_pages import public_page
from sizing.bounds import InputError
from sizing.plain.jobs import MODEL_FIELDS

BY_DIMENSIONS = "dimensions"


@form_page
def calculator(request: HttpRequest) -> HttpResponseBase:
    """Show what a job needs; take a model that somebody pastes, uploads or describes."""
    return _read_model(request) if request.method == "POST" else _kept_page(request)


@public_page
def _kept_page(request: HttpRequest) -> HttpResponse:
    return _page(request, request.GET)


def _read_model(request: HttpRequest) -> HttpResponseBase:
    """Lead to the page whose address holds the model, or say what is wrong with it."""
    query = QueryDict(request.POST.get("query", ""))
    if request.POST.get("by") == BY_DIMENSIONS:
        return _read_dimensions(request, query)
    try:
        config = checked_config(_config_text(request))
    except InputError as error:
        return _page(request, query, config_error=problem_text(error))
    return _with_model(query, {"config": config})


def _read_dimensions(request: HttpRequest, query: QueryDict) -> HttpResponseBase:
    given = {name: str(text) for name, text in request.POST.items()}
    try:
        return _with_model(query, checked_dimensions(given))
    except InputError as error:
        return _page(request, query, dimensions=DimensionsForm(given, refusal=error))


def _with_model(query: QueryDict, model: Mapping[str, str]) -> HttpResponseBase:
    """Lead to the address of the same job with this model."""
    kept = {name: str(text) for name, text in query.items() if name not in MODEL_FIELDS}
    return redirect(f"{reverse('catalog:calculator')}?{urlencode(kept | dict(model))}")


def _config_text(request: HttpRequest) -> str:
    """Return the uploaded file where there is one, else what was pasted."""
    file = request.FILES.get("config_file")
    if file is None:
        return str(request.POST.get("config_text", ""))
    content: bytes = file.read()
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        raise InputError(field="config", problem="config_not_utf8") from None


def _page(
    request: HttpRequest,
    query: QueryDict,
    *,
    config_error: str = "",
    dimensions: DimensionsForm | None = None,
) -> HttpResponse:
    choice = chosen_currency(query)
    texts = {name: str(query[name]) for name in query}
    asked = read_asked(texts)
    now = clock.now()
    slugs = [gpu.slug for gpu in listed_gpus()]
    is_whole = query.get("show") == "all"
    context = context_of(asked, choice=choice, now=now, slugs=slugs, is_whole=is_whole) | {
        "config_error": config_error,
        "dimensions": dimensions or _dimensions_of(asked, texts),
        "query": query.urlencode(),
    }
    template = _template(request)
    is_refused = choice.refused and template == "catalog/calculator.html"
    return render(request, template, context, status=400 if is_refused else 200)


def _dimensions_of(asked: Asked, texts: Mapping[str, str]) -> DimensionsForm:
    """Return the form of the dimensions, filled with those of the address."""
    return DimensionsForm(told_dimensions(texts) or None, refusal=asked.form.refusal)


def _template(request: HttpRequest) -> str:
    """Return the part that a script asks for, or the whole page."""
    if "HX-Request" not in request.headers:
        return "catalog/calculator.html"
    part = request.headers.get("HX-Target", "")
    return f"catalog/calculator_{'summary' if part == 'summary' else 'calc'}.html"
