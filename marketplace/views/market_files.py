"""The market as files: tables for spreadsheets, and the price history that the chart reads."""

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256

from django.http import HttpRequest, HttpResponse, HttpResponseNotModified, JsonResponse
from django.shortcuts import get_object_or_404
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from billing.money import Currency
from catalog.csv_files import csv_file, price_cell, refused_file, time_cell
from catalog.models import GpuModel, TradedHour
from catalog.queries_market import MarketRow, by_day, is_by_day, price_history
from marketplace.accounts import clock
from marketplace.forms.market import read_history
from marketplace.queries.market import MAX_FILLS, last_sales


@require_safe
def fills_csv(request: HttpRequest, slug: str) -> HttpResponse:
    """Send a model's last sales in a currency, newest first, nobody named."""
    gpu = get_object_or_404(GpuModel, slug=slug)
    choice = read_history(request.GET).choice
    if choice.refused:
        return refused_file(choice)
    sales = last_sales(gpu=gpu, currency=choice.currency, most=MAX_FILLS)
    return csv_file(
        name=f"sales-{gpu.slug}-{choice.currency.lower()}",
        head=[
            _("Matched at"),
            _("Price paid (%(currency)s per GPU and hour, excl. tax)")
            % {"currency": choice.currency.value},
            _("GPUs"),
            _("Hours"),
            _("Paid from"),
        ],
        rows=[
            [
                time_cell(sale.matched_at),
                price_cell(sale.price_micro),
                str(sale.gpus),
                str(sale.hours),
                time_cell(sale.starts_at),
            ]
            for sale in sales
        ],
    )


@require_safe
def price_history_json(request: HttpRequest, slug: str) -> HttpResponse:
    """Send the hours of trade that the chart draws, or 304 when nothing was traded since.

    Days of the reader's zone where the page's own picture shows days.
    """
    gpu = get_object_or_404(GpuModel, slug=slug)
    address = read_history(request.GET)
    if address.choice.refused:
        return refused_file(address.choice)
    currency = address.choice.currency
    since = address.since(now=clock.now())
    hours = price_history(gpu=gpu, currency=currency, since=since)
    are_days = is_by_day(hours)
    shown = by_day(hours, zone=timezone.get_current_timezone()) if are_days else hours
    body = {
        "currency": currency.value,
        "period": "day" if are_days else "hour",
        "hours": [_point(hour) for hour in shown],
    }
    return _unless_unchanged(request, body)


def market_file(rows: Sequence[MarketRow], *, currency: Currency) -> HttpResponse:
    """Return the overview's rows in their order, with the figures that the page shows."""
    return csv_file(
        name=f"market-{currency.lower()}",
        head=_head(currency),
        rows=[_row(row) for row in rows],
    )


def _head(currency: Currency) -> list[str]:
    unit = {"currency": currency.value}
    return [
        _("GPU"),
        _("Best offer for 1 GPU (%(currency)s per GPU and hour, excl. tax)") % unit,
        _("Best offer for 8 GPUs (%(currency)s per GPU and hour, excl. tax)") % unit,
        _("Offered in the next 24 h (GPU-hours)"),
        _("Sold in 24 h (GPU-hours)"),
        _("Last price paid (%(currency)s per GPU and hour, excl. tax)") % unit,
        _("Change in 24 h (percent)"),
        _("Lowest hourly price paid, 24 h (%(currency)s)") % unit,
        _("Highest hourly price paid, 24 h (%(currency)s)") % unit,
        _("As of"),
    ]


def _row(row: MarketRow) -> list[str]:
    figures = row.figures
    change = figures.change_share if figures else None
    return [
        row.gpu.name,
        price_cell(row.price_micro),
        price_cell(row.eight_price_micro),
        str(figures.offered_gpu_hours) if figures else "",
        str(figures.sold_gpu_hours_24h) if figures else "",
        price_cell(figures.last_price_micro if figures else None),
        "" if change is None else f"{change * 100:.2f}",
        price_cell(min(row.trend, default=None)),
        price_cell(max(row.trend, default=None)),
        time_cell(row.as_of),
    ]


def _point(hour: TradedHour) -> dict[str, object]:
    return {
        "starts_at": hour.hour_starts_at.isoformat(),
        "average_price_micro": hour.average_price_micro,
        "last_price_micro": hour.last_price_micro,
        "gpu_hours": hour.gpu_hours,
        "fills": hour.fills,
    }


def _unless_unchanged(request: HttpRequest, body: Mapping[str, object]) -> HttpResponse:
    etag = f'"{sha256(json.dumps(body).encode()).hexdigest()[:32]}"'
    headers = {"ETag": etag, "Cache-Control": "public, no-cache", "Vary": "Cookie"}
    if request.headers.get("If-None-Match") == etag:
        return HttpResponseNotModified(headers=headers)
    return JsonResponse(dict(body), headers=headers)
