"""The rows of a use case's table: its cards with what an hour of them costs now."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from billing.money import Currency
from catalog.content.use_cases import cards_of, columns_of, use_case_keys
from catalog.models import Quote
from catalog.queries import EIGHT_GPUS, GpuRow, cheapest, gpu_rows, listed_gpus
from sizing.cards import Card, card_by_slug

PRICE_OF_EIGHT = "price8"
MAX_COMPARED = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseRow:
    """A card of a use case: its catalogue row, its figures, and the price of eight on one server."""

    row: GpuRow
    card: Card
    eight_micro: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The cards that the page's link puts side by side."""

    slugs: tuple[str, ...]
    are_cheapest: bool


def listed_rows(*, currency: Currency) -> dict[str, GpuRow]:
    """Return every listed model's row by slug, smallest memory first. Two queries."""
    return {row.gpu.slug: row for row in gpu_rows(gpus=listed_gpus(), currency=currency)}


def case_rows(*, key: str, rows: dict[str, GpuRow], currency: Currency) -> list[CaseRow]:
    """Return the rows of the use case ``key`` in the order of ``rows``. At most one query."""
    wanted = frozenset(cards_of(key))
    chosen = [row for slug, row in rows.items() if slug in wanted]
    eight = _prices_of_eight(chosen, currency) if PRICE_OF_EIGHT in columns_of(key) else {}
    return [
        CaseRow(row=row, card=card_by_slug(row.gpu.slug), eight_micro=eight.get(row.gpu.pk))
        for row in chosen
    ]


def cheapest_of_each(rows: dict[str, GpuRow]) -> dict[str, GpuRow | None]:
    """Return the cheapest card of every use case, None where none of its cards is on offer."""
    return {key: cheapest(_present(cards_of(key), rows)) for key in use_case_keys()}


def comparison(rows: Sequence[GpuRow]) -> Comparison:
    """Return up to four cards to compare: the cheapest, or the first ones where too few have a price."""
    priced = [row for row in rows if row.price_micro is not None]
    are_cheapest = len(priced) >= MAX_COMPARED
    if are_cheapest:
        priced.sort(key=lambda row: row.price_micro or 0)
    chosen = priced if are_cheapest else list(rows)
    return Comparison(
        slugs=tuple(row.gpu.slug for row in chosen[:MAX_COMPARED]), are_cheapest=are_cheapest
    )


def _present(slugs: Iterable[str], rows: dict[str, GpuRow]) -> list[GpuRow]:
    wanted = frozenset(slugs)
    return [row for slug, row in rows.items() if slug in wanted]


def _prices_of_eight(rows: Iterable[GpuRow], currency: Currency) -> dict[int, int | None]:
    quotes = Quote.objects.filter(
        gpu_model__in=[row.gpu.pk for row in rows], currency=currency.value, gpus=EIGHT_GPUS
    )
    return dict(quotes.values_list("gpu_model_id", "price_micro"))
