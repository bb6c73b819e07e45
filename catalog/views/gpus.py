"""One GPU model."""

from datetime import datetime

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_safe

from catalog.calculator.page import card_block
from catalog.forms import chosen_currency, prefilled_hours
from catalog.gpu_page import (
    DAY,
    PERIODS,
    Period,
    average_micro,
    chosen_period,
    neighbours_of,
    questions_of,
    sources_of,
    specs_of,
    use_cases_of,
    workload_fits,
)
from catalog.models import GpuModel
from catalog.queries import STALE_AFTER, listed_gpus, quotes_by_currency
from catalog.queries_listed import listed_gpu_rows
from catalog.queries_market import price_history, published_offers
from catalog.structured import Node, product
from catalog.use_cases.doors import text_in_use
from marketplace.accounts import clock
from marketplace.accounts.public_pages import public_page
from sizing.cards import READ_ON

# The exchange's own form when it is installed, else a plain notice.
TICKET_TEMPLATES = ["marketplace/ticket.html", "catalog/no_ticket.html"]


@require_safe
@public_page
def gpu(request: HttpRequest, slug: str) -> HttpResponse:
    """Show one model: its market, what fits, the maker's figures, and the order ticket."""
    model = get_object_or_404(GpuModel, slug=slug)
    choice = chosen_currency(request.GET)
    now = clock.now()
    listed = listed_gpus()
    others = [other for other in listed if other.pk != model.pk]
    row, *rows = listed_gpu_rows(gpus=[model, *others], currency=choice.currency, now=now)
    period = chosen_period(request.GET.get("range", ""), now=now)
    hours = price_history(gpu=model, currency=choice.currency, since=period.starts_at)
    offers = published_offers(gpu=model, currency=choice.currency)
    context = {
        "choice": choice,
        "gpu": model,
        "row": row,
        "is_stale": row.as_of is not None and now - row.as_of > STALE_AFTER,
        "period": period,
        "period_links": _period_links(request, period),
        "history": hours,
        "average_24h_micro": average_micro(hours, since=now - DAY),
        "offers": offers,
        "fits": workload_fits(model),
        "calc": card_block(slug, choice=choice, now=now, rows=[row, *rows]),
        "specs": specs_of(model),
        "sources": sources_of(model),
        "read_on": READ_ON,
        "questions": questions_of(row, offers=offers, currency=choice.currency),
        "use_cases": _use_case_links(model),
        "neighbours": neighbours_of(row, rows),
        "ticket_templates": TICKET_TEMPLATES,
        "hours": prefilled_hours(request.GET),
        "structured": _product(model, now=now),
        "now": now,
    }
    return render(request, "catalog/gpu.html", context, status=400 if choice.refused else 200)


def _product(model: GpuModel, *, now: datetime) -> Node:
    """Return what search engines are told: the model, offered in each currency that has a price."""
    quotes = [quotes.one for quotes in quotes_by_currency(gpu=model) if quotes.one]
    return product(
        gpu=model,
        path=reverse("catalog:gpu", kwargs={"slug": model.slug}),
        description=gettext("%(name)s, %(memory)s GB, by the hour, excluding tax.")
        % {"name": model.name, "memory": model.memory_gb},
        quotes=quotes,
        now=now,
    )


def _period_links(request: HttpRequest, period: Period) -> list[tuple[str, str, bool]]:
    """Return the links to the price history's other lengths."""
    links = []
    for key, (label, _length) in PERIODS.items():
        query = request.GET.copy()
        query["range"] = key
        links.append((str(label), f"?{query.urlencode()}#history", key == period.key))
    return links


def _use_case_links(model: GpuModel) -> list[tuple[str, str]]:
    """Return name and address of the use cases that list the card."""
    return [
        (text_in_use(key).short_title, reverse("catalog:use_case", kwargs={"key": key}))
        for key in use_cases_of(model)
    ]
