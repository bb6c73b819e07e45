"""Two to four GPU models side by side."""

from collections.abc import Sequence

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.text import get_text_list
from django.utils.translation import gettext
from django.views.decorators.http import require_safe

from catalog.compare import (
    MAX_COMPARED,
    MEMORY_FIGURES,
    PRICE_FIGURES,
    Chosen,
    chosen_cards,
    compared,
    winner,
)
from catalog.compare_table import csv_answer
from catalog.csv_files import refused_file
from catalog.forms import chosen_currency
from catalog.models import GpuModel
from catalog.queries import STALE_AFTER, listed_gpus, oldest_as_of
from catalog.queries_listed import ListedGpu, listed_gpu_rows
from marketplace.accounts import clock
from marketplace.accounts.public_pages import public_page

ONLY_DIFFERENCES = "differences"


@require_safe
@public_page
def compare(request: HttpRequest) -> HttpResponse:
    """Show the models that the address names side by side."""
    choice = chosen_currency(request.GET)
    now = clock.now()
    gpus = listed_gpus()
    chosen = chosen_cards(request.GET, gpus=gpus)
    rows = listed_gpu_rows(gpus=chosen.gpus, currency=choice.currency, now=now)
    as_of = oldest_as_of(rows)
    only_differences = request.GET.get("rows") == ONLY_DIFFERENCES
    names = [gpu.name for gpu in chosen.gpus]
    context = {
        "choice": choice,
        "chosen": chosen,
        "columns": [(row, chosen.without(row.gpu)) for row in rows],
        "groups": compared(rows, only_differences=only_differences),
        "only_differences": only_differences,
        "names": get_text_list(names, gettext("or")),
        "winners": _winners(rows),
        "others": [] if len(rows) >= MAX_COMPARED else _others(gpus, chosen),
        "max_compared": MAX_COMPARED,
        "as_of": as_of,
        "is_stale": as_of is not None and now - as_of > STALE_AFTER,
        "now": now,
    }
    return render(request, "catalog/compare.html", context, status=400 if choice.refused else 200)


@require_safe
def compare_csv(request: HttpRequest) -> HttpResponse:
    """Send the rows that the same address shows as a page."""
    choice = chosen_currency(request.GET)
    if choice.refused:
        return refused_file(choice)
    chosen = chosen_cards(request.GET, gpus=listed_gpus())
    rows = listed_gpu_rows(gpus=chosen.gpus, currency=choice.currency, now=clock.now())
    only_differences = request.GET.get("rows") == ONLY_DIFFERENCES
    groups = compared(rows, only_differences=only_differences)
    return csv_answer(groups, gpus=chosen.gpus, currency=choice.currency)


def _others(gpus: Sequence[GpuModel], chosen: Chosen) -> list[GpuModel]:
    """Return what can still be added, by name."""
    return sorted((gpu for gpu in gpus if gpu not in chosen.gpus), key=lambda gpu: gpu.name)


def _winners(rows: Sequence[ListedGpu]) -> dict[str, ListedGpu | None]:
    """Return which model alone is best at what people ask first."""
    price, per_gb, per_tb_per_s, *_offers = PRICE_FIGURES
    memory, bandwidth, *_type = MEMORY_FIGURES
    asked = {
        "price": price,
        "per_gb": per_gb,
        "per_tb_per_s": per_tb_per_s,
        "memory": memory,
        "bandwidth": bandwidth,
    }
    return {key: winner(rows, figure) for key, figure in asked.items()}
