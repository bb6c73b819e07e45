"""Peak memory of training: the sum of what lives at the same moment, at the fullest of moments.

Three moments are compared: the loss (stored activations and logits), the first layer of backward
(stored activations and one layer's own), and the optimizer's step (a copy of states, gradients).
Weights, gradients and states are there at all of them.

Error: the table of the accuracy report by method; the interval holds nine runs of ten.
Left out: data loaders, evaluation, checkpoints being written, other processes on the card.
"""

from typing import NamedTuple

from sizing.estimates import Estimate, Part, Term
from sizing.training.activations import layer_bytes, loss_bytes_per_entry
from sizing.training.choices import (
    Checkpointing,
    Counted,
    Method,
)
from sizing.training.constants import Constants, training_constants
from sizing.training.job import TrainingJob
from sizing.training.profiles import PROFILES, Facts
from sizing.training.sharding import Shares, shares_of
from sizing.training.states import States, states_of

LEFT_OUT = ("data_loading", "evaluation", "checkpoint_writing")


class Peak(NamedTuple):
    """Bytes of one card at the fullest moment, and what they are made of."""

    states: States
    shares: Shares
    stored: float
    layer: float
    logits: float
    step: float
    overhead: float
    host: float


def estimate_training(job: TrainingJob, *, constants: Constants | None = None) -> Estimate:
    """Return the peak memory of the fullest card, in bytes.

    The job is taken as checked; see `check_training_job`.
    """
    used = constants or training_constants()
    peak = peak_of(job, constants=used)
    shares = peak.shares
    # Only one of the three moments is the peak; its own terms are the ones listed.
    loss, backward = peak.stored + peak.logits, peak.stored + peak.layer
    is_step = peak.step > max(loss, backward)
    activations = 0.0 if is_step else peak.stored
    logits = 0.0
    if not is_step:
        if loss >= backward:
            logits = peak.logits
        else:
            activations += peak.layer
    optimizer = shares.optimizer + (peak.step if is_step else 0.0)
    terms = [
        Term(part, int(size))
        for part, size in (
            (Part.WEIGHTS, shares.weights),
            (Part.ADAPTERS, shares.adapters),
            (Part.GRADIENTS, shares.gradients),
            (Part.OPTIMIZER, optimizer),
            (Part.ACTIVATIONS, activations),
            (Part.LOGITS, logits),
            (Part.OVERHEAD, peak.overhead),
        )
        if size >= 1
    ]
    total = 0
    for term in terms:
        total += term[1]
    return Estimate(
        terms=tuple(terms),
        peak_bytes=total,
        low_bytes=int(total * used.low_share),
        high_bytes=int(total * used.high_share),
        host_bytes=int(peak.host),
        left_out=LEFT_OUT,
    )


def peak_of(job: TrainingJob, *, constants: Constants) -> Peak:
    """Return all addends of the peak."""
    facts = PROFILES[job.profile]
    states = states_of(job, facts=facts, constants=constants)
    shares = shares_of(job, states, facts=facts, constants=constants)
    stored, layer, host = _activations(job, facts=facts, constants=constants)
    logits = _logits(job, facts=facts, constants=constants)
    moment = max(stored + logits, stored + layer, shares.step)
    held = shares.weights + shares.adapters + shares.gradients + shares.optimizer + moment
    overhead = shares.working
    if job.counted is not Counted.ALLOCATED:
        overhead += constants.fragmentation_share * (held + overhead)
    if job.counted is Counted.DEVICE:
        overhead += constants.context_bytes
        if job.cards > 1:
            overhead += constants.communication_bytes
    return Peak(states, shares, stored, layer, logits, shares.step, overhead, shares.host + host)


def _activations(
    job: TrainingJob, *, facts: Facts, constants: Constants
) -> tuple[float, float, float]:
    """Return what is stored for backward, what one layer adds, and what lies with the server."""
    model = job.model
    each = layer_bytes(job, facts=facts, constants=constants)
    tokens, tensor = job.tokens, job.tensor_parallel
    # Of p stages the first holds p micro-batches of its layers: as much as all layers of one.
    layers = -(-model.layers // job.pipeline_parallel) * job.pipeline_parallel
    kept = tokens * each.kept / tensor
    scores = tokens * each.scores / tensor
    # The gradient flowing back, and a layer's weights spelled out where they are quantized.
    flowing = 2.0 * tokens * model.hidden
    if job.method is Method.QLORA:
        flowing += 2.0 * model.hidden * model.intermediate
    if job.checkpointing is Checkpointing.NONE:
        return layers * (kept + scores), flowing, 0.0
    if job.checkpointing is Checkpointing.SELECTIVE:
        return layers * kept, flowing + scores, 0.0
    inputs = 2.0 * tokens * model.hidden * layers
    if job.checkpointing is Checkpointing.OFFLOADED:
        return 0.0, kept + scores + flowing, inputs * job.cards
    return inputs, kept + scores + flowing, 0.0


def _logits(job: TrainingJob, *, facts: Facts, constants: Constants) -> float:
    entry = loss_bytes_per_entry(job, facts=facts, constants=constants)
    return entry * job.tokens * job.model.vocabulary / job.tensor_parallel
