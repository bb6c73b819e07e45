"""What other published rules say for the same runs, so that errors can be set side by side.

Each rule is computed as it is published and from what it asks for, nothing more. The comparison
is what somebody gets who types the run in, not a judgement of the tools: every rule assumes a
recipe of its own, and its docstring says which. None was made for the recipe of every row.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from sizing.capacity import BYTES_TENTHS_PER_PARAMETER
from sizing.capacity import Method as CapacityMethod
from sizing.shapes.architecture import LanguageModel

SIXTEEN_BITS_BYTES: Final = 2


class Tuning(StrEnum):
    """What is trained, as all of the rules tell it apart."""

    FULL = "full"
    LORA = "lora"
    QLORA = "qlora"


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One training run on one card, as far as any of the rules asks for it."""

    model: LanguageModel
    tuning: Tuning
    sequence_tokens: int
    micro_batch: int
    has_checkpointing: bool
    is_pure_bf16: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Rival:
    """A published rule. ``peak_bytes`` returns None for a run that the rule does not cover."""

    key: str
    name: str
    source: str
    tunings: tuple[Tuning, ...]
    peak_bytes: Callable[[Run], float | None]


def accelerate_adam_bytes(run: Run) -> float | None:
    """Return what ``accelerate estimate-memory`` prints as "Training using Adam" for bf16.

    The larger of four stages, not their sum: the model in fp32 (4 bytes a parameter), gradients
    (6), optimizer states (8), step (8). It assumes a batch of one, mixed precision and every
    weight trained; it counts no activations, no logits and no runtime.
    """
    if run.tuning is not Tuning.FULL:
        return None
    parameters = run.model.parameters
    fp32 = 4 * parameters
    return max(fp32, fp32 + fp32 // 2, 2 * fp32)


def eleutherai_bytes(run: Run) -> float | None:
    """Return what the calculator of the EleutherAI cookbook gives for one card.

    It assumes Megatron-DeepSpeed: bf16 weights, fp32 gradients, fp32 master copy and both
    moments, 18 bytes a parameter, every weight trained, and the activations of a GELU MLP of
    four times the width without fused attention. Its "checkpointed" branch only drops the
    quadratic term. It counts no logits and, unless told, no runtime. Its own way of counting
    parameters is kept; it is told the true width and number of the MLP's matrices.
    """
    if run.tuning is not Tuning.FULL:
        return None
    model, length = run.model, run.sequence_tokens
    hidden, layers = model.hidden, model.layers
    parameters = (
        2 * model.vocabulary * hidden
        + hidden * length
        + 8 * hidden * layers
        + 2 * hidden
        + 2 * (1 + model.kv_heads / model.heads) * layers * hidden**2
        + model.mlp_matrices * layers * hidden * model.intermediate
    )
    quadratic = 0.0 if run.has_checkpointing else 5 * model.heads * length / hidden
    activations = length * run.micro_batch * hidden * layers * (34 + quadratic)
    return 18 * parameters + activations


_LLAMA_FACTORY_BYTES: Final[Mapping[Tuning, float]] = {Tuning.LORA: 2.0, Tuning.QLORA: 0.5}
_LLAMA_FACTORY_MIXED_BYTES: Final = 18
_LLAMA_FACTORY_PURE_BYTES: Final = 8


def llama_factory_bytes(run: Run) -> float | None:
    """Return the factor of LLaMA-Factory's table of hardware times the parameters.

    Full training 18 bytes a parameter in mixed precision, 8 in pure bf16; LoRA 2; QLoRA in four
    bits 0.5. Its authors label the table as estimated. It depends on nothing but the size.
    """
    if run.tuning is Tuning.FULL:
        factor = _LLAMA_FACTORY_PURE_BYTES if run.is_pure_bf16 else _LLAMA_FACTORY_MIXED_BYTES
        return factor * run.model.parameters
    return _LLAMA_FACTORY_BYTES[run.tuning] * run.model.parameters


_INDICATIVE: Final[Mapping[Tuning, CapacityMethod]] = {
    Tuning.FULL: CapacityMethod.FULL,
    Tuning.LORA: CapacityMethod.LORA16,
    Tuning.QLORA: CapacityMethod.QLORA,
}


def indicative_bytes(run: Run) -> float | None:
    """Return our own indicative rule: 1.0, 2.5 or 16 bytes a parameter.

    It assumes one short text at a time and a small vocabulary, and answers which size of model
    a card suggests. It is listed here because it was never meant to predict one run.
    """
    return BYTES_TENTHS_PER_PARAMETER[_INDICATIVE[run.tuning]] * run.model.parameters / 10


RIVALS: Final = (
    Rival(
        key="accelerate",
        name="accelerate estimate-memory, training with Adam",
        source="https://github.com/huggingface/accelerate/blob/main/src/accelerate/commands/estimate.py",
        tunings=(Tuning.FULL,),
        peak_bytes=accelerate_adam_bytes,
    ),
    Rival(
        key="eleutherai",
        name="EleutherAI cookbook calculator",
        source="https://github.com/EleutherAI/cookbook/blob/main/calc/calc_transformer_mem.py",
        tunings=(Tuning.FULL,),
        peak_bytes=eleutherai_bytes,
    ),
    Rival(
        key="llama_factory",
        name="LLaMA-Factory table of hardware",
        source="https://github.com/hiyouga/LLaMA-Factory/blob/main/README.md",
        tunings=tuple(Tuning),
        peak_bytes=llama_factory_bytes,
    ),
    Rival(
        key="indicative",
        name="our indicative rule, bytes per parameter",
        source="docs/algorithms/sizing.md",
        tunings=tuple(Tuning),
        peak_bytes=indicative_bytes,
    ),
)
