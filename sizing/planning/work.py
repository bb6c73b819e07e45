"""How long work takes on some cards, with an interval.

Training, operations per token:

    full      6 x parameters, 8 where layers are computed again
    adapters  4 x parameters, 6 where layers are computed again
    attention 12 x width of the queries x tokens seen, over all layers; 16 where computed again

Parameters are those that a token passes, without the table of embeddings that is only looked up.
A step reaches 0.35 to 0.55 of the dense 16-bit peak and never more than the best product that
anybody measured. Quantized weights are unpacked once a pass, which counts as some 460 more tokens,
so tiny steps are up to three times slower.

Several cards exchange, each and per micro-batch, (n - 1) / n of: two copies of the weights and one
of the gradients (FSDP, ZeRO-3), or twice the gradients once a step (DDP, ZeRO-1 and 2); tensor
parallelism reduces the activations of every layer. A step lasts from the longer of working and
exchanging to the sum of both; the estimate lies halfway. Cards without NVLink exchange over PCIe.

Serving: the answers by `decode_throughput`, the prompts by `prefill_speed`, where the job tells how
long an answer is. Units: tokens, hours. Left out: loading, evaluation, writing checkpoints, the
processor's steps where states lie with the server, steps too short to fill a card.
"""

from typing import Final, NamedTuple

from sizing.cards import Card
from sizing.planning.constants import planning_constants
from sizing.planning.placing import place
from sizing.serving.job import Engine, ServingJob
from sizing.serving.load import PCIE_4, PCIE_4_GB_PER_S
from sizing.serving.peaks import measured_peaks, peak_flops
from sizing.serving.speed import decode_throughput, prefill_speed
from sizing.training.choices import Checkpointing, Method, Offload
from sizing.training.constants import training_constants
from sizing.training.job import TrainingJob
from sizing.training.profiles import PROFILES
from sizing.training.sharding import SHARDED_WEIGHTS
from sizing.training.states import states_of
from sizing.units import GB

SECONDS_PER_HOUR: Final = 3600
REPEATS_LAYERS: Final = (Checkpointing.FULL, Checkpointing.OFFLOADED)
FLOPS_FULL: Final = 6
FLOPS_ADAPTERS: Final = 4
FLOPS_REPEATED: Final = 2
FLOPS_ATTENTION: Final = 12
FLOPS_ATTENTION_REPEATED: Final = 4
# Gradients travel in 16 bits.
GRADIENT_BYTES: Final = 2
ACTIVATION_BYTES: Final = 2
# Gathered for the forward and again for the backward pass.
GATHERS: Final = 2
# An all-reduce carries everything twice: collected, then spread.
REDUCE_COPIES: Final = 2
# Of a layer: behind attention and behind the MLP, forward and backward.
REDUCES_PER_LAYER: Final = 4
REDUCES_REPEATED: Final = 2
# Gradients down to the server and updated weights back, 16 bits each.
OFFLOADED_BYTES: Final = 4


class Interval(NamedTuple):
    """An estimate with its bounds."""

    low: float
    middle: float
    high: float

    def times(self, factor: float) -> "Interval":
        return Interval(self.low * factor, self.middle * factor, self.high * factor)


class Work(NamedTuple):
    """How much is to be done: tokens to train on, or tokens to generate."""

    tokens: int


class Rates(NamedTuple):
    """A card's speeds: operations and bytes per second; ``link`` is one direction."""

    peak: float
    ceiling: float
    link: float
    has_nvlink: bool
    pcie: float


class TrainingLoad(NamedTuple):
    """One micro-batch of a run: what each card computes and exchanges, and the tokens of all.

    ``unpacked_share`` is the reciprocal of a card's tokens for quantized weights, else 0.
    ``busy_share`` of a pipeline's time no stage waits.
    """

    flops: float
    tokens: int
    carried_bytes: float
    host_bytes: float
    unpacked_share: float
    busy_share: float


def training_tokens_per_hour(job: TrainingJob, card: Card, *, gpus: int) -> Interval:
    """Return the tokens per hour of all cards together, padding included.

    Raises
    ------
    UnknownPeakError
        No rate of 16-bit matrices is known of the card, nor one to derive it from.
    """
    placed = place(job, card, gpus=gpus).job
    assert isinstance(placed, TrainingJob)
    return tokens_per_hour(training_load(placed), rates_of(card))


def hours_for(job: TrainingJob | ServingJob, work: Work, card: Card, *, gpus: int) -> Interval:
    """Return the hours that work takes, whether or not the job fits.

    Raises
    ------
    UnknownPeakError
        No rate of 16-bit matrices is known of the card, nor one to derive it from.
    """
    placed = place(job, card, gpus=gpus).job
    if isinstance(placed, TrainingJob):
        speed = tokens_per_hour(training_load(placed), rates_of(card))
        return training_hours(work, speed)
    return serving_hours(placed, work, card)


def training_hours(work: Work, speed: Interval) -> Interval:
    """Return the hours at a speed in tokens per hour."""
    return Interval(work.tokens / speed.high, work.tokens / speed.middle, work.tokens / speed.low)


def serving_hours(job: ServingJob, work: Work, card: Card) -> Interval:
    """Return the hours to generate so many tokens, all of the job's requests running."""
    decode = decode_throughput(job, card)
    low = work.tokens / decode.high_tokens_per_s
    middle = work.tokens / decode.tokens_per_s
    high = work.tokens / decode.low_tokens_per_s
    if job.output_tokens:
        prompts = work.tokens / job.output_tokens * (job.context_tokens - job.output_tokens)
        prefill = prefill_speed(job, card)
        low += prompts / prefill.high_tokens_per_s
        middle += prompts / prefill.tokens_per_s
        high += prompts / prefill.low_tokens_per_s
    return Interval(low, middle, high).times(1 / SECONDS_PER_HOUR)


def rates_of(card: Card) -> Rates:
    """Return a card's speeds. Raises `UnknownPeakError` where no source says its peak."""
    peak = peak_flops(card, engine=Engine.TRANSFORMERS)
    pcie = PCIE_4_GB_PER_S * 2 ** (float(card.pcie_gen) - PCIE_4) * GB
    nvlink = card.nvlink_gb_per_s
    return Rates(
        peak=peak,
        ceiling=measured_peaks().get(card.slug, peak),
        # The figure of NVLink counts both directions.
        link=pcie if nvlink is None else float(nvlink) / 2 * GB,
        has_nvlink=nvlink is not None,
        pcie=pcie,
    )


def training_flops_per_token(job: TrainingJob) -> float:
    """Return the operations of one token, computed again where checkpointing does so."""
    model = job.model
    per_parameter = FLOPS_FULL if job.method is Method.FULL else FLOPS_ADAPTERS
    if job.checkpointing in REPEATS_LAYERS:
        per_parameter += FLOPS_REPEATED
    attention = FLOPS_ATTENTION
    if job.checkpointing is not Checkpointing.NONE:
        attention += FLOPS_ATTENTION_REPEATED
    windowed = min(job.sequence_tokens, model.window_tokens)
    seen = model.full_layers * job.sequence_tokens + model.window_layers * windowed
    return float(per_parameter * model.read_parameters + attention * model.q_width * seen)


def training_load(job: TrainingJob) -> TrainingLoad:
    """Return what one micro-batch asks of each card."""
    together = job.tensor_parallel * job.pipeline_parallel
    states = states_of(job, facts=PROFILES[job.profile], constants=training_constants())
    weights = (states.weights + states.adapters) / together
    trained = states.trained / together
    stages = job.pipeline_parallel
    host = 0.0
    if job.offload is not Offload.NONE:
        host += OFFLOADED_BYTES * trained / job.data_parallel / job.accumulation
    if job.offload is Offload.ALL:
        host += GATHERS * weights / job.data_parallel
    return TrainingLoad(
        flops=training_flops_per_token(job) * job.tokens / together,
        tokens=job.tokens * job.data_parallel,
        carried_bytes=_between_copies(job, weights=weights, trained=trained) + _between_parts(job),
        host_bytes=host,
        unpacked_share=1 / job.tokens if job.method is Method.QLORA else 0.0,
        busy_share=job.accumulation / (job.accumulation + stages - 1),
    )


def tokens_per_hour(load: TrainingLoad, rates: Rates) -> Interval:
    """Return the tokens of all cards in an hour."""
    known = planning_constants()
    nvlink = rates.has_nvlink
    link_low = known.nvlink_share_low if nvlink else known.pcie_share_low
    link_middle = known.nvlink_share_middle if nvlink else known.pcie_share_middle
    link_high = known.nvlink_share_high if nvlink else known.pcie_share_high
    slow_work = _work_s(load, rates, known.mfu_low, known.unpacking_tokens_high)
    slow_link = _link_s(load, rates, link_low, known.pcie_share_low)
    work = _work_s(load, rates, known.mfu_middle, known.unpacking_tokens_middle)
    link = _link_s(load, rates, link_middle, known.pcie_share_middle)
    fast_work = _work_s(load, rates, known.mfu_high, known.unpacking_tokens_low)
    fast_link = _link_s(load, rates, link_high, known.pcie_share_high)
    tokens = SECONDS_PER_HOUR * load.tokens * load.busy_share
    return Interval(
        tokens / (slow_work + slow_link),
        # Halfway between one after the other and both at once.
        tokens / (max(work, link) + min(work, link) / 2),
        tokens / max(fast_work, fast_link),
    )


def _work_s(load: TrainingLoad, rates: Rates, share: float, unpacking_tokens: float) -> float:
    unpacking = 1 + unpacking_tokens * load.unpacked_share
    return load.flops * unpacking / min(rates.peak * share, rates.ceiling)


def _link_s(load: TrainingLoad, rates: Rates, share: float, pcie_share: float) -> float:
    between_cards = load.carried_bytes / (rates.link * share)
    return between_cards + load.host_bytes / (rates.pcie * pcie_share)


def _between_copies(job: TrainingJob, *, weights: float, trained: float) -> float:
    """Return the bytes that data-parallel cards exchange, each and per micro-batch."""
    ways = job.data_parallel
    gradients = GRADIENT_BYTES * trained
    if job.sharding in SHARDED_WEIGHTS:
        return (ways - 1) / ways * (GATHERS * weights + gradients)
    return (ways - 1) / ways * REDUCE_COPIES * gradients / job.accumulation


def _between_parts(job: TrainingJob) -> float:
    """Return the bytes of activations that cards exchange which divide every layer."""
    parts = job.tensor_parallel
    reduces = REDUCES_PER_LAYER
    if job.checkpointing in REPEATS_LAYERS:
        reduces += REDUCES_REPEATED
    layers = job.model.layers / job.pipeline_parallel
    size = job.tokens * job.model.hidden * ACTIVATION_BYTES
    return (parts - 1) / parts * REDUCE_COPIES * reduces * layers * size
