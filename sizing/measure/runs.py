"""What is measured: one run, described so that any machine can repeat it, and the usual plan.

A run is a model by its dimensions, what is done with it, and its lengths. The description is the
job file of `sizing.measure.on_card`; its format is versioned there.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final

from sizing.bounds import InputError, check_bounds
from sizing.measure.on_card import JOB_FORMAT
from sizing.shapes.architecture import LanguageModel

# Two depths give the slope per layer and what does not depend on depth.
SHALLOW_LAYERS: Final = (2, 4)
# The first step allocates the optimizer's states; the second has all of them from its beginning.
STEPS: Final = 3
MOST_NEW_TOKENS: Final = 4096
ATTENTION_TARGETS: Final = ("q_proj", "k_proj", "v_proj", "o_proj")
ALL_LINEAR_TARGETS: Final = (*ATTENTION_TARGETS, "gate_proj", "up_proj", "down_proj")


class Work(StrEnum):
    """What is done with the model."""

    FULL = "full"
    LORA = "lora"
    QLORA = "qlora"
    INFERENCE = "inference"


class Targets(StrEnum):
    """Which matrices get an adapter."""

    QUERY_VALUE = "query-value"
    ATTENTION = "attention"
    ALL_LINEAR = "all-linear"


TARGET_NAMES: Final = MappingProxyType(
    {
        Targets.QUERY_VALUE: ("q_proj", "v_proj"),
        Targets.ATTENTION: ATTENTION_TARGETS,
        Targets.ALL_LINEAR: ALL_LINEAR_TARGETS,
    }
)
ADAPTER_WORKS: Final = (Work.LORA, Work.QLORA)


@dataclass(frozen=True, kw_only=True)
class MeasuredRun:
    """One run on one card.

    ``sequence_tokens`` are those of a training sequence or of a prompt; ``new_tokens`` are then
    written after the prompt. Full training is AdamW in pure bf16; adapters are in 32 bits under
    autocast; attention is PyTorch's own.
    """

    model: LanguageModel
    work: Work
    sequence_tokens: int
    micro_batch: int = 1
    lora_rank: int = 16
    targets: Targets = Targets.ALL_LINEAR
    has_checkpointing: bool = True
    has_double_quantization: bool = True
    new_tokens: int = 0
    steps: int = STEPS

    @property
    def is_training(self) -> bool:
        return self.work is not Work.INFERENCE

    def at_depth(self, layers: int) -> "MeasuredRun":
        """Return the same run of a model with so many layers. It is no model of the table."""
        shallow = replace(
            self.model,
            slug="",
            name=f"{self.model.name}, {layers} of {self.model.layers} layers",
            layers=layers,
        )
        return replace(self, model=shallow)


def check_run(run: MeasuredRun) -> None:
    """Refuse what the script cannot build or run.

    Raises
    ------
    InputError
        With the field, what is wrong with it and what to try.
    """
    _check_shape(run.model)
    check_bounds(
        layers=run.model.layers, sequence_tokens=run.sequence_tokens, micro_batch=run.micro_batch
    )
    if run.work in ADAPTER_WORKS:
        check_bounds(lora_rank=run.lora_rank)
        _refuse_above("lora_rank", run.lora_rank, "the hidden width", run.model.hidden)
    if run.new_tokens:
        _refuse_above("output_tokens", run.new_tokens, "what a test writes", MOST_NEW_TOKENS)
    tokens = run.sequence_tokens + run.new_tokens
    if run.model.max_context:
        _refuse_above("sequence_tokens", tokens, "the model's context", run.model.max_context)


def _refuse_above(field: str, given: int, dimension: str, most: int) -> None:
    if given > most:
        values = {"given": given, "dimension": dimension, "most": most}
        raise InputError(field=field, problem="above_dimension", values=values)


def is_measurable(model: LanguageModel) -> bool:
    """Whether the script builds it: a dense decoder with a gated MLP that sees all its context."""
    return (
        model.experts is None
        and model.latent is None
        and model.mlp_matrices == len(ALL_LINEAR_TARGETS) - len(ATTENTION_TARGETS)
        and model.full_layers == model.layers
    )


def _check_shape(model: LanguageModel) -> None:
    if not is_measurable(model):
        values = {
            "given": model.slug or model.name,
            "other": "measure",
            "other_given": "of the script",
            "choices": "dense decoders with gated MLPs and full attention, such as llama-3.1-8b",
        }
        raise InputError(field="model", problem="not_together", values=values)


def job_of(run: MeasuredRun, *, test: str = "") -> dict[str, Any]:
    """Return the run as the job file that the script reads. ``test`` names the record it is for."""
    model = run.model
    return {
        "format": JOB_FORMAT,
        "test": test,
        "work": run.work.value,
        "model": {
            "slug": model.slug,
            "name": model.name,
            "layers": model.layers,
            "hidden": model.hidden,
            "intermediate": model.intermediate,
            "heads": model.heads,
            "kv_heads": model.kv_heads,
            "head_dim": model.head_dim,
            "vocabulary": model.vocabulary,
            "has_tied_embeddings": model.has_tied_embeddings,
            "has_qkv_bias": model.has_qkv_bias,
        },
        "sequence_tokens": run.sequence_tokens,
        "micro_batch": run.micro_batch,
        "lora_rank": run.lora_rank if run.work in ADAPTER_WORKS else 0,
        "lora_targets": list(TARGET_NAMES[run.targets]) if run.work in ADAPTER_WORKS else [],
        "has_checkpointing": run.is_training and run.has_checkpointing,
        "has_double_quantization": run.work is Work.QLORA and run.has_double_quantization,
        "new_tokens": 0 if run.is_training else run.new_tokens,
        "steps": run.steps,
    }


def run_of(job: Mapping[str, Any]) -> MeasuredRun:
    """Return the run of a job that `job_of` made."""
    shape = dict(job["model"])
    names = tuple(job["lora_targets"])
    targets = next((each for each in Targets if TARGET_NAMES[each] == names), Targets.ALL_LINEAR)
    return MeasuredRun(
        model=LanguageModel(**shape),
        work=Work(job["work"]),
        sequence_tokens=job["sequence_tokens"],
        micro_batch=job["micro_batch"],
        lora_rank=job["lora_rank"] or MeasuredRun.lora_rank,
        targets=targets,
        has_checkpointing=job["has_checkpointing"],
        has_double_quantization=job["has_double_quantization"],
        new_tokens=job["new_tokens"],
        steps=job["steps"],
    )


def plan_of(
    *,
    model: LanguageModel,
    works: Iterable[Work],
    sequence_tokens: Sequence[int],
    new_tokens: int,
    micro_batch: int = 1,
    lora_rank: int = 16,
) -> tuple[MeasuredRun, ...]:
    """Return the runs: every work and length at two shallow depths, then at the full one."""
    plan = []
    for work in works:
        for tokens in sequence_tokens:
            run = MeasuredRun(
                model=model,
                work=work,
                sequence_tokens=tokens,
                micro_batch=micro_batch,
                lora_rank=lora_rank,
                new_tokens=new_tokens if work is Work.INFERENCE else 0,
            )
            check_run(run)
            plan += [run.at_depth(layers) for layers in SHALLOW_LAYERS if layers < model.layers]
            plan.append(run)
    return tuple(plan)
