"""Use-case pages: which cards suit a job, what fits, and what an hour costs now."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import get_language
from django.views.decorators.http import require_safe

from billing.money import net_minor
from catalog.content.use_cases import cards_of, use_case_text
from catalog.forms import chosen_currency
from catalog.queries import STALE_AFTER, GpuRow, cheapest, oldest_as_of, use_case_rows
from marketplace.accounts import clock

TRIAL_HOURS = 3  # Enough to load a model and watch the memory of a few hundred steps.


@require_safe
def use_case(request: HttpRequest, key: str) -> HttpResponse:
    """Show one use case with its table of cards."""
    choice = chosen_currency(request.GET)
    rows = use_case_rows(slugs=cards_of(key), currency=choice.currency)
    as_of = oldest_as_of(rows)
    now = clock.now()
    context = {
        "text": use_case_text(
            key=key,
            language=get_language() or settings.LANGUAGE_CODE,
            site=settings.SITE_NAME,
            programme=settings.SELLER_PROGRAMME_NAME,
        ),
        "key": key,
        "choice": choice,
        "rows": rows,
        "largest": _largest(rows),
        "as_of": as_of,
        "is_stale": as_of is not None and now - as_of > STALE_AFTER,
        "best": cheapest(rows),
        "trial": _trial(rows),
        "now": now,
    }
    return render(request, "catalog/use_case.html", context, status=400 if choice.refused else 200)


def _largest(rows: list[GpuRow]) -> dict[str, int]:
    """Return the largest capacities: the full length of the bars."""
    return {
        "qlora_b": max((row.capacity.qlora_b for row in rows), default=1),
        "lora16_b": max((row.capacity.lora16_b for row in rows), default=1),
    }


def _trial(rows: list[GpuRow]) -> dict[str, object] | None:
    """Return the cheapest short rental that measures a run's real memory, if any is on offer."""
    row = cheapest(rows)
    if row is None or row.price_micro is None:
        return None
    cost = net_minor(price_micro=row.price_micro, gpus=1, hours=TRIAL_HOURS)
    return {"gpu": row.gpu, "hours": TRIAL_HOURS, "net_minor": cost}
