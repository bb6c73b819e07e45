"""What the engine expects of a run, in the same words as it is measured."""

from typing import Final

from sizing.bounds import InputError
from sizing.estimates import Estimate
from sizing.measure.runs import MeasuredRun, Work
from sizing.serving.formats import weight_format_by_slug
from sizing.serving.job import Counted, Engine, ServingJob, check_serving_job
from sizing.serving.memory import estimate_serving

# Kept beside every prediction, and raised with each change of a formula or constant, so that old
# records say which engine they judge.
ENGINE_VERSION: Final = "2026-12-01"


def predicted(run: MeasuredRun) -> Estimate:
    """Return the estimate of all that the run takes of a card, the driver's context included.

    Raises
    ------
    InputError
        The engine estimates no such job.
    """
    if run.work is not Work.INFERENCE:
        raise InputError(
            field="work",
            problem="unknown_choice",
            values={"given": run.work.value, "choices": Work.INFERENCE.value},
        )
    job = _serving_job(run)
    check_serving_job(job)
    return estimate_serving(job)


def _serving_job(run: MeasuredRun) -> ServingJob:
    return ServingJob(
        model=run.model,
        weights=weight_format_by_slug("bf16"),
        context_tokens=run.sequence_tokens + run.new_tokens,
        engine=Engine.TRANSFORMERS,
        requests=run.micro_batch,
        output_tokens=run.new_tokens,
        counted=Counted.DEVICE,
    )
