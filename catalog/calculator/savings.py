"""What weighs most in an estimate, and the one change of it that frees most."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from catalog.calculator.reading import Job
from sizing.bounds import InputError
from sizing.estimates import Estimate, Part
from sizing.serving.formats import KvFormat, weight_format_by_slug
from sizing.serving.job import Engine, ServingJob, check_serving_job
from sizing.serving.memory import estimate_serving
from sizing.training.choices import RECIPES, Attention, Checkpointing, Loss, Method, Precision
from sizing.training.job import TrainingJob, check_training_job, with_recipe
from sizing.training.memory import estimate_training

# A change that frees less than this is not worth a sentence.
LEAST_SHARE_PERCENT: Final = 3
# The leanest weights of each engine that most models are published in.
_LEAN_WEIGHTS: Final = {Engine.LLAMA_CPP: "q4-k-m"}
_USUAL_LEAN_WEIGHTS: Final = "int4-g128"


@dataclass(frozen=True, slots=True, kw_only=True)
class Saving:
    """A change by its key, and what is needed after it."""

    key: str
    freed_bytes: int
    peak_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighing:
    """The largest term, and the change that frees most; None where none frees anything much."""

    part: Part
    size_bytes: int
    share_percent: int
    saving: Saving | None


def weighed(job: Job, estimate: Estimate) -> Weighing:
    """Return what weighs most. Changes that alter neither model nor texts come first."""
    largest = max(estimate.terms, key=lambda term: term.size_bytes)
    return Weighing(
        part=largest.part,
        size_bytes=largest.size_bytes,
        share_percent=round(100 * largest.size_bytes / estimate.peak_bytes),
        saving=_best(_harmless(job), estimate) or _best(_others(job), estimate),
    )


def _best(tried: Iterator[tuple[str, Job]], estimate: Estimate) -> Saving | None:
    savings = []
    for key, job in tried:
        peak = _peak(job)
        if peak is not None:
            savings.append(Saving(key=key, freed_bytes=estimate.peak_bytes - peak, peak_bytes=peak))
    best = max(savings, key=lambda saving: saving.freed_bytes, default=None)
    least = estimate.peak_bytes * LEAST_SHARE_PERCENT // 100
    return best if best is not None and best.freed_bytes >= least else None


def _peak(job: Job) -> int | None:
    """Return the peak of a changed job; None where the change makes no job."""
    try:
        if isinstance(job, TrainingJob):
            check_training_job(job)
            return estimate_training(job).peak_bytes
        check_serving_job(job)
        return estimate_serving(job).peak_bytes
    except InputError:
        return None


def _harmless(job: Job) -> Iterator[tuple[str, Job]]:
    """Yield what costs some speed or a library, and nothing else."""
    if isinstance(job, TrainingJob):
        if job.loss is not Loss.FUSED:
            yield "loss", replace(job, loss=Loss.FUSED)
        if job.checkpointing is not Checkpointing.FULL:
            yield "checkpointing", replace(job, checkpointing=Checkpointing.FULL)
        if job.attention is Attention.EAGER:
            yield "attention", replace(job, attention=Attention.FLASH)
        is_wide = job.precision is not Precision.BF16
        if job.method is Method.FULL and is_wide and job.accumulation == 1:
            yield "recipe", with_recipe(job, RECIPES["H"])
        return
    if job.kv_format is KvFormat.SIXTEEN:
        narrow = KvFormat.Q8_0 if job.engine is Engine.LLAMA_CPP else KvFormat.FP8
        yield "kv_format", replace(job, kv_format=narrow)


def _others(job: Job) -> Iterator[tuple[str, Job]]:
    """Yield what changes the work itself."""
    if isinstance(job, TrainingJob):
        if job.sequence_tokens > 1:
            yield "sequence", replace(job, sequence_tokens=job.sequence_tokens // 2)
        if job.micro_batch > 1:
            yield "micro_batch", replace(job, micro_batch=job.micro_batch // 2)
        if job.method is Method.LORA:
            yield "qlora", replace(job, method=Method.QLORA)
        return
    yield from _other_serving(job)


def _other_serving(job: ServingJob) -> Iterator[tuple[str, Job]]:
    if job.weights.is_16_bits_or_wider:
        slug = _LEAN_WEIGHTS.get(job.engine, _USUAL_LEAN_WEIGHTS)
        yield "weights", replace(job, weights=weight_format_by_slug(slug))
    if job.requests > 1:
        yield "requests", replace(job, requests=job.requests // 2)
    if job.context_tokens > 1:
        yield "context", replace(job, context_tokens=job.context_tokens // 2, output_tokens=0)
