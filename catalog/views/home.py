"""The first page."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from catalog.fits import well_known_models
from catalog.forms import chosen_currency
from catalog.need import PAGE_JOBS, answer_to, job_choices, read_need
from catalog.ordering import Order, in_order
from catalog.queries import STALE_AFTER, listed_gpus, oldest_as_of
from catalog.queries_listed import listed_gpu_rows
from catalog.use_cases.doors import doors
from marketplace.accounts import clock
from marketplace.accounts.public_pages import public_page


@require_safe
@public_page
def home(request: HttpRequest) -> HttpResponse:
    """Show what the site is, which card a job needs, the featured prices and the use cases."""
    choice = chosen_currency(request.GET)
    now = clock.now()
    rows = listed_gpu_rows(gpus=listed_gpus(), currency=choice.currency, now=now)
    featured = [row for row in rows if row.gpu.is_featured]
    need = read_need(request.GET)
    as_of = oldest_as_of(featured)
    shown_doors = doors(rows={row.gpu.slug: row for row in rows})
    context = {
        "choice": choice,
        "rows": in_order(featured, order=Order("price", is_descending=False)),
        "need": need,
        "answer": answer_to(need, rows=rows),
        "jobs": job_choices(),
        "page_jobs": [door for door in shown_doors if door.key in PAGE_JOBS],
        "models": well_known_models(),
        "doors": shown_doors,
        "as_of": as_of,
        "is_stale": as_of is not None and now - as_of > STALE_AFTER,
        "gpu_count": len(rows),
        "now": now,
    }
    return render(request, "catalog/home.html", context, status=400 if choice.refused else 200)
