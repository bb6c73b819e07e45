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
from 0.4 to 0.6 (inferred), and never above the best product that was measured. Units: seconds, tokens per second. Left out: sampling, networks between
servers, queues, speculative decoding.
"""

from dataclasses import dataclass
from typing import Final

from sizing.cards import Card
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
from sizing.serving.peaks import UnknownPeakError, measured_peaks, peak_flops
from sizing.shapes.architecture import LanguageModel

FLOPS_PER_PARAMETER: Final = 2
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
    ceiling = min(measured_peaks().get(card.slug, peak), peak)
    rate, low, high = (
        min(peak * share, ceiling) / work for share in (use.share, use.low, use.high)
    )
    if job.split is Split.TENSOR and job.gpus > 1:
        rate *= job.gpus * TENSOR_PROMPT_SHARE
        low *= job.gpus * TENSOR_PROMPT_SHARE * TENSOR_PROMPT_LOW
        high *= job.gpus * TENSOR_PROMPT_SHARE * TENSOR_PROMPT_HIGH
    return Speed(tokens_per_s=rate, low_tokens_per_s=low, high_tokens_per_s=high, rows=use.rows)


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
