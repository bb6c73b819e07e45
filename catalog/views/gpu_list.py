"""The list of GPU models, and the same list as a table for spreadsheets."""

from collections import Counter

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from catalog.compare import MAX_COMPARED
from catalog.csv_files import refused_file
from catalog.filters import SEGMENT_LABELS
from catalog.fits import FILTER_JOBS, JOB_LABELS, Fit, well_known_models
from catalog.forms import chosen_currency
from catalog.gpu_table import csv_answer
from catalog.listing import Listing, gpu_listing, showing
from catalog.queries import STALE_AFTER, oldest_as_of
from catalog.queries_listed import ListedGpu
from catalog.use_cases.doors import text_in_use
from marketplace.accounts import clock
from marketplace.accounts.public_pages import public_page

# What the makers' cards differ by; another whole number may stand in the address.
MEMORY_STEPS_GB = (16, 24, 32, 48, 80, 96, 141, 192)


@require_safe
@public_page
def gpu_list(request: HttpRequest) -> HttpResponse:
    """List the models that the address asks for."""
    choice = chosen_currency(request.GET)
    now = clock.now()
    listing = gpu_listing(query=request.GET, currency=choice.currency, now=now)
    as_of = oldest_as_of(listing.everything)
    context = {
        "choice": choice,
        "listing": listing,
        "filters": listing.filters,
        "options": _options(listing),
        "rows": _rows(listing),
        "show_all": showing(request.GET, only_offered=False),
        "show_offered": showing(request.GET, only_offered=True),
        "use_case": _use_case_title(listing),
        "max_compared": MAX_COMPARED,
        "as_of": as_of,
        "is_stale": as_of is not None and now - as_of > STALE_AFTER,
        "now": now,
    }
    return render(request, "catalog/gpu_list.html", context, status=400 if choice.refused else 200)


@require_safe
def gpu_list_csv(request: HttpRequest) -> HttpResponse:
    """Send exactly the rows and columns that the same address shows as a page."""
    choice = chosen_currency(request.GET)
    if choice.refused:
        return refused_file(choice)
    listing = gpu_listing(query=request.GET, currency=choice.currency, now=clock.now())
    return csv_answer(listing, currency=choice.currency)


def _options(listing: Listing) -> dict[str, object]:
    """Return what the form offers to choose from, each with its mark when chosen."""
    filters = listing.filters
    gpus = [row.gpu for row in listing.everything]
    segments = Counter(gpu.segment for gpu in gpus)
    memory = sorted({*MEMORY_STEPS_GB, filters.memory_gb or MEMORY_STEPS_GB[0]})
    return {
        "models": well_known_models(),
        "jobs": [(job.value, JOB_LABELS[job]) for job in FILTER_JOBS],
        "memory": memory,
        "segments": [(key, label, segments[key]) for key, label in SEGMENT_LABELS.items()],
        "architectures": sorted({gpu.architecture for gpu in gpus}),
        "vendors": sorted({gpu.vendor for gpu in gpus}),
        "price": filters.price_typed,
        "price_refusal": filters.price_refusal,
    }


def _rows(listing: Listing) -> list[tuple[ListedGpu, Fit | None]]:
    """Return the table's rows; with a model chosen, each with how that fits."""
    wanted = listing.filters.wanted
    return [
        (row, wanted.on(memory_gb=row.gpu.memory_gb) if wanted else None) for row in listing.rows
    ]


def _use_case_title(listing: Listing) -> str:
    """Return the short name of the use case whose cards are shown, if one is asked for."""
    key = listing.filters.use_case
    if not key:
        return ""
    return text_in_use(key).short_title
