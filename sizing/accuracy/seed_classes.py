"""Stated classes of cards, each with the recipe that makes it true by the engine.

Articles say "7B trained whole: two cards of 80 GB" without saying how weights, gradients and states
are kept; between the ten named recipes lies a factor of ten. Each statement of the table
``seed_classes.csv`` is computed for all of them: one text of 2,048 tokens at a time, every layer
computed again, attention that never writes scores out, several cards sharing everything (FSDP).
Nothing here is typed in but the statements; the figures are the engine's.

Left out: how good a model becomes, and how fast.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from types import MappingProxyType
from typing import Final

from sizing.csv_tables import table_rows
from sizing.estimates import verdict_on
from sizing.fits import Verdict
from sizing.shapes.language_models import all_language_models
from sizing.training.choices import RECIPES, Method, Sharding
from sizing.training.job import TrainingJob, with_recipe
from sizing.training.memory import estimate_training
from sizing.units import GB

# The recipe of "16 bytes a parameter": mixed precision, a master copy and both moments in fp32.
CLASSIC_RECIPE: Final = "C"


class Claim(StrEnum):
    """What is stated: within 80 % of the memory, above it, or either."""

    COMFORTABLE = "comfortable"
    TIGHT = "tight"
    FITS = "fits"

    def holds(self, verdict: Verdict) -> bool:
        if self is Claim.FITS:
            return verdict is not Verdict.NO
        wanted = Verdict.COMFORTABLE if self is Claim.COMFORTABLE else Verdict.TIGHT
        return verdict is wanted


class Standing(StrEnum):
    """What the engine says of a statement.

    ``TRUE``: it holds as it is stated. ``TIGHT``: it holds, above 80 % of the memory.
    ``WITH_RECIPE``: it holds with some recipes and not with the classic one. ``NOT``: with none.
    """

    TRUE = "true"
    TIGHT = "tight"
    WITH_RECIPE = "with_recipe"
    NOT = "not"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecipeReading:
    """What one recipe needs of the fullest card. ``recipe`` is empty where adapters are trained."""

    recipe: str
    peak_bytes: int
    verdict: Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class SeedClass:
    """A statement and its reading.

    ``readings`` go from the dearest recipe to the leanest. ``chosen`` is the dearest that makes the
    statement true, or the one that comes nearest where none does.
    """

    key: str
    facts: tuple[int, ...]
    statement: str
    method: Method
    model_slug: str
    cards: int
    card_gb: int
    claim: Claim
    standing: Standing
    chosen: RecipeReading
    readings: tuple[RecipeReading, ...]

    @property
    def true_recipes(self) -> tuple[str, ...]:
        return tuple(r.recipe for r in self.readings if self.claim.holds(r.verdict))

    @property
    def computed_gb(self) -> float:
        """Gigabytes of the fullest card with the chosen recipe."""
        return self.chosen.peak_bytes / GB


@cache
def seed_classes() -> MappingProxyType[str, SeedClass]:
    """Return every statement with its reading, by key."""
    return MappingProxyType(
        {row["key"]: _seed_class(row) for row in table_rows("seed_classes.csv")}
    )


def _seed_class(row: dict[str, str]) -> SeedClass:
    claim = Claim(row["claim"])
    readings = tuple(_readings(_job(row), memory_bytes=int(row["card_gb"]) * GB))
    return SeedClass(
        key=row["key"],
        facts=tuple(int(fact) for fact in row["facts"].split()),
        statement=row["statement"],
        method=Method(row["method"]),
        model_slug=row["model_slug"],
        cards=int(row["cards"]),
        card_gb=int(row["card_gb"]),
        claim=claim,
        standing=_standing(claim, readings),
        chosen=next((r for r in readings if claim.holds(r.verdict)), readings[-1]),
        readings=readings,
    )


def _job(row: dict[str, str]) -> TrainingJob:
    cards = int(row["cards"])
    return TrainingJob(
        model=all_language_models()[row["model_slug"]],
        method=Method(row["method"]),
        cards=cards,
        sharding=Sharding.FSDP if cards > 1 else Sharding.NONE,
    )


def _readings(job: TrainingJob, *, memory_bytes: int) -> Iterable[RecipeReading]:
    if job.method is not Method.FULL:
        yield _reading("", job, memory_bytes=memory_bytes)
        return
    for letter, recipe in RECIPES.items():
        yield _reading(letter, with_recipe(job, recipe), memory_bytes=memory_bytes)


def _reading(letter: str, job: TrainingJob, *, memory_bytes: int) -> RecipeReading:
    peak_bytes = estimate_training(job).peak_bytes
    verdict = verdict_on(peak_bytes=peak_bytes, memory_bytes=memory_bytes)
    return RecipeReading(recipe=letter, peak_bytes=peak_bytes, verdict=verdict)


def _standing(claim: Claim, readings: tuple[RecipeReading, ...]) -> Standing:
    true = [reading for reading in readings if claim.holds(reading.verdict)]
    if not true:
        return Standing.NOT
    as_stated = next((r for r in readings if r.recipe in {"", CLASSIC_RECIPE}), None)
    if as_stated not in true:
        return Standing.WITH_RECIPE
    is_tight = claim is Claim.FITS and true[0].verdict is Verdict.TIGHT
    return Standing.TIGHT if is_tight else Standing.TRUE
