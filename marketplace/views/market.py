"""The market for everybody: all models at a glance, and one model with its prices and sales."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.functional import Promise
from django.views.decorators.http import require_safe

from billing.money import Currency
from catalog.csv_files import refused_file
from catalog.forms import prefilled_hours
from catalog.listing import showing
from catalog.models import GpuModel
from catalog.queries import STALE_AFTER, listed_gpus
from catalog.queries_market import MarketRow, market_rows, price_history, published_offers
from marketplace.accounts import clock
from marketplace.accounts.public_pages import public_page
from marketplace.forms.market import (
    RANGE_LABELS,
    RANGES,
    HistoryAddress,
    MarketAddress,
    in_order,
    read_history,
    read_market,
)
from marketplace.queries.market import (
    LEAST_CUSTOMERS,
    LEAST_FILLS,
    LEAST_SELLERS,
    activity,
    first_opening,
    halted_model_ids,
    last_sales,
)
from marketplace.views.live import live_fragment, page_query
from marketplace.views.market_files import market_file

SALES_SHOWN = 20
# A new price reaches an open page within this time.
LIVE_SECONDS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """The models that an address asks for, in its order, and how many it hides."""

    address: MarketAddress
    rows: list[MarketRow]
    total: int
    hidden: int
    offered: int
    only_offered: bool
    as_of: datetime | None


@require_safe
@public_page
def market(request: HttpRequest) -> HttpResponse:
    """Show all models; ``?gpu=h100-sxm`` of the model switch leads to that model's page.

    ``?part=live`` is the table alone.
    """
    gpus = listed_gpus()
    wanted = next((gpu for gpu in gpus if gpu.slug == request.GET.get("gpu")), None)
    if wanted is not None:
        return redirect(_model_address(request, wanted))
    now = clock.now()
    overview = _overview(request, gpus=gpus, now=now)
    context = {
        "overview": overview,
        "address": overview.address,
        "choice": overview.address.choice,
        "halted": halted_model_ids(),
        "largest": _largest(overview.rows),
        "show_all": showing(page_query(request), only_offered=False),
        "show_offered": showing(page_query(request), only_offered=True),
        "is_stale": _is_stale(overview.as_of, now=now),
        "live_seconds": LIVE_SECONDS,
        "live_rows": _with(request, currency=overview.address.choice.currency, part="live"),
    }
    answer = live_fragment(
        request,
        page="marketplace/market.html",
        fragment="marketplace/market_rows.html",
        context=context,
    )
    if overview.address.choice.refused:
        answer.status_code = 400
    return answer


@require_safe
def market_csv(request: HttpRequest) -> HttpResponse:
    """Send exactly the rows and figures that the same address shows as a page."""
    overview = _overview(request, gpus=listed_gpus(), now=clock.now())
    choice = overview.address.choice
    if choice.refused:
        return refused_file(choice)
    return market_file(overview.rows, currency=choice.currency)


@require_safe
@public_page
def market_gpu(request: HttpRequest, slug: str) -> HttpResponse:
    """Show one model: its day, what was paid, what is on offer, the last sales, the ticket.

    ``?part=live`` is the day alone, ``?part=live&of=book`` offers and sales.
    """
    gpu = get_object_or_404(GpuModel, slug=slug)
    address = read_history(request.GET)
    currency, now = address.choice.currency, clock.now()
    is_part, is_book = request.GET.get("part") == "live", request.GET.get("of") == "book"
    context: dict[str, object] = {"gpu": gpu, "choice": address.choice}
    if is_book or not is_part:
        context |= _book_facts(gpu, currency=currency)
    if not (is_book and is_part):
        context |= _day_facts(gpu, currency=currency, now=now)
    if not is_part:
        context |= _page_facts(request, gpu, address=address, now=now)
    answer = live_fragment(
        request,
        page="marketplace/market_gpu.html",
        fragment=f"marketplace/{'market_book' if is_book else 'market_figures'}.html",
        context=context,
    )
    if address.choice.refused:
        answer.status_code = 400
    return answer


def _overview(request: HttpRequest, *, gpus: Sequence[GpuModel], now: datetime) -> Overview:
    address = read_market(request.GET, slugs=[gpu.slug for gpu in gpus])
    everything = market_rows(gpus=gpus, currency=address.choice.currency, now=now)
    only_offered = address.shows_only_offered(everything)
    shown = [row for row in everything if row.is_offered or not only_offered]
    return Overview(
        address=address,
        rows=in_order(shown, order=address.order),
        total=len(everything),
        hidden=len(everything) - len(shown),
        offered=sum(row.is_offered for row in everything),
        only_offered=only_offered,
        as_of=min((row.as_of for row in everything if row.as_of), default=None),
    )


def _largest(rows: Sequence[MarketRow]) -> dict[str, int]:
    """Return the largest figures, against which the bars of the columns are drawn."""
    figures = [row.figures for row in rows if row.figures]
    return {
        "offered": max((one.offered_gpu_hours for one in figures), default=0),
        "sold": max((one.sold_gpu_hours_24h for one in figures), default=0),
    }


def _day_facts(gpu: GpuModel, *, currency: Currency, now: datetime) -> dict[str, object]:
    """Return the model's figures: best offers, last price, what was sold and is free."""
    (row,) = market_rows(gpus=[gpu], currency=currency, now=now)
    return {
        "row": row,
        "figures": row.figures,
        "activity": activity(gpu=gpu, currency=currency, now=now),
        "least": {"fills": LEAST_FILLS, "sellers": LEAST_SELLERS, "customers": LEAST_CUSTOMERS},
        "is_stale": _is_stale(row.as_of, now=now),
    }


def _book_facts(gpu: GpuModel, *, currency: Currency) -> dict[str, object]:
    """Return what is on offer, and the last sales."""
    return {
        "offers": published_offers(gpu=gpu, currency=currency) if gpu.is_listed else [],
        "sales": last_sales(gpu=gpu, currency=currency, most=SALES_SHOWN),
    }


def _page_facts(
    request: HttpRequest, gpu: GpuModel, *, address: HistoryAddress, now: datetime
) -> dict[str, object]:
    """Return what only the whole page shows."""
    currency = address.choice.currency
    history = price_history(gpu=gpu, currency=currency, since=address.since(now=now))
    return {
        "address": address,
        "history": history,
        "tracked_since": None if history else first_opening(),
        "history_url": _history_address(gpu, address),
        "range_links": _range_links(request, address),
        "models": listed_gpus(),
        "hours": prefilled_hours(request.GET),
        "live_seconds": LIVE_SECONDS,
        "live_figures": f"?currency={currency}&part=live",
        "live_book": f"?currency={currency}&part=live&of=book",
    }


def _range_links(
    request: HttpRequest, address: HistoryAddress
) -> list[tuple[str | Promise, str, bool]]:
    return [(RANGE_LABELS[key], _with(request, range=key), key == address.period) for key in RANGES]


def _history_address(gpu: GpuModel, address: HistoryAddress) -> str:
    path = reverse("marketplace:price_history", kwargs={"slug": gpu.slug})
    return f"{path}?currency={address.choice.currency}&range={address.period}"


def _model_address(request: HttpRequest, gpu: GpuModel) -> str:
    """Return the address of a model's page with the rest of this address's choices."""
    query = request.GET.copy()
    del query["gpu"]
    path = reverse("marketplace:market_gpu", kwargs={"slug": gpu.slug})
    return f"{path}?{query.urlencode()}" if query else path


def _with(request: HttpRequest, **changes: str) -> str:
    query = request.GET.copy()
    for key, value in changes.items():
        query[key] = value
    return f"?{query.urlencode()}"


def _is_stale(as_of: datetime | None, *, now: datetime) -> bool:
    return as_of is not None and now - as_of > STALE_AFTER
