"""What the engine expects of a run, in the same words as it is measured."""

from types import MappingProxyType
from typing import Final

from sizing.estimates import Estimate
from sizing.measure.runs import MeasuredRun, Targets, Work
from sizing.serving.formats import weight_format_by_slug
from sizing.serving.job import Counted, Engine, ServingJob, check_serving_job
from sizing.serving.memory import estimate_serving
from sizing.training.choices import (
    ALL_LINEAR,
    ATTENTION_TARGETS,
    QUERIES_AND_VALUES,
    Attention,
    Checkpointing,
    Method,
    Precision,
    Quantization,
)
from sizing.training.job import TrainingJob, check_training_job
from sizing.training.memory import estimate_training
from sizing.training.profiles import Profile

# Kept beside every prediction, and raised with each change of a formula or constant, so that old
# records say which engine they judge.
ENGINE_VERSION: Final = "2026-12-01"

_METHODS: Final = MappingProxyType(
    {Work.FULL: Method.FULL, Work.LORA: Method.LORA, Work.QLORA: Method.QLORA}
)
_TARGETS: Final = MappingProxyType(
    {
        Targets.QUERY_VALUE: QUERIES_AND_VALUES,
        Targets.ATTENTION: ATTENTION_TARGETS,
        Targets.ALL_LINEAR: ALL_LINEAR,
    }
)


def predicted(run: MeasuredRun) -> Estimate:
    """Return the estimate of all that the run takes of a card, the driver's context included.

    Raises
    ------
    InputError
        The engine estimates no such job.
    """
    if run.is_training:
        training = _training_job(run)
        check_training_job(training)
        return estimate_training(training)
    serving = _serving_job(run)
    check_serving_job(serving)
    return estimate_serving(serving)


def _training_job(run: MeasuredRun) -> TrainingJob:
    """Return the job as the script runs it: PyTorch's own AdamW and attention, 16-bit embeddings."""
    double = run.has_double_quantization
    return TrainingJob(
        model=run.model,
        method=_METHODS[run.work],
        profile=Profile.LLAMA_FACTORY,
        precision=Precision.BF16,
        adapter_precision=Precision.FP32,
        lora_rank=run.lora_rank,
        lora_targets=_TARGETS[run.targets],
        has_lora_dropout=False,
        quantization=Quantization.NF4_DOUBLE if double else Quantization.NF4,
        sequence_tokens=run.sequence_tokens,
        micro_batch=run.micro_batch,
        checkpointing=Checkpointing.FULL if run.has_checkpointing else Checkpointing.NONE,
        attention=Attention.SDPA,
    )


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
