"""Read a use case: its cards and columns from one table, its text from a file per language.

A text has a TOML head between ``+++`` lines, then Markdown in two parts, each a second-level
heading: what matters, and questions. Inside a part every third-level heading opens an item.
``${site}`` and ``${programme}`` stand for the names of the site and of its seller programme,
``${to_<key>}`` (with ``_`` for ``-``) for the address of a use case in the text's language.
"""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Template
from typing import Any

from django.urls import reverse
from django.utils.safestring import SafeString
from django.utils.translation import override

from marketplace.accounts import markdown

FOLDER = Path(__file__).parent
HEAD_MARK = "+++"
PART_MARK = "\n## "
ITEM_MARK = "\n### "


@dataclass(frozen=True, slots=True)
class Item:
    """A heading and what stands under it, rendered."""

    title: str
    body: SafeString


@dataclass(frozen=True, slots=True)
class Part:
    """A titled list of items."""

    title: str
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class UseCaseText:
    """One use-case page in one language.

    ``door`` is its line on the pages that lead to it; ``note`` says what its table's figures
    rest on and what they leave out.
    """

    title: str
    short_title: str
    description: str
    lead: str
    door: str
    note: str
    points: Part
    questions: Part


@cache
def use_case_text(*, key: str, language: str, site: str, programme: str) -> UseCaseText:
    """Return the text of the use case ``key``; a missing file is our own mistake."""
    raw = (FOLDER / language / f"{key}.md").read_text(encoding="utf-8")
    filled = Template(raw).substitute(_addresses(language), site=site, programme=programme)
    _, head, body = filled.split(HEAD_MARK, 2)
    points, questions = (_part(text) for text in body.split(PART_MARK)[1:])
    return UseCaseText(points=points, questions=questions, **tomllib.loads(head))


@cache
def cards_of(key: str) -> tuple[str, ...]:
    """Return the slugs of the cards that a use case compares."""
    return tuple(_table()[key]["cards"])


@cache
def columns_of(key: str) -> tuple[str, ...]:
    """Return the keys of the columns that a use case's table shows."""
    return tuple(_table()[key]["columns"])


@cache
def use_case_keys() -> tuple[str, ...]:
    return tuple(_table())


@cache
def _table() -> dict[str, Any]:
    return tomllib.loads((FOLDER / "use_cases.toml").read_text(encoding="utf-8"))


def _addresses(language: str) -> dict[str, str]:
    with override(language):
        return {
            f"to_{key.replace('-', '_')}": reverse("catalog:use_case", kwargs={"key": key})
            for key in use_case_keys()
        }


def _part(text: str) -> Part:
    title, *items = text.split(ITEM_MARK)
    return Part(title.strip(), tuple(_item(item) for item in items))


def _item(text: str) -> Item:
    title, _, body = text.partition("\n")
    return Item(title.strip(), markdown.render(body))
