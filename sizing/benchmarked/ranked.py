"""The order of cards for one piece of work: the cheapest first, then the fastest."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Generic, TypeVar

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedCard(Generic[Answer]):
    """A card's place.

    ``cost`` is the price of the work in the currency of the prices that were passed in; None
    without a price or without a speed. ``speed`` is work per hour on the cards of the job.
    """

    slug: str
    answer: Answer
    cost: Decimal | None
    speed: Decimal | None


def by_cost(rows: Iterable[RankedCard[Answer]]) -> tuple[RankedCard[Answer], ...]:
    """Order by cost, the fastest first among equals; without a cost by speed, after the others."""
    return tuple(
        sorted(
            rows,
            key=lambda row: (
                row.cost is None,
                row.cost or Decimal(0),
                -(row.speed or Decimal(0)),
                row.slug,
            ),
        )
    )


def by_speed(rows: Iterable[RankedCard[Answer]]) -> tuple[RankedCard[Answer], ...]:
    """Order by speed, the fastest first; cards without a speed last."""
    return tuple(sorted(rows, key=lambda row: (-(row.speed or Decimal(0)), row.slug)))
