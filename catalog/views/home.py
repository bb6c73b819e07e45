"""The first page."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from catalog.forms import chosen_currency
from catalog.queries import cheapest, gpu_rows, listed_gpus, oldest_as_of
from marketplace.accounts import clock


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """Show what the site is, and the featured cards' prices."""
    choice = chosen_currency(request.GET)
    gpus = listed_gpus()
    rows = gpu_rows(gpus=[gpu for gpu in gpus if gpu.is_featured], currency=choice.currency)
    context = {
        "choice": choice,
        "rows": rows,
        "best": cheapest(rows),
        "as_of": oldest_as_of(rows),
        "gpu_count": len(gpus),
        "now": clock.now(),
    }
    return render(request, "catalog/home.html", context, status=400 if choice.refused else 200)
