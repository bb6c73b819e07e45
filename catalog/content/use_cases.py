"""Read a use case's text: a TOML head between ``+++`` lines, then Markdown.

The Markdown has three parts, each a second-level heading: what matters, questions, other uses.
Inside a part every third-level heading opens an item. ``${site}`` and ``${programme}`` stand
for the names of the site and of its seller programme. Raw HTML is not let through.
"""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Template
from typing import Any

from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt

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
    """One use-case page in one language."""

    title: str
    short_title: str
    description: str
    lead: str
    points: Part
    questions: Part
    others: Part


@cache
def use_case_text(*, key: str, language: str, site: str, programme: str) -> UseCaseText:
    """Return the text of the use case ``key``; a missing file is our own mistake."""
    raw = (FOLDER / language / f"{key}.md").read_text(encoding="utf-8")
    filled = Template(raw).substitute(site=site, programme=programme)
    _, head, body = filled.split(HEAD_MARK, 2)
    points, questions, others = (_part(text) for text in body.split(PART_MARK)[1:])
    return UseCaseText(points=points, questions=questions, others=others, **tomllib.loads(head))


@cache
def cards_of(key: str) -> tuple[str, ...]:
    """Return the slugs of the cards that a use case compares."""
    return tuple(_table()[key]["cards"])


@cache
def use_case_keys() -> tuple[str, ...]:
    return tuple(_table())


def _table() -> dict[str, Any]:
    return tomllib.loads((FOLDER / "use_cases.toml").read_text(encoding="utf-8"))


def _part(text: str) -> Part:
    title, *items = text.split(ITEM_MARK)
    return Part(title.strip(), tuple(_item(item) for item in items))


def _item(text: str) -> Item:
    title, _, body = text.partition("\n")
    html = MarkdownIt("commonmark", {"html": False}).render(body)
    # Safe: the text is ours and the renderer escapes every tag.
    return Item(title.strip(), mark_safe(html))  # noqa: S308  rendered above without raw HTML
