"""Picture and video models: the memory that runs were seen to take.

No formula: the peaks depend on what stays resident, on the size of the picture and on the length
of the clip, so the table holds runs with their setting. ``measured`` was read off a run;
``documented`` is an approximate figure of the maker's or the library's documentation. Another
program, picture size or clip length moves the peak.
"""

from dataclasses import dataclass
from datetime import date
from decimal import ROUND_CEILING, Decimal
from enum import StrEnum
from functools import cache
from types import MappingProxyType

from sizing.csv_tables import Source, table_rows
from sizing.units import GB, MIB

BYTES_PER_UNIT = {"GB": GB, "MiB": MIB}
TENTH_GB = Decimal("0.1")


class PeakBasis(StrEnum):
    MEASURED = "measured"
    DOCUMENTED = "documented"


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffusionRun:
    """One run of a model: its setting and its peak of memory on each GPU.

    ``bits`` is None where the source does not say how wide the weights were.
    """

    key: str
    model: str
    task: str
    program: str
    bits: int | None
    size: str
    gpus: int
    is_offloaded: bool
    peak_bytes: int
    basis: PeakBasis
    device: str
    source: Source

    @property
    def peak_gb(self) -> Decimal:
        """GB with one decimal, rounded up: a peak must not be understated."""
        return (Decimal(self.peak_bytes) / GB).quantize(TENTH_GB, ROUND_CEILING)


@cache
def diffusion_runs() -> MappingProxyType[str, DiffusionRun]:
    """Return the runs by key, the smallest peak first."""
    runs = sorted((_run(row) for row in table_rows("diffusion.csv")), key=lambda r: r.peak_bytes)
    return MappingProxyType({run.key: run for run in runs})


def _run(row: dict[str, str]) -> DiffusionRun:
    peak = Decimal(row["value"]) * BYTES_PER_UNIT[row["unit"]]
    return DiffusionRun(
        key=row["key"],
        model=row["model"],
        task=row["task"],
        program=row["program"],
        bits=int(row["bits"]) if row["bits"] else None,
        size=row["size"],
        gpus=int(row["gpus"]),
        is_offloaded=row["is_offloaded"] == "yes",
        peak_bytes=int(peak.to_integral_value(rounding=ROUND_CEILING)),
        basis=PeakBasis(row["basis"]),
        device=row["device"],
        source=Source(url=row["source"], held_on=date.fromisoformat(row["read_on"])),
    )
