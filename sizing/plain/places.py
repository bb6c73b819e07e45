"""Where a job is to run and what that costs, from plain values: cards, numbers of cards, prices."""

import csv
import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from io import StringIO
from typing import Final

from sizing.bounds import InputError
from sizing.cards import Card, all_cards
from sizing.plain.jobs import job_from
from sizing.plain.values import is_given, read_whole, unknown_choice, unknown_name
from sizing.planning.placing import COUNTS, Job

MICRO_PER_UNIT: Final = 1_000_000
# Per GPU and hour; nobody asks for more.
MOST_PRICE: Final = 10_000
PRICES_COLUMNS: Final = ("slug", "gpus", "price")
_PRICE: Final = re.compile(r"[0-9]{1,6}(?:[.][0-9]{1,6})?")
_SIZED: Final = re.compile(r"(?P<slug>.+)x(?P<gpus>[0-9]{1,4})")
_PARALLEL: Final = ("tensor_parallel", "pipeline_parallel")
_OF_PLACE: Final = ("card", "gpus")


def cards_from(value: object) -> tuple[Card, ...]:
    """Return the named cards once each, in the order given; none where nobody named one."""
    cards = all_cards()
    found = {}
    for name in _items(value):
        slug = name.strip().lower() if isinstance(name, str) else ""
        if slug not in cards:
            raise unknown_name("card", name, cards)
        found[slug] = cards[slug]
    return tuple(found.values())


def counts_from(value: object) -> tuple[int, ...]:
    """Return the numbers of cards to try, those that one server holds where nobody said."""
    counts = {read_whole("gpus", each) for each in _items(value)}
    for count in counts:
        if count not in COUNTS:
            raise unknown_choice("gpus", str(count), [str(each) for each in COUNTS])
    return tuple(sorted(counts)) or COUNTS


def gpus_from(value: object) -> int:
    """Return one number of cards, 1 where nobody said."""
    return read_whole("gpus", value) if is_given(value) else 1


def job_to_place(values: Mapping[str, object], *, gpus: int | None = None) -> Job:
    """Return the job of values that also say where it is to run.

    How several cards share it is left to whoever places it, unless the values say so. ``gpus`` is
    the one number of cards, None where several are tried.
    """
    rest = {name: value for name, value in values.items() if name not in _OF_PLACE}
    named = [name for name in _PARALLEL if is_given(values.get(name))]
    if named:
        together = 1
        for name in named:
            together *= read_whole(name, values[name])
        rest["gpus"] = gpus or together
    return job_from(rest)


def prices_from(texts: Iterable[str]) -> dict[tuple[str, int], int]:
    """Return prices per GPU and hour, in micro-units, from texts such as ``rtx-4090=0.33``.

    A price without a number of cards, as in ``rtx-4090x8=0.30``, holds for every number.
    """
    prices: dict[tuple[str, int], int] = {}
    for text in texts:
        name, equals, price = text.partition("=")
        slug, gpus = _sized(name.strip().lower())
        if not equals or not name.strip():
            raise _not_price(text)
        _add(prices, slug=slug, gpus=gpus, price_micro=_micro(price.strip(), text))
    return prices


def prices_of_file(content: bytes) -> dict[tuple[str, int], int]:
    """Return the prices of a table with the columns slug, gpus and price.

    Raises
    ------
    InputError
        The table is not one, with the line.
    """
    prices: dict[tuple[str, int], int] = {}
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise _bad_line(1) from None
    reader = csv.DictReader(StringIO(text))
    if not {"slug", "price"} <= set(reader.fieldnames or ()):
        raise _bad_line(1)
    for row in reader:
        try:
            gpus = read_whole("gpus", row["gpus"]) if is_given(row.get("gpus")) else None
            price_micro = _micro((row["price"] or "").strip(), "")
            _add(prices, slug=(row["slug"] or "").strip(), gpus=gpus, price_micro=price_micro)
        except InputError:
            raise _bad_line(reader.line_num) from None
    return prices


def _items(value: object) -> list[object]:
    """Return what a list holds, or a text divides by commas; of texts in a list both."""
    if not is_given(value):
        return []
    items: list[object] = []
    for each in value if isinstance(value, (list, tuple)) else (value,):
        if isinstance(each, str):
            items += [part for part in each.split(",") if part.strip()]
        else:
            items.append(each)
    return items


def _sized(name: str) -> tuple[str, int | None]:
    sized = _SIZED.fullmatch(name)
    if name in all_cards() or sized is None:
        return name, None
    return sized["slug"], read_whole("gpus", sized["gpus"])


def _micro(price: str, text: str) -> int:
    if not _PRICE.fullmatch(price) or not 0 < Decimal(price) <= MOST_PRICE:
        raise _not_price(text)
    return int(Decimal(price) * MICRO_PER_UNIT)


def _add(
    prices: dict[tuple[str, int], int], *, slug: str, gpus: int | None, price_micro: int
) -> None:
    if slug not in all_cards():
        raise unknown_name("price", slug, all_cards())
    if gpus is not None:
        prices[slug, gpus] = price_micro
        return
    for count in COUNTS:
        prices.setdefault((slug, count), price_micro)


def _not_price(text: str) -> InputError:
    return InputError(field="price", problem="not_price", values={"given": text})


def _bad_line(line: int) -> InputError:
    return InputError(field="prices", problem="not_prices_file", values={"line": line})
