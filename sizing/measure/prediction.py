"""What the engine expects of a run, in the same words as it is measured."""

from sizing.estimates import Estimate
from sizing.measure.runs import MeasuredRun, Work
from sizing.serving.formats import weight_format_by_slug
from sizing.serving.job import Counted, Engine, ServingJob
from sizing.serving.memory import estimate_serving


def predicted(run: MeasuredRun) -> Estimate:
    """Return the estimate of all that the run takes of a card, the driver's context included."""
    assert run.work is Work.INFERENCE
    return estimate_serving(_serving_job(run))


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
