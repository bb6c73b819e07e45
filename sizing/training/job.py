"""One training run, as far as its memory depends on it."""

from dataclasses import dataclass, replace
from typing import Final

from sizing.bounds import InputError, check_bounds
from sizing.shapes.architecture import LanguageModel
from sizing.training.choices import (
    ALL_LINEAR,
    RECIPES,
    Adapter,
    Attention,
    Checkpointing,
    Counted,
    Loss,
    Method,
    Offload,
    Optimizer,
    Precision,
    Quantization,
    Recipe,
    Sharding,
    Target,
)
from sizing.training.profiles import PROFILES, Profile

# Packed texts and batches beyond this many tokens in one pass meet no card.
MOST_TOKENS_PER_PASS: Final = 2**28


@dataclass(frozen=True, kw_only=True)
class TrainingJob:
    """A run on ``cards`` alike. Lengths are tokens of the padded text.

    ``precision``, ``optimizer`` and ``is_fused_step`` describe what is trained whole; adapters are
    kept in ``adapter_precision``. Texts that are not packed reach ``longest_percent`` of
    ``sequence_tokens`` in the longest batch. With ``accumulation`` gradients of earlier
    micro-batches are there during the loss; a fused step cannot accumulate. ``cards`` are all of the job: the data-parallel ways are
    ``cards / (tensor_parallel x pipeline_parallel)``.
    """

    model: LanguageModel
    method: Method
    profile: Profile = Profile.GENERIC
    precision: Precision = Precision.MIXED
    optimizer: Optimizer = Optimizer.ADAMW
    is_fused_step: bool = False
    galore_rank: int = 128
    adapter: Adapter = Adapter.LORA
    lora_rank: int = 16
    lora_targets: tuple[Target, ...] = ALL_LINEAR
    has_lora_dropout: bool = True
    adapter_precision: Precision = Precision.FP32
    quantization: Quantization = Quantization.NF4_DOUBLE
    sequence_tokens: int = 2_048
    micro_batch: int = 1
    accumulation: int = 1
    is_packed: bool = True
    longest_percent: int = 100
    checkpointing: Checkpointing = Checkpointing.FULL
    attention: Attention = Attention.FLASH
    loss: Loss = Loss.EAGER
    is_compiled: bool = False
    sharding: Sharding = Sharding.NONE
    cards: int = 1
    tensor_parallel: int = 1
    pipeline_parallel: int = 1
    offload: Offload = Offload.NONE
    counted: Counted = Counted.DEVICE

    @property
    def data_parallel(self) -> int:
        return max(1, self.cards // (self.tensor_parallel * self.pipeline_parallel))

    @property
    def tokens(self) -> int:
        """Tokens of one pass over one card's micro-batch."""
        tokens = self.sequence_tokens * self.micro_batch
        return tokens if self.is_packed else -(-tokens * self.longest_percent // 100)


def with_recipe(job: TrainingJob, recipe: Recipe) -> TrainingJob:
    """Return the job with the precision, optimizer and step of a named recipe."""
    return replace(
        job,
        precision=recipe.precision,
        optimizer=recipe.optimizer,
        is_fused_step=recipe.is_fused_step,
    )


def recipe_of(job: TrainingJob) -> Recipe | None:
    """Return the named recipe that a job follows, if one does."""
    wanted = (job.precision, job.optimizer, job.is_fused_step)
    return next((each for each in RECIPES.values() if each[1:] == wanted), None)


def job_of(*, model: LanguageModel, method: Method, profile: Profile) -> TrainingJob:
    """Return a job with the settings that a framework takes when nobody says otherwise."""
    facts = PROFILES[profile]
    return TrainingJob(
        model=model,
        method=method,
        profile=profile,
        precision=facts.full_precision,
        adapter_precision=facts.adapter_precision,
        loss=facts.loss,
        checkpointing=facts.checkpointing,
    )


def check_training_job(job: TrainingJob) -> None:
    """Refuse what cannot be meant. Called at the edge, not on the fast path.

    Raises
    ------
    InputError
        With the field and what to try.
    """
    check_bounds(
        sequence_tokens=job.sequence_tokens,
        micro_batch=job.micro_batch,
        accumulation_steps=job.accumulation,
        gpus=job.cards,
        tensor_parallel=job.tensor_parallel,
        pipeline_parallel=job.pipeline_parallel,
        lora_rank=job.lora_rank,
        galore_rank=job.galore_rank,
        longest_percent=job.longest_percent,
    )
    _check_pass(job)
    _check_ranks(job)
    _check_targets(job)
    _check_optimizer(job)
    _check_cards(job)
    _check_sharding(job)
    _check_step(job)


def _check_pass(job: TrainingJob) -> None:
    if job.sequence_tokens * job.micro_batch > MOST_TOKENS_PER_PASS:
        raise InputError(
            field="micro_batch",
            problem="too_many_together",
            values={
                "given": job.micro_batch,
                "other": "sequence_tokens",
                "other_given": job.sequence_tokens,
                "most": MOST_TOKENS_PER_PASS,
            },
        )


def _check_ranks(job: TrainingJob) -> None:
    """Refuse a rank above the narrowest dimension: a product of factors cannot reach it."""
    narrowest = min(job.model.hidden, job.model.intermediate)
    has_lora = job.method is not Method.FULL and job.adapter is Adapter.LORA
    ranks = (
        ("lora_rank", job.lora_rank, has_lora),
        ("galore_rank", job.galore_rank, job.optimizer is Optimizer.GALORE),
    )
    for field, rank, is_used in ranks:
        if is_used and rank > narrowest:
            raise InputError(
                field=field,
                problem="above_dimension",
                values={
                    "given": rank,
                    "dimension": "the narrowest width of the model",
                    "most": narrowest,
                },
            )


def _check_targets(job: TrainingJob) -> None:
    if job.method is Method.FULL or job.adapter is not Adapter.LORA:
        return
    if not job.lora_targets:
        raise InputError(field="lora_targets", problem="missing")
    if len(set(job.lora_targets)) != len(job.lora_targets):
        raise InputError(
            field="lora_targets",
            problem="unknown_choice",
            values={"given": job.lora_targets, "choices": "each target once"},
        )


def _check_optimizer(job: TrainingJob) -> None:
    """Refuse optimizers that project or orthogonalize whole gradients where there are none."""
    if job.method is not Method.FULL and job.optimizer in {Optimizer.GALORE, Optimizer.MUON}:
        raise InputError(
            field="optimizer",
            problem="only_with",
            values={
                "given": job.optimizer.value,
                "other": "method",
                "choices": (Method.FULL.value,),
            },
        )


def _check_cards(job: TrainingJob) -> None:
    together = job.tensor_parallel * job.pipeline_parallel
    if job.cards % together:
        raise InputError(
            field="tensor_parallel" if job.cards % job.tensor_parallel else "pipeline_parallel",
            problem="not_dividing",
            values={
                "given": job.tensor_parallel
                if job.cards % job.tensor_parallel
                else job.pipeline_parallel,
                "dimension": "the number of cards",
                "whole": job.cards,
                "choices": _divisors(job.cards),
            },
        )
    if job.model.heads % job.tensor_parallel:
        raise InputError(
            field="tensor_parallel",
            problem="not_dividing",
            values={
                "given": job.tensor_parallel,
                "dimension": "the number of attention heads",
                "whole": job.model.heads,
                "choices": _divisors(job.model.heads),
            },
        )
    if job.pipeline_parallel > job.model.layers:
        raise InputError(
            field="pipeline_parallel",
            problem="above_dimension",
            values={
                "given": job.pipeline_parallel,
                "dimension": "the number of layers",
                "most": job.model.layers,
            },
        )


def _divisors(whole: int) -> tuple[int, ...]:
    """Return the divisors up to 64, the most cards that share one layer."""
    return tuple(each for each in range(1, min(whole, 64) + 1) if whole % each == 0)


def _check_sharding(job: TrainingJob) -> None:
    if job.data_parallel > 1 and job.sharding is Sharding.NONE:
        raise InputError(
            field="sharding",
            problem="not_together",
            values={
                "given": job.sharding.value,
                "other": "gpus",
                "other_given": job.cards,
                "choices": tuple(each.value for each in Sharding if each is not Sharding.NONE),
            },
        )
    whole = (Sharding.ZERO3, Sharding.FSDP, Sharding.NONE)
    if job.offload is Offload.ALL and job.sharding not in whole:
        raise InputError(
            field="offload",
            problem="not_together",
            values={
                "given": job.offload.value,
                "other": "sharding",
                "other_given": job.sharding.value,
                "choices": ("none", "optimizer"),
            },
        )


def _check_step(job: TrainingJob) -> None:
    if job.is_fused_step and job.accumulation > 1 and job.method is Method.FULL:
        raise InputError(
            field="accumulation_steps",
            problem="not_together",
            values={
                "given": job.accumulation,
                "other": "is_fused_step",
                "other_given": True,
                "choices": (1,),
            },
        )
