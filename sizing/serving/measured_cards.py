"""The card that a measured row names: sources write one card in many ways."""

from collections.abc import Mapping
from decimal import Decimal
from functools import cache
from types import MappingProxyType
from typing import Final

from sizing.cards import Card, all_cards
from sizing.csv_tables import table_rows

_MAKERS: Final = ("nvidia", "amd", "geforce", "tesla", "radeon", "instinct", "generation", "rtx")
_NO_PCIE: Final = Decimal(5)


def card_named(name: str) -> Card | None:
    """Return the card that a source means, or None; ``RTX 4090 24GB`` is ``rtx-4090``."""
    known = _cards()
    for form in (_plain(name), _plain(_without_size(name))):
        if form and form in known:
            return known[form]
    return None


def _without_size(name: str) -> str:
    words = name.replace("-", " ").split()
    return " ".join(word for word in words if not word.lower().removesuffix("b").endswith("g"))


def _plain(name: str) -> str:
    words = name.lower().replace("-", " ").replace("_", " ").split()
    return "".join(word for word in words if word not in _MAKERS)


@cache
def _cards() -> Mapping[str, Card]:
    named = {_plain(card.name): card for card in all_cards().values()}
    named |= {_plain(slug): card for slug, card in all_cards().items()}
    for row in table_rows("measured_cards.csv"):
        named[_plain(row["name"])] = all_cards()[row["slug"]] if row["slug"] else _described(row)
    return MappingProxyType(named)


def _described(row: dict[str, str]) -> Card:
    """Return a card that was measured but is not among those for rent."""
    rate = Decimal(row["fp16_dense_tflops"])
    return Card(
        slug=row["name"].lower(),
        name=row["name"],
        vendor="NVIDIA",
        architecture=row["architecture"],
        segment=row["segment"],
        memory_gb=int(row["memory_gb"]),
        memory_type=row["memory_type"],
        bandwidth_gb_per_s=Decimal(row["bandwidth_gb_per_s"]),
        fp16_dense_tflops=rate,
        bf16_dense_tflops=rate,
        fp8_dense_tflops=None,
        fp4_dense_tflops=None,
        tf32_dense_tflops=None,
        fp32_tflops=None,
        fp64_tflops=None,
        tdp_w=0,
        nvlink_gb_per_s=None,
        form_factor="",
        pcie_gen=_NO_PCIE,
        release_year=0,
        source_base=row["source"],
        source_tensor="",
        source_nvlink="",
        note=row["note"],
    )
