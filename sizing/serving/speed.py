"""How fast a model answers: decoding and working on the prompt, each with its interval.

Decoding, seconds of a step = read + launch, where
  read   = bytes read / (bandwidth x share of it reached)
  launch = layers x seconds per layer (+ a loop over all experts in transformers)
Engines that launch from Python overlap both, so the step takes the longer one; engines that record
their kernels run them one after the other, so both add up. Small models are bound by launching,
large ones by reading. Share and seconds per layer belong to a class of engine, memory (GDDR or HBM)
and storage of the weights, fitted by `sizing.serving.fitting` on measured rows; the interval is the
spread of the class, wider where the class is borrowed from its nearest.

With many requests a step also computes, 2 x active parameters for each; it takes the longer of
reading and computing. Cards that split the layers add room but no speed; tensor parallelism divides
reading and adds two reductions a layer.

Prompt: 2 x active parameters x tokens / (dense peak x share used). Without rows the share is 0.5,
from 0.4 to 0.6 (inferred). Units: seconds, tokens per second. Left out: sampling, networks between
servers, queues, speculative decoding.
"""

from dataclasses import dataclass
from typing import Final

from sizing.architecture import LanguageModel
from sizing.models import Card
from sizing.serving.constants import (
    Constants,
    MemoryKind,
    SpeedKey,
    SpeedProfile,
    is_eager,
    own_constants,
)
from sizing.serving.job import Engine, ServingJob, Split
from sizing.serving.load import DecodeLoad, decode_load

TERA: Final = 10**12
FLOPS_PER_PARAMETER: Final = 2
# Rates of tensor cores against 32-bit ones since Ampere, where the card's own figure was not read:
# four times with 16-bit sums; consumer cards halve it with 32-bit sums. Ratio of the read figures.
TENSOR_RATIO: Final = 4
CONSUMER_RATIO: Final = 2
# What tensor parallelism keeps of a prompt's speed, low and high. Inferred.
TENSOR_PROMPT_SHARE: Final = 0.8
TENSOR_PROMPT_LOW: Final = 0.75
TENSOR_PROMPT_HIGH: Final = 1.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Speed:
    """Tokens per second. ``rows`` measured runs are behind it; 0: borrowed or inferred."""

    tokens_per_s: float
    low_tokens_per_s: float
    high_tokens_per_s: float
    rows: int

    def times(self, factor: float) -> "Speed":
        return Speed(
            tokens_per_s=self.tokens_per_s * factor,
            low_tokens_per_s=self.low_tokens_per_s * factor,
            high_tokens_per_s=self.high_tokens_per_s * factor,
            rows=self.rows,
        )


def speed_key(job: ServingJob, card: Card) -> SpeedKey:
    """Return the class of a run."""
    return SpeedKey(job.engine, MemoryKind.of(card.memory_type), job.weights.speed_class)


def decode_speed(job: ServingJob, card: Card, *, constants: Constants | None = None) -> Speed:
    """Return the speed that each request sees, all of the job's requests running."""
    known = constants or own_constants()
    profile = known.speed[speed_key(job, card)]
    load = decode_load(job, card)
    step = step_seconds(
        load,
        profile=profile,
        engine=job.engine,
        hop_s=known.hop_s,
        expert_loop=known.expert_loop,
    )
    if job.requests > 1:
        step = max(step, _compute_seconds(job, card, known))
    rate = 1 / step
    return Speed(
        tokens_per_s=rate,
        low_tokens_per_s=rate * profile.spread.low,
        high_tokens_per_s=rate * profile.spread.high,
        rows=profile.rows,
    )


def decode_throughput(job: ServingJob, card: Card, *, constants: Constants | None = None) -> Speed:
    """Return the tokens per second of all requests of the job together."""
    return decode_speed(job, card, constants=constants).times(job.requests)


def step_seconds(
    load: DecodeLoad,
    *,
    profile: SpeedProfile,
    engine: Engine,
    hop_s: float,
    expert_loop: float,
) -> float:
    """Return the seconds of one step of decoding."""
    read = load.read_s / profile.share
    launch = load.layers * profile.layer_s
    between = load.link_s + load.hops * hop_s
    if is_eager(engine):
        return max(read, launch * (1 + expert_loop * load.looped_experts)) + between
    return read + launch + between


def prefill_speed(job: ServingJob, card: Card, *, constants: Constants | None = None) -> Speed:
    """Return how fast prompts are worked on, in tokens per second.

    Raises
    ------
    UnknownPeakError
        No rate of 16-bit matrices is known of the card, nor one to derive it from.
    """
    known = constants or own_constants()
    use = known.prefill_use[job.engine, MemoryKind.of(card.memory_type)]
    peak = peak_flops(card, engine=job.engine)
    work = FLOPS_PER_PARAMETER * prompt_parameters(job.model)
    rate = peak * use.share / work
    low, high = use.low / use.share, use.high / use.share
    if job.split is Split.TENSOR and job.gpus > 1:
        rate *= job.gpus * TENSOR_PROMPT_SHARE
        low, high = low * TENSOR_PROMPT_LOW, high * TENSOR_PROMPT_HIGH
    return Speed(
        tokens_per_s=rate,
        low_tokens_per_s=rate * low,
        high_tokens_per_s=rate * high,
        rows=use.rows,
    )


class UnknownPeakError(LookupError):
    """No rate of 16-bit matrices is known of the card."""


def peak_flops(card: Card, *, engine: Engine) -> float:
    """Return the dense peak of 16-bit matrices, operations per second.

    llama.cpp sums in 16 bits, which consumer cards do twice as fast as in 32; all its rows on RTX
    cards agree on one share of that rate (0.31 to 0.42), and on none of the other.
    """
    read = card.fp16_dense_tflops or card.bf16_dense_tflops
    is_rtx = card.vendor == "NVIDIA" and not card.memory_type.startswith("HBM")
    if is_rtx and card.fp32_tflops is not None and (read is None or engine is Engine.LLAMA_CPP):
        ratio = TENSOR_RATIO
        if card.segment == "consumer" and engine is not Engine.LLAMA_CPP:
            ratio = CONSUMER_RATIO
        return float(card.fp32_tflops) * ratio * TERA
    if read is None:
        raise UnknownPeakError(card.slug)
    return float(read) * TERA


def prompt_parameters(model: LanguageModel) -> int:
    """Return the parameters that every token of a prompt passes; the output matrix is the last's."""
    return model.read_parameters - model.vocabulary * model.hidden


def _compute_seconds(job: ServingJob, card: Card, constants: Constants) -> float:
    use = constants.prefill_use[job.engine, MemoryKind.of(card.memory_type)]
    try:
        peak = peak_flops(card, engine=job.engine)
    except UnknownPeakError:
        return 0.0
    work = FLOPS_PER_PARAMETER * job.model.read_parameters * job.requests
    return work / (peak * use.share * job.tensor_parallel)
