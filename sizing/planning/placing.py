"""One job on one card model and a number of its cards, which stand together in one server.

Ways to share a job, in the order in which they are tried; the first that fits is taken:

    training   a whole copy on each card (DDP), weights divided (FSDP)
    serving    every layer divided (tensor), where the heads divide; whole layers (layers)

A way that the job names is the only one. Engines that do not divide layers split them. Where none
fits, the way that needs least is taken, fewer cards included while the others idle, so that more
cards never turn a fit into a refusal; if that does not fit either, it tells what is missing.

The estimate does not depend on the card, so ways are reckoned once for all cards. Engines that
reserve a share of the card must find room in that share.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from enum import StrEnum
from typing import Final, NamedTuple, TypeAlias

from sizing.cards import Card
from sizing.estimates import MARGIN_PERCENT, Estimate, verdict_on
from sizing.fits import Verdict
from sizing.serving.job import RESERVING_ENGINES, ServingJob
from sizing.serving.job import Split as ServingSplit
from sizing.serving.memory import estimate_serving
from sizing.training.choices import Offload, Sharding
from sizing.training.job import TrainingJob
from sizing.training.memory import estimate_training

Job: TypeAlias = TrainingJob | ServingJob

# Cards that one server holds and that an offer sells together.
COUNTS: Final = (1, 2, 4, 8)
# More cards do not divide a layer, as in the bounds of tensor parallelism.
MOST_TENSOR_CARDS: Final = 64
# Engines whose usual way over several cards divides every layer; others hold layers whole.
TENSOR_ENGINES: Final = RESERVING_ENGINES


class Sharing(StrEnum):
    """How several cards share one job."""

    ONE = "one"
    DDP = "ddp"
    ZERO1 = "zero1"
    ZERO2 = "zero2"
    ZERO3 = "zero3"
    FSDP = "fsdp"
    TENSOR = "tensor"
    LAYERS = "layers"


class Plan(NamedTuple):
    """One way to run a job, before any card is chosen. ``job`` says how many cards work."""

    job: Job
    working: int
    split: Sharing
    estimate: Estimate


class Plans(NamedTuple):
    """The ways for one number of cards, and the leanest of them and of all ways with fewer."""

    own: tuple[Plan, ...]
    leanest: Plan


class Placed(NamedTuple):
    """One job on ``gpus`` cards of a model. ``estimate`` is that of the fullest card.

    ``missing_bytes`` is how much more memory each card would need, margin included; 0 when it
    fits. ``split`` is a value of `Sharing`; ``job`` the job as it is run, with the number of cards
    that work.
    """

    card: Card
    gpus: int
    verdict: Verdict
    estimate: Estimate
    missing_bytes: int
    split: Sharing
    job: Job

    @property
    def fits(self) -> bool:
        return self.verdict is not Verdict.NO

    @property
    def working(self) -> int:
        """Cards that work; fewer than ``gpus`` where the others would only be in the way."""
        return working_cards(self.job)


def working_cards(job: Job) -> int:
    """Return how many cards a job is set up for."""
    return job.cards if isinstance(job, TrainingJob) else job.gpus


def place(job: Job, card: Card, *, gpus: int) -> Placed:
    """Return the job on so many cards, whatever number of cards the job itself names."""
    own = tuple(plans_with_all(job, cards=gpus))
    chosen = _first_fitting(own, card)
    if chosen is None:
        fewer = (plan for part in _divisors(gpus)[1:] for plan in plans_with_all(job, cards=part))
        chosen = _leanest((*own, *fewer))
    return _placed(chosen, card, gpus=gpus)


def plans_by_count(job: Job, *, counts: Iterable[int]) -> dict[int, Plans]:
    """Return the ways for each number of cards; each way is reckoned once."""
    wanted = tuple(counts)
    all_counts = {part for count in wanted for part in _divisors(count)}
    own = {count: tuple(plans_with_all(job, cards=count)) for count in all_counts}
    return {
        count: Plans(own[count], _leanest(plan for part in _divisors(count) for plan in own[part]))
        for count in wanted
    }


def choose(plans: Plans, card: Card, *, gpus: int) -> Placed:
    """Return the first way that fits a card, else the one that needs least."""
    return _placed(_first_fitting(plans.own, card) or plans.leanest, card, gpus=gpus)


def _first_fitting(plans: Iterable[Plan], card: Card) -> Plan | None:
    memory = card.memory_bytes
    for plan in plans:
        if verdict_of(plan, memory_bytes=memory) is not Verdict.NO:
            return plan
    return None


def _leanest(plans: Iterable[Plan]) -> Plan:
    return min(plans, key=lambda plan: plan.estimate.peak_bytes)


def _placed(plan: Plan, card: Card, *, gpus: int) -> Placed:
    memory = card.memory_bytes
    verdict = verdict_of(plan, memory_bytes=memory)
    missing = needed_memory_bytes(plan) - memory if verdict is Verdict.NO else 0
    return Placed(card, gpus, verdict, plan.estimate, missing, plan.split, plan.job)


def verdict_of(plan: Plan, *, memory_bytes: int) -> Verdict:
    """Say whether a way fits a card with so much memory."""
    peak = plan.estimate.peak_bytes
    verdict = verdict_on(peak_bytes=peak, memory_bytes=memory_bytes)
    if verdict is Verdict.NO or peak * 100 <= memory_bytes * _usable_percent(plan.job):
        return verdict
    return Verdict.NO


def needed_memory_bytes(plan: Plan) -> int:
    """Return the least memory of a card on which a way fits, rounded up to a byte."""
    peak = plan.estimate.peak_bytes
    with_margin = -(-peak * (100 + MARGIN_PERCENT) // 100)
    return max(with_margin, -(-peak * 100 // _usable_percent(plan.job)))


def plans_with_all(job: Job, *, cards: int) -> Iterator[Plan]:
    """Yield the ways to let so many cards work, in the order in which they are tried."""
    if isinstance(job, TrainingJob):
        for training, split in _training_ways(job, cards=cards):
            yield Plan(training, cards, split, estimate_training(training))
        return
    for serving, way in _serving_ways(job, cards=cards):
        yield Plan(serving, cards, way, estimate_serving(serving))


def _training_ways(job: TrainingJob, *, cards: int) -> Iterator[tuple[TrainingJob, Sharing]]:
    """Yield ways; divided layers or stages that the number of cards does not allow are left out."""
    together = job.tensor_parallel * job.pipeline_parallel
    tensor, pipeline = job.tensor_parallel, job.pipeline_parallel
    if cards % together:
        tensor = pipeline = 1
    base = replace(job, cards=cards, tensor_parallel=tensor, pipeline_parallel=pipeline)
    if base.data_parallel == 1:
        split = Sharing.TENSOR if tensor > 1 else Sharing.LAYERS
        yield base, Sharing.ONE if cards == 1 else split
        return
    for sharding in _shardings(job):
        yield replace(base, sharding=sharding), Sharing(sharding.value)


def _shardings(job: TrainingJob) -> tuple[Sharding, ...]:
    if job.sharding is not Sharding.NONE:
        return (job.sharding,)
    if job.offload is Offload.ALL:
        return (Sharding.FSDP,)
    return (Sharding.DDP, Sharding.FSDP)


def _serving_ways(job: ServingJob, *, cards: int) -> Iterator[tuple[ServingJob, Sharing]]:
    if cards == 1:
        yield replace(job, gpus=1), Sharing.ONE
        return
    is_named = job.gpus > 1
    may_divide = job.split is ServingSplit.TENSOR and (is_named or job.engine in TENSOR_ENGINES)
    if may_divide and cards <= MOST_TENSOR_CARDS and job.model.heads % cards == 0:
        yield replace(job, gpus=cards, split=ServingSplit.TENSOR), Sharing.TENSOR
    if cards <= job.model.layers:
        yield replace(job, gpus=cards, split=ServingSplit.LAYERS), Sharing.LAYERS


def _divisors(count: int) -> tuple[int, ...]:
    """Return the divisors of a number of cards, the number itself first."""
    return tuple(part for part in range(count, 0, -1) if count % part == 0)


def _usable_percent(job: Job) -> int:
    """Return the share of a card that the engine may take."""
    if isinstance(job, ServingJob) and job.engine in RESERVING_ENGINES:
        return job.utilization_percent
    return 100
