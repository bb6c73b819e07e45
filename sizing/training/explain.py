"""Each term of an estimate as a formula and the numbers in it: for pages, not for the fast path.

A formula is known by its key; pages translate `FORMULAS` and format the numbers. Terms that are
summed from several formulas have several explanations; together they give the term to a byte or
two, save where sharing and offload divide it: those say by how much in ``share``.
"""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from sizing.estimates import Part
from sizing.training.activations import layer_bytes, loss_bytes_per_entry
from sizing.training.adapters import adapter_parameters, whole_parameters
from sizing.training.choices import (
    BITS,
    PRECISION_BYTES,
    Checkpointing,
    Counted,
    Method,
    Precision,
    Sharding,
)
from sizing.training.constants import Constants, training_constants
from sizing.training.job import TrainingJob
from sizing.training.memory import Moment, Peak, parts_at, peak_of
from sizing.training.profiles import PROFILES
from sizing.training.states import frozen_bytes
from sizing.units import BILLION, GB

MILLION: Final = 10**6

FORMULAS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "weights_whole": "{bytes_each} bytes × {parameters} parameters",
        "weights_quantized": "{bits} bits / 8 × {parameters} parameters of the layers",
        "weights_kept": "embeddings, head and norms, which stay unquantized",
        "adapters": "{bytes_each} bytes × {parameters} parameters of adapters",
        "adapters_whole": "{bytes_each} bytes × {parameters} parameters of tables trained whole",
        "gradients": "{bytes_each} bytes × {parameters} trained parameters",
        "gradients_head": "the gradient of the head, the first to be there",
        "gradients_fused": "the largest gradient alone, the others were applied at once",
        "optimizer": "master copies and states of {optimizer} for {parameters} trained parameters",
        "step": "temporary copies that the step makes of a state",
        "stored_inputs": "2 bytes × {hidden} wide × {layers} layers × {tokens} tokens",
        "stored_layers": "{bytes_each} bytes a token × {layers} layers × {tokens} tokens",
        "layer": "one layer at work: {bytes_each} bytes a token × {tokens} tokens, and what flows "
        "through it",
        "logits": "{bytes_each} bytes × {tokens} tokens × {vocabulary} entries of the vocabulary",
        "context": "driver, kernels and libraries",
        "communication": "buffers for talking to other cards",
        "working": "layers gathered from other cards, and buckets of gradients",
        "fragmentation": "{percent} % of all, held by the allocator without being used",
    }
)


class Explanation(NamedTuple):
    """One formula: its key, the numbers it names, what it gives in bytes on one card.

    ``share`` is the part of the formula's result that this card keeps, 1 where nothing is shared.
    """

    part: Part
    key: str
    values: Mapping[str, int | float | str]
    size_bytes: int
    share: float = 1.0


def explain_training(
    job: TrainingJob, *, constants: Constants | None = None
) -> tuple[Explanation, ...]:
    """Return the formulas of every term at the fullest moment, in the order of the terms."""
    used = constants or training_constants()
    peak = peak_of(job, constants=used)
    found = (
        *_weights(job, peak),
        *_trained(job, peak),
        *_activations(job, peak, constants=used),
        *_overhead(job, peak, constants=used),
    )
    return tuple(each for each in found if each.size_bytes > 0)


def sentence(explanation: Explanation) -> str:
    """Return the formula in English with its numbers: "2 bytes × 8.03 B parameters = 16.1 GB"."""
    shown = {name: _shown(value) for name, value in explanation.values.items()}
    text = FORMULAS[explanation.key].format(**shown)
    if explanation.share < 1:
        text = f"{text}, {explanation.share:.3g} of it on this card"
    return f"{text} = {explanation.size_bytes / GB:.3g} GB"


def _shown(value: int | float | str) -> str:
    if isinstance(value, str):
        return value
    if value >= BILLION:
        return f"{value / BILLION:.3g} B"
    if value >= MILLION:
        return f"{value / MILLION:.3g} M"
    return f"{value:,.5g}" if isinstance(value, float) else f"{value:,}"


def _weights(job: TrainingJob, peak: Peak) -> Iterator[Explanation]:
    model, states, kept = job.model, peak.states, peak.shares.weights
    share = kept / states.weights
    if job.method is not Method.QLORA:
        each = 2 if job.method is Method.LORA else PRECISION_BYTES[job.precision].weight
        whole = {"bytes_each": each, "parameters": model.parameters}
        yield Explanation(Part.WEIGHTS, "weights_whole", whole, int(kept), share)
        return
    block, rest = frozen_bytes(job, facts=PROFILES[job.profile])
    bits = {"bits": BITS[job.quantization], "parameters": model.block_parameters}
    yield Explanation(Part.WEIGHTS, "weights_quantized", bits, int(block * share), share)
    yield Explanation(Part.WEIGHTS, "weights_kept", {}, int(rest * share), share)


def _trained(job: TrainingJob, peak: Peak) -> Iterator[Explanation]:
    """Yield the formulas of adapters, gradients and states."""
    shares, states, parts = peak.shares, peak.states, parts_at(peak)
    is_full = job.method is Method.FULL
    precision = job.precision if is_full else job.adapter_precision
    each = PRECISION_BYTES[precision]
    if not is_full:
        share = shares.adapters / states.adapters if states.adapters else 0.0
        factors, whole = adapter_parameters(job), whole_parameters(job)
        whole_each = 2 if precision is Precision.FP32 else each.weight
        for key, width, count in (
            ("adapters", each.weight, factors),
            ("adapters_whole", whole_each, whole),
        ):
            numbers = {"bytes_each": width, "parameters": count}
            yield Explanation(Part.ADAPTERS, key, numbers, int(width * count * share), share)
    share = parts.gradients / states.gradients if states.gradients else 0.0
    key = "gradients_fused" if is_full and job.is_fused_step else "gradients"
    if share < shares.gradients / max(states.gradients, 1):
        key = "gradients_head"
    count = max(states.trained, 1)
    values = {"bytes_each": states.gradients / count, "parameters": states.trained}
    yield Explanation(Part.GRADIENTS, key, values, int(parts.gradients), share)
    share = shares.optimizer / states.optimizer if states.optimizer else 0.0
    named = {"optimizer": job.optimizer.value, "parameters": states.trained}
    yield Explanation(Part.OPTIMIZER, "optimizer", named, int(shares.optimizer), share)
    yield Explanation(Part.OPTIMIZER, "step", {}, int(parts.step))


def _activations(job: TrainingJob, peak: Peak, *, constants: Constants) -> Iterator[Explanation]:
    model, passes = job.model, peak.passes
    facts = PROFILES[job.profile]
    each = layer_bytes(job, facts=facts, constants=constants)
    if peak.moment in (Moment.LOSS, Moment.FIRST_BACKWARD):
        is_whole = job.checkpointing in (Checkpointing.NONE, Checkpointing.SELECTIVE)
        key = "stored_layers" if is_whole else "stored_inputs"
        values: Mapping[str, int | float | str] = {
            "tokens": job.tokens,
            "layers": model.layers,
            "hidden": model.hidden,
            "bytes_each": each.kept,
        }
        yield Explanation(Part.ACTIVATIONS, key, values, int(passes.stored))
    if peak.moment in (Moment.FIRST_BACKWARD, Moment.LAST_BACKWARD):
        layer = {"tokens": job.tokens, "bytes_each": each.kept + each.scores}
        yield Explanation(Part.ACTIVATIONS, "layer", layer, int(passes.layer))
    if peak.moment is Moment.LOSS:
        entry = loss_bytes_per_entry(job, facts=facts, constants=constants)
        entries = {"tokens": job.tokens, "bytes_each": entry, "vocabulary": model.vocabulary}
        yield Explanation(Part.LOGITS, "logits", entries, int(peak.logits), 1 / job.tensor_parallel)


def _overhead(job: TrainingJob, peak: Peak, *, constants: Constants) -> Iterator[Explanation]:
    is_device = job.counted is Counted.DEVICE
    context = constants.context_bytes if is_device else 0.0
    is_alone = job.cards == 1 and job.sharding is Sharding.NONE
    talking = 0.0 if is_alone or not is_device else constants.communication_bytes
    working = peak.shares.working
    percent = {"percent": 100 * constants.fragmentation_share}
    rest = peak.overhead - context - talking - working
    for key, values, size in (
        ("context", {}, context),
        ("communication", {}, talking),
        ("working", {}, working),
        ("fragmentation", percent, rest),
    ):
        yield Explanation(Part.OVERHEAD, key, values, int(size))
