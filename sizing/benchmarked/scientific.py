"""Simulation: a measured throughput that follows the bandwidth, and what FP64 costs.

FluidX3D is a lattice Boltzmann code in FP32; it is bound by memory and reaches about 79 % of the
stated bandwidth (median of 78 cards, from 47 to 92 %). Codes in FP64 follow the FP64 rate instead,
codes in mixed precision neither alone. Left out: everything about one's own code.
"""

from dataclasses import dataclass
from datetime import date
from decimal import ROUND_HALF_UP, Decimal
from functools import cache
from types import MappingProxyType

from sizing.csv_tables import Source, table_rows


@dataclass(frozen=True, slots=True, kw_only=True)
class FluidSpeed:
    """Millions of lattice updates per second of FluidX3D in FP32 on one card."""

    slug: str
    device: str
    mlups: int
    source: Source


@cache
def fluid_speeds() -> MappingProxyType[str, FluidSpeed]:
    """Return the measured speeds by card."""
    return MappingProxyType({row["slug"]: _speed(row) for row in table_rows("fluidx3d.csv")})


def micro_per_tflops(*, price_micro: int, tflops: Decimal) -> int:
    """Return the hourly price of one TFLOPS, in micro-units, half-up: a figure to compare by."""
    assert tflops > 0
    return int((Decimal(price_micro) / tflops).to_integral_value(rounding=ROUND_HALF_UP))


def _speed(row: dict[str, str]) -> FluidSpeed:
    return FluidSpeed(
        slug=row["slug"],
        device=row["device"],
        mlups=int(row["mlups"]),
        source=Source(url=row["source"], held_on=date.fromisoformat(row["published_on"])),
    )
