"""Reading the package's tables: every figure in them has its source and its date."""

import csv
from dataclasses import dataclass
from datetime import date
from importlib.resources import files


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where figures were read, and the day that they hold for."""

    url: str
    held_on: date


def table_rows(name: str) -> list[dict[str, str]]:
    """Return the rows of ``tables/name`` in the order of the file."""
    text = files("sizing.tables").joinpath(name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))
