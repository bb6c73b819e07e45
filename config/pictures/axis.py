"""Where a value stands on an axis, and which values deserve a label."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

# The side of the stretched box in which shapes are drawn.
BOX = 1_000
HUNDREDTH = Decimal("0.01")
STEPS = (1, 2, 5)
DEFAULT_LABELS = 4


def share_percent(value: Decimal | int, largest: Decimal | int) -> str:
    """Return ``value`` as a percentage of ``largest``, as SVG writes it, within 0 and 100."""
    if largest <= 0:
        return "0%"
    share = min(max(Decimal(value) / Decimal(largest), Decimal(0)), Decimal(1))
    return f"{(100 * share).quantize(HUNDREDTH, ROUND_HALF_UP).normalize():f}%"


@dataclass(frozen=True, slots=True)
class Axis:
    """A span of whole units, drawn along one side of the box.

    ``low`` is below ``high``.
    """

    low: int
    high: int

    @property
    def span(self) -> int:
        return self.high - self.low

    def place(self, value: int) -> int:
        """Return the distance from the low end, 0 to 1000; the nearest below."""
        return BOX * (value - self.low) // self.span

    def height(self, value: int) -> int:
        """Return the distance from the top, for an axis that points up."""
        return BOX - self.place(value)

    def percent(self, value: int) -> str:
        return share_percent(value - self.low, self.span)

    def labels(self, *, most: int = DEFAULT_LABELS) -> list[int]:
        """Return round values within the axis, evenly spaced: at most ``most`` steps."""
        step = round_step(self.span, most=most)
        first = -(-self.low // step) * step
        return list(range(first, self.high + 1, step))


def around(values: Iterable[int], *, below_percent: int, above_percent: int, at_least: int) -> Axis:
    """Return an axis that holds ``values`` with margins in percent of their span.

    ``at_least`` gives an axis its length when all values are the same. It never goes below zero.
    """
    ordered = sorted(values)
    low, high = ordered[0], ordered[-1]
    span = max(high - low, at_least)
    return Axis(max(low - span * below_percent // 100, 0), high + span * above_percent // 100)


def round_step(span: int, *, most: int) -> int:
    """Return the smallest of 1, 2, 5, 10, 20, … that needs at most ``most`` steps for ``span``."""
    return next(step for step in _round_numbers() if span <= step * most)


def _round_numbers() -> Iterator[int]:
    power = 1
    while True:
        for step in STEPS:
            yield step * power
        power *= 10
