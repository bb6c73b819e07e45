"""The picture of a book's depth: how many GPUs are asked for and offered up to each price."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from config.pictures.axis import BOX, Axis, around

MARGIN_PERCENT = 8
LEAST_SPAN_MICRO = 100_000
# The highest step stays below the picture's upper edge.
HEADROOM_PERCENT = 8

Order = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Level:
    """What one price adds to its side of the book."""

    price_micro: int
    gpus: int
    cumulative_gpus: int


@dataclass(frozen=True, slots=True)
class Depth:
    """Both sides, best price first; at least one of them has a level."""

    bids: tuple[Level, ...]
    asks: tuple[Level, ...]

    @property
    def prices(self) -> Axis:
        return around(
            (level.price_micro for level in self.bids + self.asks),
            below_percent=MARGIN_PERCENT,
            above_percent=MARGIN_PERCENT,
            at_least=LEAST_SPAN_MICRO,
        )

    @property
    def gpus(self) -> Axis:
        most = max(side[-1].cumulative_gpus for side in (self.bids, self.asks) if side)
        return Axis(0, most + -(-most * HEADROOM_PERCENT // 100))

    def bid_steps(self) -> str:
        return self._steps(self.bids, edge=0)

    def ask_steps(self) -> str:
        return self._steps(self.asks, edge=BOX)

    def _steps(self, levels: Sequence[Level], *, edge: int) -> str:
        """Return stairs that climb from the best price to the picture's ``edge``."""
        if not levels:
            return ""
        prices, gpus = self.prices, self.gpus
        parts = [f"M{prices.place(levels[0].price_micro)} {BOX}"]
        for number, level in enumerate(levels):
            following = levels[number + 1 :]
            end = prices.place(following[0].price_micro) if following else edge
            parts.append(f"V{gpus.height(level.cumulative_gpus)}H{end}")
        return "".join(parts) + f"V{BOX}z"


def depth_of(*, bids: Iterable[Order], asks: Iterable[Order]) -> Depth | None:
    """Return the depth of orders (price in micro-units, GPUs) in any order; None of an empty book."""
    depth = Depth(_levels(bids, is_best_high=True), _levels(asks, is_best_high=False))
    return depth if depth.bids or depth.asks else None


def _levels(orders: Iterable[Order], *, is_best_high: bool) -> tuple[Level, ...]:
    ordered = sorted(orders, key=lambda order: order[0], reverse=is_best_high)
    levels: list[Level] = []
    for price, same in groupby(ordered, key=lambda order: order[0]):
        gpus = sum(order[1] for order in same)
        before = levels[-1].cumulative_gpus if levels else 0
        levels.append(Level(price, gpus, before + gpus))
    return tuple(levels)
