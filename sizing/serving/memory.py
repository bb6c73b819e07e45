"""Memory of serving: weights, KV cache, activations of the prompt, logits, and the runtime's own.

Peak of the fullest card = weights / cards + KV cache / cards (heads of keys and values only divide
down to one a card) + activations of the tokens worked on in one step + logits of the last token of
each request + overhead. Units: bytes. Mixtures of experts are counted with all experts.

Source: the shape of the model and the bits of the formats; overheads from the table
``serving_constants.toml``. Error on the measured rows of transformers and LitGPT: median below
1 % in 16 bits, about 1 % quantized; the interval of an estimate is that of its class.
Left out: images and other inputs beside text, speculative decoding, adapters, prefix caches.
"""

from typing import Final

from sizing.cards import Card
from sizing.estimates import Estimate, Part, Term
from sizing.serving.constants import Constants, own_constants
from sizing.serving.formats import weight_bytes
from sizing.serving.job import RESERVING_ENGINES, Cache, Counted, Engine, ServingJob, Split
from sizing.serving.kv_cache import kv_cache_bytes
from sizing.shapes.architecture import LanguageModel

ACTIVATION_BYTES: Final = 2
# llama.cpp computes activations in 32 bits.
LLAMA_CPP_ACTIVATION_BYTES: Final = 4
# Logits of a token in 16 bits and their 32-bit copy for sampling.
LOGIT_BYTES: Final = 6
# Gate and up projections live at the same moment; so do the input of a layer and its norm.
LIVE_MLP_MATRICES: Final = 2
LIVE_HIDDEN: Final = 2
# A cache grown by concatenation holds old and new sizes.
CONCATENATED_COPIES: Final = 2


def estimate_serving(job: ServingJob, *, constants: Constants | None = None) -> Estimate:
    """Return the peak of the fullest card. The job is one that `check_serving_job` accepts."""
    known = constants or own_constants()
    weights = _card_weight_bytes(job)
    cache = cache_bytes(job)
    activations = activation_bytes(job) if job.counted is Counted.DEVICE else 0
    logits = job.requests * job.model.vocabulary * LOGIT_BYTES
    overhead = _overhead_bytes(job, known)
    peak = weights + cache + activations + logits + overhead
    spread = known.memory_spread(job)
    return Estimate(
        terms=tuple(
            Term(part, size)
            for part, size in (
                (Part.WEIGHTS, weights),
                (Part.ACTIVATIONS, activations),
                (Part.LOGITS, logits),
                (Part.KV_CACHE, cache),
                (Part.OVERHEAD, overhead),
            )
            if size
        ),
        peak_bytes=peak,
        low_bytes=int(peak * spread.low),
        high_bytes=int(peak * spread.high),
        left_out=_left_out(job),
    )


def reserved_bytes(job: ServingJob, card: Card) -> int:
    """Return what a reserving engine takes of the card whatever the job needs; 0 for others.

    vLLM and SGLang take a share of the card at start (90 % unless told otherwise) and serve out of
    it, so the driver's figure says nothing of the need.
    """
    if job.engine not in RESERVING_ENGINES:
        return 0
    return card.memory_bytes * job.utilization_percent // 100


def cache_bytes(job: ServingJob) -> int:
    """Return the KV cache of all requests on the fullest card."""
    copies = CONCATENATED_COPIES if job.cache is Cache.CONCATENATED else 1
    each = kv_cache_bytes(
        job.model,
        kv_format=job.kv_format,
        context_tokens=job.context_tokens,
        tensor_parallel=job.tensor_parallel,
        step_tokens=job.step_tokens,
    )
    if job.split is Split.LAYERS:
        each = each * _fullest_layers(job) // job.model.layers
    return job.requests * copies * each


def _card_weight_bytes(job: ServingJob) -> int:
    """Return the weights of the fullest card: whole layers where cards split the layers."""
    whole = all_weight_bytes(job)
    if job.split is Split.LAYERS:
        return whole * _fullest_layers(job) // job.model.layers
    return -(-whole // job.gpus)


def _fullest_layers(job: ServingJob) -> int:
    return -(-job.model.layers // job.gpus)


def activation_bytes(job: ServingJob) -> int:
    """Return what the tokens worked on in one step keep alive within one layer."""
    element_bytes = (
        LLAMA_CPP_ACTIVATION_BYTES if job.engine is Engine.LLAMA_CPP else ACTIVATION_BYTES
    )
    inner = max(_live_mlp_width(job.model), 2 * job.model.q_width + 2 * job.model.kv_width)
    width = LIVE_HIDDEN * job.model.hidden + -(-inner // job.tensor_parallel)
    return job.prefill_tokens * width * element_bytes


def _live_mlp_width(model: LanguageModel) -> int:
    if model.experts is None:
        return LIVE_MLP_MATRICES * model.intermediate
    moe = model.experts
    used = moe.per_token + moe.shared
    return used * (LIVE_MLP_MATRICES * moe.intermediate + model.hidden)


def all_weight_bytes(job: ServingJob) -> int:
    """Return the weights of the whole copy, as the job's engine holds them."""
    has_narrow_head = job.engine is Engine.LITGPT and not job.weights.is_16_bits_or_wider
    return weight_bytes(job.model, job.weights, has_narrow_head=has_narrow_head)


def _overhead_bytes(job: ServingJob, constants: Constants) -> int:
    """Return what the runtime takes beside tensors of the model."""
    table = job.model.vocabulary * job.model.hidden
    size = constants.workspace_bytes
    if not job.weights.is_16_bits_or_wider:
        if job.engine is Engine.LITGPT:
            size += table * constants.litgpt_head_bytes_per_weight
        elif job.engine is Engine.TRANSFORMERS_2023:
            size += table * constants.gptq_2023_bytes_per_weight
    if job.counted is Counted.DEVICE:
        size += constants.context_bytes
        if job.engine in RESERVING_ENGINES:
            size += constants.graphs_bytes
        if job.tensor_parallel > 1:
            # At most what dividing saves: a model that gains nothing by it is not divided.
            whole = all_weight_bytes(job)
            size += min(constants.nccl_bytes, whole - -(-whole // job.gpus))
    return size


_ALWAYS_LEFT_OUT: Final = ("inputs_beside_text", "speculative_decoding", "adapters")
_WITH_CONTEXT: Final = (*_ALWAYS_LEFT_OUT, "driver_context", "prompt_activations")


def _left_out(job: ServingJob) -> tuple[str, ...]:
    return _WITH_CONTEXT if job.counted is Counted.HELD else _ALWAYS_LEFT_OUT
