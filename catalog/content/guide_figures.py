"""The pictures that a guide may show: a paragraph of the text that reads ``[[name]]``.

Each is a few bars whose numbers come from a rule or a table with its source, so that picture and
text cannot drift apart unseen.
"""

import csv
import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from types import MappingProxyType

from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from catalog.content.guide_files import FOLDER
from sizing.benchmarked.rendering import measured_scores
from sizing.cards import all_cards

MARK = re.compile(r"<p>\[\[([a-z0-9-]+)\]\]</p>\n?")
NAMED = re.compile(r"^\[\[(.+)\]\]\s*$", re.MULTILINE)

EXAMPLE_BILLIONS = 7
# Bytes of weights, gradients, 32-bit copy and moments for each parameter.
RECIPES = MappingProxyType(
    {
        16: (2, 2, 4, 8),
        12: (2, 2, 0, 8),
        10: (2, 0, 0, 8),
        8: (2, 2, 0, 4),
        6: (2, 2, 0, 2),
        4: (2, 0, 0, 2),
    }
)
RENDERING_CARDS = (
    "rtx-pro-6000-blackwell",
    "rtx-5090",
    "rtx-4090",
    "l40s",
    "rtx-a6000",
    "a100-pcie-80",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """Bars to draw: a name or a number of tokens, and how much.

    ``is_memory`` says that the amounts are gigabytes.
    """

    label: str
    unit: str
    rows: tuple[tuple[str | int, Decimal], ...]
    is_memory: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A stretch of a guide: clean HTML, or a figure."""

    html: str = ""
    figure: Figure | None = None


def pieces_of(html: SafeString) -> list[Piece]:
    """Split a rendered text at its figures; the name of no figure shows nothing."""
    pieces = []
    for place, part in enumerate(MARK.split(html)):
        if place % 2 == 0:
            # Safe: a part of clean HTML between two whole paragraphs.
            pieces.append(Piece(html=mark_safe(part)))  # noqa: S308  see the line above
        elif part in FIGURES:
            pieces.append(Piece(figure=FIGURES[part]()))
    return [piece for piece in pieces if piece.figure or piece.html]


def unknown_figures(text: str) -> list[str]:
    """Return the names in a Markdown text that no figure has."""
    return [name for name in NAMED.findall(text) if name not in FIGURES]


def _full_training() -> Figure:
    return Figure(
        label=_("Training every weight of a 7B model, before activations"),
        unit=_("Memory"),
        rows=tuple(
            (
                _("%(bytes)s bytes per parameter") % {"bytes": total},
                Decimal(total * EXAMPLE_BILLIONS),
            )
            for total in RECIPES
        ),
        is_memory=True,
    )


def _sequence_length() -> Figure:
    with (FOLDER / "measured_lengths.csv").open(encoding="utf-8") as file:
        rows = [
            (int(row["tokens"]), Decimal(row["peak_memory_gb"])) for row in csv.DictReader(file)
        ]
    return Figure(
        label=_("Measured peak of a 14B model under QLoRA, by length"),
        unit=_("Memory"),
        rows=tuple(rows),
        is_memory=True,
    )


def _rendering_scores() -> Figure:
    return Figure(
        label=_("Blender benchmark, median"),
        unit=_("Samples per minute"),
        rows=tuple(
            (
                all_cards()[slug].name,
                measured_scores()[slug].samples_per_minute.quantize(Decimal(1)),
            )
            for slug in RENDERING_CARDS
        ),
        is_memory=False,
    )


FIGURES: MappingProxyType[str, Callable[[], Figure]] = MappingProxyType(
    {
        "full-training": _full_training,
        "sequence-length": _sequence_length,
        "rendering-scores": _rendering_scores,
    }
)
