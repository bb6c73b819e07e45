"""What the calculator's page, its parts and its blocks on other pages show."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from urllib.parse import urlencode

from django.urls import reverse

from catalog.calculator.answer import Answer, answer_to
from catalog.calculator.presets import CARD_PRESET, USE_CASE_PRESETS
from catalog.calculator.reading import SORTS, Asked, job_query, read_asked
from catalog.forms import CurrencyChoice
from catalog.queries import EIGHT_GPUS, ONE_GPU, STALE_AFTER, oldest_as_of
from catalog.queries_listed import ListedGpu
from catalog.queries_prices import LivePrices, published_prices, with_offers
from sizing.plain.jobs import MODEL_FIELDS


def use_case_block(
    key: str, *, choice: CurrencyChoice, now: datetime, slugs: Sequence[str]
) -> dict[str, object] | None:
    """Return the block of a use case; None where no language model is in question. Two queries."""
    preset = USE_CASE_PRESETS.get(key)
    if preset is None:
        return None
    return context_of(read_asked(preset), choice=choice, now=now, slugs=slugs)


def card_block(
    slug: str, *, choice: CurrencyChoice, now: datetime, rows: Sequence[ListedGpu]
) -> dict[str, object]:
    """Return the block of a card's page, with the prices that the page has read. One query."""
    quoted = {
        (row.gpu.slug, gpus): price
        for row in rows
        for gpus, price in ((ONE_GPU, row.price_micro), (EIGHT_GPUS, row.eight_price_micro))
        if price is not None
    }
    prices = with_offers(quoted, currency=choice.currency)
    known = LivePrices(prices, oldest_as_of(rows))
    asked = read_asked(dict(CARD_PRESET) | {"card": slug})
    slugs = [row.gpu.slug for row in rows]
    return context_of(asked, choice=choice, now=now, slugs=slugs, known=known)


def _queries(asked: Asked, choice: CurrencyChoice) -> dict[str, object]:
    """Return the addresses of the page's links: the job, with and without order and currency."""
    job = job_query(asked)
    card = {"card": asked.card_slug} if asked.card_slug else {}
    currency = {"currency": choice.currency.value}
    sort = {} if asked.sort == SORTS[0] else {"sort": asked.sort}
    return {
        "job_query": urlencode(job),
        "json_url": f"{reverse('sizing-estimate')}?{urlencode(job)}",
        "share_query": urlencode(job | card | sort | currency),
        "base_query": urlencode(job | card | currency),
        "sorted_query": urlencode(job | card | sort),
        "list_query": urlencode(_without_model(job) | card | sort | currency),
    }


def _without_model(job: Mapping[str, str]) -> dict[str, str]:
    return {name: text for name, text in job.items() if name not in MODEL_FIELDS}


def context_of(
    asked: Asked,
    *,
    choice: CurrencyChoice,
    now: datetime,
    slugs: Sequence[str],
    known: LivePrices | None = None,
    is_whole: bool = False,
) -> dict[str, object]:
    """Return what the page, its parts and the blocks on other pages show.

    Two queries, none where the prices are ``known``.
    """
    prices, as_of = known or published_prices(choice.currency)
    answer: Answer | None = None
    if asked.job is not None:
        answer = answer_to(asked, asked.job, slugs=slugs, prices=prices, is_whole=is_whole)
    return _queries(asked, choice) | {
        "choice": choice,
        "asked": asked,
        "form": asked.form,
        "answer": answer,
        "as_of": as_of,
        "is_stale": as_of is not None and now - as_of > STALE_AFTER,
        "now": now,
        "is_whole": is_whole,
    }
