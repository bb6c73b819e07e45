"""The orders of the list of GPU models, as a link in a column's head names them.

``sort=memory`` puts small values first, ``sort=-memory`` large ones. A model without the value
stands last in both. Equal values keep the order smallest memory, lowest bandwidth, slug.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal

from catalog.queries_listed import ListedGpu

Value = Decimal | int | str | None
DEFAULT_SORT = "price"


@dataclass(frozen=True, slots=True)
class Order:
    """A column and its direction."""

    key: str
    is_descending: bool

    @property
    def sort(self) -> str:
        """Return the order as the address names it."""
        return f"-{self.key}" if self.is_descending else self.key


def _figure(name: str) -> Callable[[ListedGpu], Value]:
    def value(row: ListedGpu) -> Value:
        text = row.gpu.figures.get(name)
        return Decimal(text) if text else None

    return value


VALUES: dict[str, Callable[[ListedGpu], Value]] = {
    "name": lambda row: row.gpu.name.casefold(),
    "price": lambda row: row.price_micro,
    "memory": lambda row: row.gpu.memory_gb,
    "bandwidth": lambda row: row.gpu.bandwidth_gb_per_s,
    "bf16": _figure("bf16_dense_tflops"),
    "fp32": _figure("fp32_tflops"),
    "qlora": lambda row: row.capacity.qlora_b,
    "lora16": lambda row: row.capacity.lora16_b,
    "offers": lambda row: row.offers or None,
}


def read_order(text: str) -> Order | None:
    """Return the order that ``text`` names; None when no column has this name."""
    key = text.removeprefix("-")
    return Order(key, text.startswith("-")) if key in VALUES else None


def in_order(rows: Iterable[ListedGpu], *, order: Order) -> list[ListedGpu]:
    """Return the rows in ``order``."""
    value = VALUES[order.key]
    steady = sorted(
        rows, key=lambda row: (row.gpu.memory_gb, row.gpu.bandwidth_gb_per_s, row.gpu.slug)
    )
    known = [row for row in steady if value(row) is not None]
    # Python's sort is stable in both directions, so equal values keep the steady order.
    known.sort(key=value, reverse=order.is_descending)  # type: ignore[arg-type]  # None is left out
    return known + [row for row in steady if value(row) is None]
