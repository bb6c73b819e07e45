"""Everything that the page tells about a job: how much, on what, at what price, and why."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Final

from catalog.calculator.evidence import NearRun, PublishedError, nearest_run, published_error
from catalog.calculator.reading import Asked, Job
from catalog.calculator.rows import Verdicts, verdicts_on
from catalog.calculator.savings import Weighing, weighed
from catalog.calculator.terms import BarPart, ShownTerm, bar_parts, shown_terms
from catalog.calculator.words import LEFT_OUT, assumption_text
from sizing.cards import Card, all_cards
from sizing.estimates import MARGIN_PERCENT, Estimate
from sizing.planning.backwards import Backwards, backwards
from sizing.serving.memory import estimate_serving
from sizing.training.job import TrainingJob
from sizing.training.memory import estimate_training
from sizing.units import GB

# The memories that backwards answers are given for, in GB.
BACKWARDS_GB: Final = (24, 48, 80, 141)
TOGETHER: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class BackwardsRow:
    """What fits at most on so many cards of one size."""

    memory_gb: int
    gpus: int
    most: Backwards


@dataclass(frozen=True, kw_only=True)
class Answer:
    """The whole answer to one job; ``slugs`` are the cards that are listed."""

    job: Job
    slugs: tuple[str, ...]
    estimate: Estimate
    parts: tuple[BarPart, ...]
    low_gb: Decimal
    high_gb: Decimal
    weighing: Weighing
    verdicts: Verdicts
    terms: tuple[ShownTerm, ...]
    error: PublishedError | None
    near: NearRun | None
    left_out: tuple[str, ...]
    assumptions: tuple[str, ...]
    margin_percent: int = MARGIN_PERCENT

    @property
    def is_training(self) -> bool:
        return isinstance(self.job, TrainingJob)

    @cached_property
    def back(self) -> tuple[BackwardsRow, ...]:
        """What fits at most: half of all the work, so done for the page that shows it alone."""
        return tuple(_backwards(self.job, self.estimate, slugs=self.slugs))


def estimate_of(job: Job) -> Estimate:
    return estimate_training(job) if isinstance(job, TrainingJob) else estimate_serving(job)


def answer_to(
    asked: Asked,
    job: Job,
    *,
    slugs: Sequence[str],
    prices: Mapping[tuple[str, int], int],
    is_whole: bool = False,
) -> Answer:
    """Return the answer; ``slugs`` are the listed cards, ``prices`` what an hour of them costs."""
    estimate = estimate_of(job)
    return Answer(
        job=job,
        slugs=tuple(slugs),
        estimate=estimate,
        parts=tuple(bar_parts(estimate)),
        low_gb=Decimal(estimate.low_bytes) / GB,
        high_gb=Decimal(estimate.high_bytes) / GB,
        weighing=weighed(job, estimate),
        verdicts=verdicts_on(asked, job, slugs=slugs, prices=prices, is_whole=is_whole),
        terms=tuple(shown_terms(job, estimate)),
        error=published_error(job),
        near=nearest_run(job),
        left_out=tuple(str(LEFT_OUT.get(key, key)) for key in estimate.left_out),
        assumptions=tuple(assumption_text(each) for each in job.model.assumptions),
    )


def _backwards(job: Job, estimate: Estimate, *, slugs: Sequence[str]) -> list[BackwardsRow]:
    """Return the most that fits on one card of each size; on eight where one holds nothing."""
    largest = BACKWARDS_GB[-1] * GB
    gpus = 1 if estimate.peak_bytes <= largest else TOGETHER
    cards = [card for size in BACKWARDS_GB if (card := _card_of(size, slugs)) is not None]
    return [
        BackwardsRow(memory_gb=card.memory_gb, gpus=gpus, most=backwards(job, card, gpus=gpus))
        for card in cards
    ]


def _card_of(memory_gb: int, slugs: Sequence[str]) -> Card | None:
    known = all_cards()
    cards = (known[slug] for slug in slugs if slug in known)
    return next((card for card in cards if card.memory_gb == memory_gb), None)
