"""Use-case pages: which cards suit a job, what fits, and what an hour costs now."""

from collections.abc import Sequence
from datetime import datetime

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from billing.money import net_minor
from catalog.calculator.other_jobs import other_block
from catalog.calculator.page import use_case_block
from catalog.forms import CurrencyChoice, chosen_currency
from catalog.queries import STALE_AFTER, GpuRow, cheapest, oldest_as_of
from catalog.use_cases.columns import Column, columns
from catalog.use_cases.doors import doors, text_in_use
from catalog.use_cases.rows import case_rows, comparison, listed_rows
from catalog.use_cases.table import shown_rows
from marketplace.accounts import clock
from marketplace.accounts.public_pages import public_page
from sizing.benchmarked.diffusion import diffusion_runs
from sizing.csv_tables import Source

TRIAL_HOURS = 3  # Enough to load a model and watch the memory of a few hundred steps.
# The use case whose table judges cards by single runs; it shows them all.
OF_RUNS = "image-video"


@require_safe
@public_page
def use_cases(request: HttpRequest) -> HttpResponse:
    """Lead to the six use cases, each with the lowest price of its cards."""
    choice = chosen_currency(request.GET)
    rows = listed_rows(currency=choice.currency)
    now = clock.now()
    context = {
        "choice": choice,
        "doors": doors(rows=rows),
        "has_prices": any(row.price_micro is not None for row in rows.values()),
        **_age(list(rows.values()), now),
    }
    return _answer(request, "catalog/use_cases.html", context, choice)


@require_safe
@public_page
def use_case(request: HttpRequest, key: str) -> HttpResponse:
    """Show one use case with its table of cards."""
    choice = chosen_currency(request.GET)
    listed = listed_rows(currency=choice.currency)
    cases = case_rows(key=key, rows=listed, currency=choice.currency)
    shown_columns = columns(key)
    rows = [case.row for case in cases]
    now = clock.now()
    context = {
        "text": text_in_use(key),
        "key": key,
        "choice": choice,
        "columns": shown_columns,
        "rows": shown_rows(cases=cases, columns=shown_columns),
        "sources": _sources(shown_columns),
        "runs": tuple(diffusion_runs().values()) if key == OF_RUNS else (),
        "best": cheapest(rows),
        "comparison": comparison(rows),
        "trial": _trial(rows),
        "doors": doors(rows=listed, without=key),
        "calc": use_case_block(key, choice=choice, now=now, slugs=tuple(listed)),
        "other": other_block(key, values=request.GET, rows=listed.values()),
        **_age(rows, now),
    }
    return _answer(request, "catalog/use_case.html", context, choice)


def _answer(
    request: HttpRequest, template: str, context: dict[str, object], choice: CurrencyChoice
) -> HttpResponse:
    return render(request, template, context, status=400 if choice.refused else 200)


def _age(rows: Sequence[GpuRow], now: datetime) -> dict[str, object]:
    as_of = oldest_as_of(rows)
    return {
        "as_of": as_of,
        "is_stale": as_of is not None and now - as_of > STALE_AFTER,
        "now": now,
    }


def _sources(shown: Sequence[Column]) -> list[tuple[Column, Source]]:
    """Return where the measured columns were read."""
    return [(column, source) for column in shown for source in column.sources()]


def _trial(rows: list[GpuRow]) -> dict[str, object] | None:
    """Return the cheapest short rental that measures a run's real memory, if any is on offer."""
    row = cheapest(rows)
    if row is None or row.price_micro is None:
        return None
    cost = net_minor(price_micro=row.price_micro, gpus=1, hours=TRIAL_HOURS)
    return {"gpu": row.gpu, "hours": TRIAL_HOURS, "net_minor": cost}
