"""What each card keeps of the states, and what sharing costs it.

With N data-parallel cards: DDP keeps a copy of everything on each; ZeRO-1 divides the optimizer's
states by N, ZeRO-2 gradients as well, ZeRO-3 and FSDP weights as well, and gather the layers they
work on. A group of one card already pays for that, so more cards never need more each. Tensor parallel divides every matrix, pipeline parallel the layers.
"""

from typing import NamedTuple

from sizing.training.choices import Method, Offload, Precision, Sharding
from sizing.training.constants import Constants
from sizing.training.job import TrainingJob
from sizing.training.profiles import Facts
from sizing.training.states import States

SHARDED_STATES = frozenset({Sharding.ZERO1, Sharding.ZERO2, Sharding.ZERO3, Sharding.FSDP})
SHARDED_GRADIENTS = frozenset({Sharding.ZERO2, Sharding.ZERO3, Sharding.FSDP})
SHARDED_WEIGHTS = frozenset({Sharding.ZERO3, Sharding.FSDP})


class Shares(NamedTuple):
    """Bytes of one card, and ``host`` bytes of the server for all its cards."""

    weights: float
    adapters: float
    gradients: float
    optimizer: float
    step: float
    working: float
    host: float


def shares_of(job: TrainingJob, states: States, *, facts: Facts, constants: Constants) -> Shares:
    """Return what one card keeps."""
    tensor, pipeline = job.tensor_parallel, job.pipeline_parallel
    ways, sharding = job.data_parallel, job.sharding
    embeddings = states.weights - states.block_weights
    weights = states.block_weights / (tensor * pipeline) + embeddings / tensor
    # Embeddings stand on the first and the last stage only; the fullest card is one of them.
    share = weights / states.weights
    adapters, gradients = states.adapters * share, states.gradients * share
    optimizer, step = states.optimizer * share, states.step * share
    working = _buckets(job, states, share=share, facts=facts, constants=constants)
    if sharding in SHARDED_STATES:
        optimizer /= ways
        step /= ways
    if sharding in SHARDED_GRADIENTS:
        gradients /= ways
    host = 0.0
    if sharding in SHARDED_WEIGHTS:
        working += _gathered(job, states, facts=facts, constants=constants)
        weights /= ways
        adapters /= ways
    elif job.offload is Offload.ALL:
        working += _gathered(job, states, facts=facts, constants=constants)
    if job.offload is not Offload.NONE:
        host += (optimizer + step) * job.cards
        optimizer = step = 0.0
    if job.offload is Offload.ALL:
        host += (weights + adapters + gradients) * job.cards
        weights = adapters = gradients = 0.0
    return Shares(weights, adapters, gradients, optimizer, step, working, host)


def _gathered(job: TrainingJob, states: States, *, facts: Facts, constants: Constants) -> float:
    """Return the bytes of layers gathered from all shards, in the type they are stored in."""
    if facts.keeps_gathered_weights:
        return states.weights / job.tensor_parallel / job.pipeline_parallel
    layer = states.block_weights / job.model.layers / job.tensor_parallel
    table_bytes = 2 * job.model.vocabulary * job.model.hidden / job.tensor_parallel
    return max(constants.gathered_layers * layer, layer + table_bytes)


def _buckets(
    job: TrainingJob, states: States, *, share: float, facts: Facts, constants: Constants
) -> float:
    """Return the bytes of the buckets that gradients are exchanged in."""
    trained = states.trained * share
    if facts.has_buckets:
        return constants.bucket_bytes * min(trained, constants.bucket_elements)
    if job.sharding in {Sharding.NONE, Sharding.FSDP}:
        return 0.0
    if job.sharding is Sharding.DDP:
        is_wide = job.method is Method.FULL and job.precision is Precision.FP32
        return (4 if is_wide else 2) * trained
    return constants.bucket_bytes / 2 * min(trained, constants.bucket_elements)
