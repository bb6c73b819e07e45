"""Path tracing: Blender's benchmark score of a card, and what a million samples cost.

The score is the median of the submissions to Blender Open Data, in samples per minute over its
three scenes, for one version of Blender; scores of different versions must not be compared. A
card that nobody submitted gets an estimate when it has RT cores: 145 samples per minute for each
TFLOPS in FP32, rounded down to a whole hundred, right within 30 %. (Cards with five or more
submissions lie between 122 and 182; server cards held at low power near 95.) Without RT cores and
without a submission there is no figure. Left out: whether a scene fits into the memory, and how
far a production scene differs from the benchmark's: over farm scenes one card gained 1.6 to 5.1
times on another.
"""

from dataclasses import dataclass
from datetime import date
from decimal import ROUND_HALF_UP, Decimal
from enum import StrEnum
from functools import cache
from types import MappingProxyType

from sizing.cards import Card
from sizing.csv_tables import Source, table_rows

ESTIMATED_SCORE_PER_TFLOPS = 145
ESTIMATE_ERROR_PERCENT = 30
ESTIMATE_STEP = 100
FEW_SUBMISSIONS = 5  # Below it a median says little.
MINUTES_PER_HOUR = 60
MILLION = 10**6


class Basis(StrEnum):
    MEASURED = "measured"
    ESTIMATED = "estimated"


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderScore:
    """A card's score in samples per minute; ``submissions`` is None for an estimate."""

    samples_per_minute: Decimal
    basis: Basis
    submissions: int | None
    source: Source | None

    @property
    def has_few_submissions(self) -> bool:
        return self.submissions is not None and self.submissions < FEW_SUBMISSIONS


@cache
def measured_scores() -> MappingProxyType[str, RenderScore]:
    """Return the measured scores by card."""
    return MappingProxyType({row["slug"]: _measured(row) for row in table_rows("blender.csv")})


@cache
def rt_cores() -> MappingProxyType[str, bool]:
    """Return whether a card has RT cores, by card; one that is not listed was not looked up."""
    return MappingProxyType(
        {row["slug"]: row["has_rt_cores"] == "yes" for row in table_rows("rt_cores.csv")}
    )


def rt_core_sources() -> tuple[Source, ...]:
    """Return where the presence of RT cores was read, each source once."""
    return tuple(
        dict.fromkeys(
            Source(url=row["source"], held_on=date.fromisoformat(row["read_on"]))
            for row in table_rows("rt_cores.csv")
        )
    )


def blender_version() -> str:
    """Return the one version of Blender that all scores come from."""
    (version,) = {row["blender_version"] for row in table_rows("blender.csv")}
    return version


def render_score(card: Card) -> RenderScore | None:
    """Return the card's score, measured or else estimated; None when neither is possible."""
    measured = measured_scores().get(card.slug)
    if measured is not None:
        return measured
    if card.fp32_tflops is None or not rt_cores().get(card.slug, False):
        return None
    exact = card.fp32_tflops * ESTIMATED_SCORE_PER_TFLOPS
    whole = int(exact) // ESTIMATE_STEP * ESTIMATE_STEP
    return RenderScore(
        samples_per_minute=Decimal(whole), basis=Basis.ESTIMATED, submissions=None, source=None
    )


def micro_per_million_samples(*, price_micro: int, samples_per_minute: Decimal) -> int:
    """Return what a million samples cost at an hourly price, in micro-units.

    Rounded half-up: a figure to compare by, which nobody is charged.
    """
    assert samples_per_minute > 0
    exact = Decimal(price_micro) * MILLION / (MINUTES_PER_HOUR * samples_per_minute)
    return int(exact.to_integral_value(rounding=ROUND_HALF_UP))


def _measured(row: dict[str, str]) -> RenderScore:
    return RenderScore(
        samples_per_minute=Decimal(row["median_samples_per_minute"]),
        basis=Basis.MEASURED,
        submissions=int(row["submissions"]),
        source=Source(url=row["source"], held_on=date.fromisoformat(row["captured_on"])),
    )
