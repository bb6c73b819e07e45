"""Peak memory of training: the sum of what lives at the same moment, at the fullest of moments.

Three moments are compared, because what fills one is gone at the next:

    loss       stored activations, logits; gradients only of earlier micro-batches
    backward   stored activations of one layer and more the later it is, gradients
    step       gradients, and what the optimizer copies

During backward stored activations shrink as gradients grow, both in proportion, so its fullest
moment is one of its ends. Weights, adapters and optimizer states are there at all moments.

Error: by method, in the accuracy report; the interval holds nine runs of ten of sources that the
constants were not fitted to. Left out: loading data, evaluation, writing checkpoints.
"""

from enum import IntEnum
from typing import NamedTuple

from sizing.estimates import Estimate, Part, Term
from sizing.training.activations import layer_bytes, loss_bytes_per_entry
from sizing.training.choices import Checkpointing, Counted, Method, Sharding
from sizing.training.constants import Constants, training_constants
from sizing.training.job import TrainingJob
from sizing.training.profiles import PROFILES, Facts
from sizing.training.sharding import Shares, shares_of
from sizing.training.states import States, states_of

LEFT_OUT = ("data_loading", "evaluation", "checkpoint_writing")


class Moment(IntEnum):
    """When memory is fullest."""

    LOSS = 0
    FIRST_BACKWARD = 1
    LAST_BACKWARD = 2
    STEP = 3


class Passes(NamedTuple):
    """Bytes of activations: stored for backward, of one layer at work, on the server."""

    stored: float
    layer: float
    host: float


class Peak(NamedTuple):
    """The fullest moment of one card, in bytes, and what was reckoned on the way."""

    moment: Moment
    states: States
    shares: Shares
    passes: Passes
    logits: float
    gradients_held: float
    step: float
    overhead: float


class _Parts(NamedTuple):
    gradients: float
    activations: float
    logits: float
    step: float


def estimate_training(job: TrainingJob, *, constants: Constants | None = None) -> Estimate:
    """Return the peak memory of the fullest card, in bytes.

    The job is taken as checked; see `check_training_job`.
    """
    used = constants or training_constants()
    peak = peak_of(job, constants=used)
    shares = peak.shares
    parts = parts_at(peak)
    terms = [
        Term(part, int(size))
        for part, size in (
            (Part.WEIGHTS, shares.weights),
            (Part.ADAPTERS, shares.adapters),
            (Part.GRADIENTS, parts.gradients),
            (Part.OPTIMIZER, shares.optimizer + parts.step),
            (Part.ACTIVATIONS, parts.activations),
            (Part.LOGITS, parts.logits),
            (Part.OVERHEAD, peak.overhead),
        )
        if size >= 1
    ]
    total = 0
    for term in terms:
        total += term[1]
    low, high = interval_shares(job.method, constants=used)
    return Estimate(
        terms=tuple(terms),
        peak_bytes=total,
        low_bytes=int(total * low),
        high_bytes=int(total * high),
        host_bytes=int(shares.host + peak.passes.host),
        left_out=LEFT_OUT,
    )


def interval_shares(method: Method, *, constants: Constants) -> tuple[float, float]:
    """Return the interval's ends as shares of the estimate."""
    if method is Method.FULL:
        return constants.low_share_full, constants.high_share_full
    if method is Method.LORA:
        return constants.low_share_lora, constants.high_share_lora
    return constants.low_share_qlora, constants.high_share_qlora


def peak_of(job: TrainingJob, *, constants: Constants) -> Peak:
    """Return the fullest moment and all its addends."""
    facts = PROFILES[job.profile]
    states = states_of(job, facts=facts, constants=constants)
    shares = shares_of(job, states, facts=facts, constants=constants)
    passes = _passes(job, facts=facts, constants=constants)
    entry = loss_bytes_per_entry(job, facts=facts, constants=constants)
    logits = entry * job.tokens * job.model.vocabulary / job.tensor_parallel
    is_kept = job.accumulation > 1 or facts.has_buckets
    head = 2.0 * job.model.vocabulary * job.model.hidden / job.tensor_parallel
    # The head's own gradient is the first there, while the logits still are.
    held = shares.gradients if is_kept else min(shares.gradients, head)
    sums = (
        held + passes.stored + logits,
        held + passes.stored + passes.layer,
        shares.gradients + passes.layer,
        shares.gradients + shares.step,
    )
    most = max(sums)
    overhead = shares.working
    if job.counted is not Counted.ALLOCATED:
        fixed = shares.weights + shares.adapters + shares.optimizer
        overhead += constants.fragmentation_share * (fixed + most + overhead)
    if job.counted is Counted.DEVICE:
        overhead += constants.context_bytes
        if job.cards > 1 or job.sharding is not Sharding.NONE:
            overhead += constants.communication_bytes
    return Peak(
        Moment(sums.index(most)), states, shares, passes, logits, held, shares.step, overhead
    )


def parts_at(peak: Peak) -> _Parts:
    """Return the parts that only live at the fullest moment."""
    gradients, passes = peak.shares.gradients, peak.passes
    if peak.moment is Moment.LOSS:
        return _Parts(peak.gradients_held, passes.stored, peak.logits, 0.0)
    if peak.moment is Moment.FIRST_BACKWARD:
        return _Parts(peak.gradients_held, passes.stored + passes.layer, 0.0, 0.0)
    if peak.moment is Moment.LAST_BACKWARD:
        return _Parts(gradients, passes.layer, 0.0, 0.0)
    return _Parts(gradients, 0.0, 0.0, peak.step)


def _passes(job: TrainingJob, *, facts: Facts, constants: Constants) -> Passes:
    """Return what is stored for backward, what one layer adds, and what lies with the server."""
    model = job.model
    each = layer_bytes(job, facts=facts, constants=constants)
    tokens, tensor = job.tokens, job.tensor_parallel
    # Of p stages the first holds p micro-batches of its share of layers: as much as all of one.
    layers = model.layers
    kept = tokens * each.kept / tensor
    scores = tokens * each.scores / tensor
    # The gradient flowing back, and a layer's matrix spelled out where it is quantized.
    flowing = 2.0 * tokens * model.hidden
    if job.method is Method.QLORA:
        flowing += 2.0 * model.hidden * model.intermediate / tensor
    if job.checkpointing is Checkpointing.NONE:
        return Passes(layers * (kept + scores), flowing, 0.0)
    if job.checkpointing is Checkpointing.SELECTIVE:
        return Passes(layers * kept, flowing + scores, 0.0)
    inputs = 2.0 * tokens * model.hidden * layers
    if job.checkpointing is Checkpointing.OFFLOADED:
        return Passes(0.0, kept + scores + flowing, inputs * job.cards)
    return Passes(inputs, kept + scores + flowing, 0.0)
