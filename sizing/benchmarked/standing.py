"""How far an answer can be trusted: the one word that every page shows beside a figure."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import StrEnum

from sizing.csv_tables import Source


class Standing(StrEnum):
    """Measured was read off a run; estimated has a stated error; indicative has none."""

    MEASURED = "measured"
    ESTIMATED = "estimated"
    INDICATIVE = "indicative"


class Confidence(StrEnum):
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


# A trust rule of the evidence, not a statistic: fewer than five submissions say little.
MEDIUM_FROM = 5
HIGH_FROM = 30


def confidence_of(submissions: int) -> Confidence:
    """Say how far to trust the median of so many submissions."""
    if submissions < MEDIUM_FROM:
        return Confidence.LOW
    return Confidence.MEDIUM if submissions < HIGH_FROM else Confidence.HIGH


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A figure with what it rests on. ``error_percent`` is None where no error can be stated."""

    value: Decimal
    unit: str
    standing: Standing
    confidence: Confidence
    error_percent: int | None = None
    source: Source | None = None
    note: str = ""


def source_of(row: Mapping[str, str]) -> Source:
    """Return the source of a table's row that has ``source`` and ``read_on`` or ``held_on``."""
    held_on = row["read_on"] if "read_on" in row else row["held_on"]
    return Source(url=row["source"], held_on=date.fromisoformat(held_on))
