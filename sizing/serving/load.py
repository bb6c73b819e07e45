"""What one step of decoding reads, launches and computes: the work, before any speed is assumed.

Per token of one request: active weights once, without the embedding, which is only looked up, and
the keys and values of the context so far. With more requests a step reads the weights once for
all, the experts that any of them needs, and every request's own cache.
"""

from typing import Final, NamedTuple

from sizing.cards import Card
from sizing.serving.formats import BITS_PER_BYTE, KV_BITS, read_bytes
from sizing.serving.job import ServingJob, Split
from sizing.serving.kv_cache import kept_layer_tokens, layer_token_elements
from sizing.units import GB

# All-reduces of a layer under tensor parallelism: behind attention and behind the MLP.
REDUCES_PER_LAYER: Final = 2
# Latency of one, in seconds. Inferred from public traces, not measured here.
NVLINK_REDUCE_S: Final = 15e-6
PCIE_REDUCE_S: Final = 40e-6
# A PCIe link of 16 lanes carries about 2 GB/s a lane in generation 4, twice as much each step.
PCIE_4_GB_PER_S: Final = 32
PCIE_4: Final = 4
REDUCE_ELEMENT_BYTES: Final = 2


class DecodeLoad(NamedTuple):
    """One step of all requests on the cards of a job.

    ``read_s``: seconds to read everything at the full bandwidth; ``layers``: how many are launched
    one after the other; ``looped_experts``: experts of each; ``link_s``: between cards;
    ``hops``: borders between cards that split the layers.
    """

    read_s: float
    layers: int
    looped_experts: int
    link_s: float
    hops: int


def decode_load(job: ServingJob, card: Card) -> DecodeLoad:
    """Return the work of one step."""
    model = job.model
    bandwidth = float(card.bandwidth_gb_per_s) * GB
    read = step_weight_bytes(job) / job.tensor_parallel + _cache_read_bytes(job)
    return DecodeLoad(
        read_s=read / bandwidth,
        layers=model.layers,
        looped_experts=model.experts.total if model.experts is not None else 0,
        link_s=_link_s(job, card),
        hops=job.gpus - 1 if job.split is Split.LAYERS else 0,
    )


def step_weight_bytes(job: ServingJob) -> float:
    """Return the bytes of weights that a step of all requests reads, on all cards together."""
    model = job.model
    read = float(read_bytes(model, job.weights))
    if model.experts is None or job.requests == 1:
        return read
    moe = model.experts
    touched = moe.total * (1 - (1 - moe.per_token / moe.total) ** job.requests)
    expert = model.mlp_matrices * model.hidden * moe.intermediate
    sparse_layers = model.layers - moe.first_dense_layers
    more = sparse_layers * (touched - moe.per_token) * expert
    return read + more * job.weights.mlp_bits / BITS_PER_BYTE


def _cache_read_bytes(job: ServingJob) -> float:
    """Return what a step reads of the cache, in the middle of the answers."""
    tokens = kept_layer_tokens(
        job.model, context_tokens=job.context_tokens - job.output_tokens // 2
    )
    elements = layer_token_elements(job.model, tensor_parallel=job.tensor_parallel)
    return job.requests * tokens * elements * KV_BITS[job.kv_format] / BITS_PER_BYTE


def _link_s(job: ServingJob, card: Card) -> float:
    cards = job.tensor_parallel
    if cards == 1:
        return 0.0
    has_nvlink = card.nvlink_gb_per_s is not None
    # The figure of NVLink counts both directions.
    link = (
        float(card.nvlink_gb_per_s or 0) / 2
        if has_nvlink
        else PCIE_4_GB_PER_S * 2 ** (float(card.pcie_gen) - PCIE_4)
    )
    latency = NVLINK_REDUCE_S if has_nvlink else PCIE_REDUCE_S
    size = job.requests * job.model.hidden * REDUCE_ELEMENT_BYTES
    carried = 2 * (cards - 1) / cards * size / (link * GB)
    return job.model.layers * REDUCES_PER_LAYER * (latency + carried)
