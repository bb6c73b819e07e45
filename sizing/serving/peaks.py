"""The rate of 16-bit matrix products of a card: the maker's, and the best that anybody measured."""

from functools import cache
from types import MappingProxyType
from typing import Final

from sizing.cards import Card
from sizing.csv_tables import table_rows
from sizing.serving.job import Engine

TERA: Final = 10**12
# Rates of tensor cores against 32-bit ones since Ampere, where the card's own figure was not read:
# four times with 16-bit sums; consumer cards halve it with 32-bit sums. Ratio of the read figures.
TENSOR_RATIO: Final = 4
CONSUMER_RATIO: Final = 2


class UnknownPeakError(LookupError):
    """No rate of 16-bit matrices is known of the card."""


def peak_flops(card: Card, *, engine: Engine) -> float:
    """Return the dense peak of 16-bit matrices, operations per second.

    llama.cpp sums in 16 bits, which consumer cards do twice as fast as in 32; its rows on RTX cards
    agree on one share of that rate (0.3 to 0.4 in 16 bits), and on none of the other.
    """
    read = card.fp16_dense_tflops or card.bf16_dense_tflops
    is_rtx = card.vendor == "NVIDIA" and not card.memory_type.startswith("HBM")
    if is_rtx and card.fp32_tflops is not None and (read is None or engine is Engine.LLAMA_CPP):
        is_halved = card.segment == "consumer" and engine is not Engine.LLAMA_CPP
        return float(card.fp32_tflops) * (CONSUMER_RATIO if is_halved else TENSOR_RATIO) * TERA
    if read is None:
        raise UnknownPeakError(card.slug)
    return float(read) * TERA


@cache
def measured_peaks() -> MappingProxyType[str, float]:
    """Return the best measured rate of large bf16 products by card, operations per second."""
    return MappingProxyType(
        {
            row["slug"]: float(row["bf16_tflops"]) * TERA
            for row in table_rows("matmul_peaks.csv")
            if row["bf16_tflops"]
        }
    )
