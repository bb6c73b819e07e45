"""Serving a language model: what fits, and the speed that no card can pass.

Indicative capacity: the largest model whose weights take 80 % of the memory, at 2.0 bytes per
parameter in 16 bits, 1.1 in 8 bits and 0.62 in 4 bits. The budgets are the dearest of the usual
formats: 8.5 bits with their scales in 8 bits, 4.9 in 4 bits, since embeddings and a few layers
stay wider. Rounded down like the capacity for training. The fifth that stays free is for the KV
cache, the activations and the runtime. Left out: how long the contexts are and how many requests
run at once, which is what fills that fifth; parallel requests with long contexts need more.

Bound of the speed: for each token of one request every weight is read once, so bandwidth divided
by the bytes read is more than any run reaches. Left out: the KV cache, which is read too, and all
the work of computing. Runs in the table of measurements reach 42 to 87 % of it. Several requests
at once share one reading of the weights, so the bound holds for one request alone.
"""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import IntEnum
from functools import cache
from types import MappingProxyType
from typing import Final

from sizing.capacity import MEMORY_SHARE_PERCENT, rounded_down_b
from sizing.csv_tables import Source, table_rows
from sizing.shapes.language_models import all_language_models
from sizing.units import BILLION, GB


class WeightBits(IntEnum):
    """How wide the weights are stored."""

    SIXTEEN = 16
    EIGHT = 8
    FOUR = 4


# Hundredths of a byte, so that 0.62 byte stays an exact integer.
BYTES_HUNDREDTHS_PER_PARAMETER = {
    WeightBits.SIXTEEN: 200,
    WeightBits.EIGHT: 110,
    WeightBits.FOUR: 62,
}
HUNDREDTHS = 100
# The model of the bound and of the measurements: the one that most cards were measured with.
REFERENCE_MODEL: Final = "llama-3-8b"
BYTES_PER_16_BIT_PARAMETER = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredDecode:
    """Tokens per second of one request, as somebody measured them on a card."""

    slug: str
    device: str
    tokens_per_second: Decimal
    source: Source


def servable_parameters_b(*, memory_bytes: int, bits: WeightBits) -> int:
    """Return the largest model to serve, in billions of parameters, rounded down."""
    assert memory_bytes >= 0
    budget = memory_bytes * MEMORY_SHARE_PERCENT // 100 * HUNDREDTHS
    return rounded_down_b(budget // (BYTES_HUNDREDTHS_PER_PARAMETER[bits] * BILLION))


def reference_read_bytes() -> int:
    """Return the bytes that the reference model reads for one token, in 16 bits."""
    model = all_language_models()[REFERENCE_MODEL]
    return model.read_parameters * BYTES_PER_16_BIT_PARAMETER


def decode_bound_tokens_per_s(*, bandwidth_gb_per_s: Decimal, read_bytes: int) -> int:
    """Return a speed that one request cannot pass, rounded up: a bound must not understate."""
    assert read_bytes > 0
    exact = bandwidth_gb_per_s * GB / read_bytes
    return int(exact.to_integral_value(rounding="ROUND_CEILING"))


@cache
def measured_decodes() -> MappingProxyType[str, MeasuredDecode]:
    """Return the measured speeds by card: the reference model in 16 bits, one request."""
    return MappingProxyType({row["slug"]: _measured(row) for row in table_rows("decode.csv")})


def _measured(row: dict[str, str]) -> MeasuredDecode:
    return MeasuredDecode(
        slug=row["slug"],
        device=row["device"],
        tokens_per_second=Decimal(row["tokens_per_second"]),
        source=Source(url=row["source"], held_on=date.fromisoformat(row["measured_on"])),
    )
