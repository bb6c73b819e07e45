"""What an estimate rests on: the error that was measured on its class, and a run like it."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from catalog.calculator.reading import Job
from sizing.accuracy.plain import stored_report_object
from sizing.measurements import Measurement, Metric, own_measurements, source_name
from sizing.serving.job import ServingJob
from sizing.shapes.language_models import all_language_models
from sizing.training.job import TrainingJob

# Runs further away than these factors say nothing of a job.
MOST_SIZE_FACTOR: Final = 2.0
MOST_TOKENS_FACTOR: Final = 4.0
# Parameters shape a run more than its length does.
SIZE_WEIGHT: Final = 2.0
_TRAINING_TASKS: Final = ("fine-tuning", "training")
_SIXTEEN_BITS: Final = ("bf16", "fp16", "f16", "bf16-true")


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedError:
    """Errors of a class, in percent, with the row's source left out while constants were fitted."""

    rows: int
    median_percent: float
    p90_percent: float


@dataclass(frozen=True, slots=True, kw_only=True)
class NearRun:
    """A measured run like the job."""

    model_name: str
    method: str
    tokens: int
    value_bytes: int
    source_name: str
    source_url: str


def published_error(job: Job) -> PublishedError | None:
    """Return the error of the job's class from the accuracy report."""
    kind, method = _class_of(job)
    for group in stored_report_object()["groups"]:
        if (group["kind"], group["source"]) == (kind, None) and _is_method(group, method):
            return _error(group)
    return None


def nearest_run(job: Job) -> NearRun | None:
    """Return the measured run on one card that is nearest in size and length, if any is near."""
    near = min(_near_runs(job), key=lambda found: found[0], default=None)
    if near is None:
        return None
    row = near[1]
    return NearRun(
        model_name=all_language_models()[row.model_slug].name,
        method=row.method,
        tokens=_tokens(row),
        value_bytes=round(row.value),
        source_name=source_name(row.source),
        source_url=row.source,
    )


def _class_of(job: Job) -> tuple[str, str | None]:
    if isinstance(job, TrainingJob):
        return "training_one_card", job.method.value
    wide = job.weights.is_16_bits_or_wider
    return ("inference_16_bits" if wide else "inference_quantized"), None


def _is_method(group: Mapping[str, Any], method: str | None) -> bool:
    named = group["method"]
    return named is None if method is None else named is not None and named.lower() == method


def _error(group: Mapping[str, Any]) -> PublishedError:
    errors = group["left_out"]
    return PublishedError(
        rows=group["rows"],
        median_percent=errors["median_percent"],
        p90_percent=errors["p90_percent"],
    )


def _near_runs(job: Job) -> Iterator[tuple[float, Measurement]]:
    tokens = job.tokens if isinstance(job, TrainingJob) else job.context_tokens * job.requests
    for row in own_measurements().measurements:
        is_whole = row.metric is Metric.PEAK_MEMORY and row.cells["seq_len"] and row.gpus == 1
        if not is_whole or not _is_alike(row, job):
            continue
        size = _factor(all_language_models()[row.model_slug].parameters, job.model.parameters)
        length = _factor(_tokens(row), tokens)
        if size <= math.log(MOST_SIZE_FACTOR) and length <= math.log(MOST_TOKENS_FACTOR):
            yield SIZE_WEIGHT * size + length, row


def _is_alike(row: Measurement, job: Job) -> bool:
    if isinstance(job, TrainingJob):
        return row.task in _TRAINING_TASKS and row.method.lower() == job.method.value
    return row.task == "inference" and _is_wide(row) == _is_wide_job(job)


def _is_wide(row: Measurement) -> bool:
    return row.cells["precision"].lower() in _SIXTEEN_BITS


def _is_wide_job(job: ServingJob) -> bool:
    return job.weights.is_16_bits_or_wider


def _tokens(row: Measurement) -> int:
    return int(row.cells["seq_len"]) * int(row.cells["micro_batch"] or 1)


def _factor(one: int, other: int) -> float:
    """Return how far two sizes are apart, as a logarithm of their ratio."""
    return abs(math.log(max(one, 1) / max(other, 1)))
