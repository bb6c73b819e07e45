"""Cards and their table: plain frozen values, every figure with its source, read once."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import cache
from types import MappingProxyType
from typing import Final

from sizing.csv_tables import table_rows
from sizing.nearest import nearest
from sizing.units import GB

# The day on which the sources of the whole table were read.
READ_ON: Final = date(2026, 11, 30)

_TABLE: Final = "gpus.csv"


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """One GPU model as its maker describes it, with the sources of its figures.

    Rates are dense, without sparsity. None means that no source was read, never zero.
    """

    slug: str
    name: str
    vendor: str
    architecture: str
    segment: str
    memory_gb: int
    memory_type: str
    bandwidth_gb_per_s: Decimal
    fp16_dense_tflops: Decimal | None
    bf16_dense_tflops: Decimal | None
    fp8_dense_tflops: Decimal | None
    fp4_dense_tflops: Decimal | None
    tf32_dense_tflops: Decimal | None
    fp32_tflops: Decimal | None
    fp64_tflops: Decimal | None
    tdp_w: int
    nvlink_gb_per_s: Decimal | None
    form_factor: str
    pcie_gen: Decimal
    release_year: int
    source_base: str
    source_tensor: str
    source_nvlink: str
    note: str

    @property
    def memory_bytes(self) -> int:
        return self.memory_gb * GB


class UnknownCardError(LookupError):
    """No card of the table has this slug; ``nearest`` holds similar ones."""

    def __init__(self, slug: str, nearest: tuple[str, ...]) -> None:
        super().__init__(slug)
        self.slug = slug
        self.nearest = nearest


@cache
def all_cards() -> MappingProxyType[str, Card]:
    """Return the whole table by slug, in the order of the file."""
    return MappingProxyType({row["slug"]: _card(row) for row in table_rows(_TABLE)})


def card_by_slug(slug: str) -> Card:
    """Return one card.

    Raises
    ------
    UnknownCardError
        No such slug in the table.
    """
    try:
        return all_cards()[slug]
    except KeyError:
        raise UnknownCardError(slug, nearest(slug, known=all_cards())) from None


def _card(row: dict[str, str]) -> Card:
    return Card(
        slug=row["slug"],
        name=row["name"],
        vendor=row["vendor"],
        architecture=row["architecture"],
        segment=row["segment"],
        memory_gb=int(row["memory_gb"]),
        memory_type=row["memory_type"],
        bandwidth_gb_per_s=Decimal(row["bandwidth_gb_per_s"]),
        fp16_dense_tflops=_rate(row["fp16_dense_tflops"]),
        bf16_dense_tflops=_rate(row["bf16_dense_tflops"]),
        fp8_dense_tflops=_rate(row["fp8_dense_tflops"]),
        fp4_dense_tflops=_rate(row["fp4_dense_tflops"]),
        tf32_dense_tflops=_rate(row["tf32_dense_tflops"]),
        fp32_tflops=_rate(row["fp32_tflops"]),
        fp64_tflops=_rate(row["fp64_tflops"]),
        tdp_w=int(row["tdp_w"]),
        nvlink_gb_per_s=_rate(row["nvlink_gb_per_s"]),
        form_factor=row["form_factor"],
        pcie_gen=Decimal(row["pcie_gen"]),
        release_year=int(row["release_year"]),
        source_base=row["source_base"],
        source_tensor=row["source_tensor"],
        source_nvlink=row["source_nvlink"],
        note=row["note"],
    )


def _rate(cell: str) -> Decimal | None:
    return Decimal(cell) if cell else None
