"""What the calculator's page, its parts and its blocks on other pages show."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from urllib.parse import urlencode

from catalog.calculator.answer import Answer, answer_to
from catalog.calculator.presets import CARD_PRESET, USE_CASE_PRESETS
from catalog.calculator.reading import SORTS, Asked, job_query, read_asked
from catalog.forms import CurrencyChoice
from catalog.queries import STALE_AFTER
from catalog.queries_prices import published_prices


def block_of(
    preset: Mapping[str, str], *, choice: CurrencyChoice, now: datetime, slugs: Sequence[str]
) -> dict[str, object]:
    """Return a block with a job of its own, for another page. Two queries."""
    return context_of(read_asked(preset), choice=choice, now=now, slugs=slugs)


def use_case_block(
    key: str, *, choice: CurrencyChoice, now: datetime, slugs: Sequence[str]
) -> dict[str, object] | None:
    """Return the block of a use case; None where no language model is in question."""
    preset = USE_CASE_PRESETS.get(key)
    return None if preset is None else block_of(preset, choice=choice, now=now, slugs=slugs)


def card_block(
    slug: str, *, choice: CurrencyChoice, now: datetime, slugs: Sequence[str]
) -> dict[str, object]:
    """Return the block of a card's page."""
    preset = dict(CARD_PRESET) | {"card": slug}
    return block_of(preset, choice=choice, now=now, slugs=slugs)


def _queries(asked: Asked, choice: CurrencyChoice) -> dict[str, object]:
    """Return the addresses of the page's links: the job, with and without order and currency."""
    job = job_query(asked)
    card = {"card": asked.card_slug} if asked.card_slug else {}
    currency = {"currency": choice.currency.value}
    sort = {} if asked.sort == SORTS[0] else {"sort": asked.sort}
    return {
        "share_query": urlencode(job | card | sort | currency),
        "base_query": urlencode(job | card | currency),
        "sorted_query": urlencode(job | card | sort),
    }


def context_of(
    asked: Asked,
    *,
    choice: CurrencyChoice,
    now: datetime,
    slugs: Sequence[str],
    is_whole: bool = False,
) -> dict[str, object]:
    """Return what the page, its parts and the blocks on other pages show. Two queries."""
    prices, as_of = published_prices(choice.currency)
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
