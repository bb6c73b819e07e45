"""The smallest single change that makes a job fit.

Changes are tried in the order of the harm they do; the first that fits is told, and of a figure the
least reduction. Training: the loss in pieces, then never written out; activations computed again;
attention that does not write its scores; a smaller micro-batch, with as many more steps of
accumulation; an optimizer in 8 bits; adapters instead of all weights, then beside 4-bit weights; a
shorter sequence; more cards. Serving: a narrower cache; narrower weights down to 4 bits; fewer
requests; a shorter context; more cards. Lengths are not cut to less than a quarter: that would be
another job.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from typing import Final, NamedTuple

from sizing.bounds import InputError
from sizing.cards import Card
from sizing.planning.backwards import longest_tokens, most_requests, with_tokens
from sizing.planning.halving import largest_passing
from sizing.planning.placing import COUNTS, Job, Placed, place
from sizing.serving.formats import KV_BITS, KvFormat, weight_format_by_slug
from sizing.serving.job import ServingJob, can_load, check_serving_job
from sizing.serving.memory import all_weight_bytes
from sizing.training.choices import (
    BITS,
    Attention,
    Checkpointing,
    Loss,
    Method,
    Optimizer,
    Quantization,
)
from sizing.training.job import TrainingJob

# Lengths are cut to whole multiples of this, where they are longer.
LENGTH_STEP_TOKENS: Final = 128
LEAST_LENGTH_SHARE: Final = 4
# Formats that people serve in, the widest first; narrower ones than 4 bits cost too much quality.
_USUAL_WEIGHTS: Final = (
    "int8",
    "fp8",
    "int4-g128",
    "nf4",
    "nf4-dq",
    "q8-0",
    "q6-k",
    "q5-k-m",
    "q4-k-m",
    "q4-k-s",
)

_LEANER_LOSS: Final = (Loss.EAGER, Loss.CHUNKED, Loss.FUSED)
_LEANER_CHECKPOINTING: Final = (
    Checkpointing.NONE,
    Checkpointing.SELECTIVE,
    Checkpointing.FULL,
    Checkpointing.OFFLOADED,
)
_LEANER_METHOD: Final = (Method.FULL, Method.LORA, Method.QLORA)
_LEANER_OPTIMIZER: Final = {
    Optimizer.ADAMW: (Optimizer.ADAMW_8BIT, Optimizer.PAGED_ADAMW_8BIT),
    Optimizer.MUON: (Optimizer.ADAMW_8BIT, Optimizer.PAGED_ADAMW_8BIT),
    Optimizer.ADAMW_8BIT: (Optimizer.PAGED_ADAMW_8BIT,),
    Optimizer.LION: (Optimizer.LION_8BIT,),
}


class Change(NamedTuple):
    """A change by its key, the figures for its sentence, and the job that then fits.

    ``values`` name what was "before" and is "after"; a smaller micro-batch also names the
    "accumulation" that keeps the batch of a step. ``placed.job`` is the changed job.
    """

    key: str
    values: tuple[tuple[str, int | str], ...]
    placed: Placed


class _Try(NamedTuple):
    key: str
    values: tuple[tuple[str, int | str], ...]
    job: Job
    gpus: int


def smallest_change(job: Job, card: Card, *, gpus: int) -> Change | None:
    """Return the least harmful change; None when the job fits as it is, or no one change helps."""
    if place(job, card, gpus=gpus).fits:
        return None
    for each in _tries(job, card, gpus=gpus):
        placed = place(each.job, card, gpus=each.gpus)
        if placed.fits:
            return Change(each.key, each.values, placed)
    return None


def _tries(job: Job, card: Card, *, gpus: int) -> Iterator[_Try]:
    if isinstance(job, TrainingJob):
        own = chain(
            _kinder_training(job, gpus=gpus),
            _smaller_batch(job, card, gpus=gpus),
            _harsher_training(job, gpus=gpus),
            _shorter("sequence_tokens", job, card, gpus=gpus),
        )
    else:
        own = chain(
            _narrower(job, gpus=gpus),
            _fewer_requests(job, card, gpus=gpus),
            _shorter("context_tokens", job, card, gpus=gpus),
        )
    yield from own
    for count in COUNTS:
        if count > gpus:
            yield _Try("gpus", _values(gpus, count), job, count)


def _kinder_training(job: TrainingJob, *, gpus: int) -> Iterator[_Try]:
    """Yield changes that leave the result of training as it is."""
    for loss in _LEANER_LOSS[_LEANER_LOSS.index(job.loss) + 1 :]:
        yield _Try("loss", _values(job.loss, loss), replace(job, loss=loss), gpus)
    place_in_list = _LEANER_CHECKPOINTING.index(job.checkpointing)
    for kind in _LEANER_CHECKPOINTING[place_in_list + 1 :]:
        changed = replace(job, checkpointing=kind)
        yield _Try("checkpointing", _values(job.checkpointing, kind), changed, gpus)
    if job.attention is Attention.EAGER:
        changed = replace(job, attention=Attention.FLASH)
        yield _Try("attention", _values(job.attention, Attention.FLASH), changed, gpus)


def _smaller_batch(job: TrainingJob, card: Card, *, gpus: int) -> Iterator[_Try]:
    """Yield a smaller micro-batch, with more of them a step where it may accumulate."""

    def changed(batch: int) -> TrainingJob:
        steps = -(-job.accumulation * job.micro_batch // batch)
        may_accumulate = job.method is not Method.FULL or not job.is_fused_step
        return replace(job, micro_batch=batch, accumulation=steps if may_accumulate else 1)

    batch = largest_passing(
        lambda tried: place(changed(tried), card, gpus=gpus).fits, most=job.micro_batch - 1
    )
    if batch:
        tried = changed(batch)
        values = (*_values(job.micro_batch, batch), ("accumulation", tried.accumulation))
        yield _Try("micro_batch", values, tried, gpus)


def _harsher_training(job: TrainingJob, *, gpus: int) -> Iterator[_Try]:
    """Yield other optimizers, other methods, and narrower frozen weights."""
    for optimizer in _LEANER_OPTIMIZER.get(job.optimizer, ()):
        changed = replace(job, optimizer=optimizer)
        yield _Try("optimizer", _values(job.optimizer, optimizer), changed, gpus)
    for method in _LEANER_METHOD[_LEANER_METHOD.index(job.method) + 1 :]:
        yield _Try("method", _values(job.method, method), replace(job, method=method), gpus)
    leanest = Quantization.NF4_DOUBLE
    if job.method is Method.QLORA and BITS[job.quantization] > BITS[leanest]:
        changed = replace(job, quantization=leanest)
        yield _Try("quantization", _values(job.quantization, leanest), changed, gpus)


def _shorter(key: str, job: Job, card: Card, *, gpus: int) -> Iterator[_Try]:
    """Yield the longest text that fits, if it is a quarter of the wanted one at least."""
    wanted = job.sequence_tokens if isinstance(job, TrainingJob) else job.context_tokens
    longest = min(longest_tokens(job, card, gpus=gpus), wanted - 1)
    if longest > LENGTH_STEP_TOKENS:
        longest -= longest % LENGTH_STEP_TOKENS
    if longest * LEAST_LENGTH_SHARE >= wanted:
        yield _Try(key, _values(wanted, longest), with_tokens(job, longest), gpus)


def _narrower(job: ServingJob, *, gpus: int) -> Iterator[_Try]:
    """Yield narrower caches, then narrower weights, the widest of each first."""
    caches = (each for each in KvFormat if KV_BITS[each] < KV_BITS[job.kv_format])
    for cache in sorted(caches, key=lambda each: -KV_BITS[each]):
        changed = replace(job, kv_format=cache)
        if _is_possible(changed):
            yield _Try("kv_format", _values(job.kv_format, cache), changed, gpus)
    whole = all_weight_bytes(job)
    for slug in _USUAL_WEIGHTS:
        weights = weight_format_by_slug(slug)
        changed = replace(job, weights=weights)
        if can_load(job.engine, weights) and all_weight_bytes(changed) < whole:
            yield _Try("weights", _values(job.weights.slug, slug), changed, gpus)


def _is_possible(job: ServingJob) -> bool:
    try:
        check_serving_job(job)
    except InputError:
        return False
    return True


def _fewer_requests(job: ServingJob, card: Card, *, gpus: int) -> Iterator[_Try]:
    most = most_requests(job, card, gpus=gpus)
    if most:
        yield _Try("requests", _values(job.requests, most), replace(job, requests=most), gpus)


def _values(before: int | str, after: int | str) -> tuple[tuple[str, int | str], ...]:
    """Return both as plain values, not as members of enumerations."""
    old, new = (each if isinstance(each, int) else str(each) for each in (before, after))
    return (("before", old), ("after", new))
