"""The doors to the use cases: a name, a line, and the lowest price of their cards."""

from dataclasses import dataclass

from django.conf import settings
from django.utils.translation import get_language

from catalog.content.use_cases import UseCaseText, use_case_keys, use_case_text
from catalog.queries import GpuRow
from catalog.use_cases.rows import cheapest_of_each


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """A use case as other pages show it. ``price_micro`` is None when none of its cards is offered."""

    key: str
    text: UseCaseText
    price_micro: int | None


def text_in_use(key: str) -> UseCaseText:
    """Return the text of a use case in the reader's language."""
    return use_case_text(
        key=key,
        language=get_language() or settings.LANGUAGE_CODE,
        site=settings.SITE_NAME,
        programme=settings.SELLER_PROGRAMME_NAME,
    )


def doors(*, rows: dict[str, GpuRow], without: str | None = None) -> list[Door]:
    """Return the doors in the order of the table, all but the page's own."""
    best = cheapest_of_each(rows)
    return [
        Door(key=key, text=text_in_use(key), price_micro=found.price_micro if found else None)
        for key in use_case_keys()
        if key != without
        for found in [best[key]]
    ]
