"""What is served and how: one frozen value, checked at the edge."""

from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from sizing.bounds import InputError, check_bounds
from sizing.serving.formats import KvFormat, WeightFormat
from sizing.shapes.architecture import LanguageModel


class Engine(StrEnum):
    """What runs the model."""

    TRANSFORMERS = "transformers"
    # As of 2023, with the model's own code: rows of that time still circulate.
    TRANSFORMERS_2023 = "transformers-2023"
    LITGPT = "litgpt"
    VLLM = "vllm"
    SGLANG = "sglang"
    LLAMA_CPP = "llama.cpp"


class Split(StrEnum):
    """How several cards share one copy of the model.

    ``TENSOR``: every layer is divided, all cards work on every token. ``LAYERS``: each card holds
    some of the layers, and one card works at a time.
    """

    TENSOR = "tensor"
    LAYERS = "layers"


class Cache(StrEnum):
    """How room for keys and values is taken.

    ``AS_NEEDED``: blocks or one allocation, no more than the context. ``CONCATENATED``: every token
    copies a layer's cache into a larger one; the allocator then holds old and new sizes, twice the
    cache in all.
    """

    AS_NEEDED = "as-needed"
    CONCATENATED = "concatenated"


class Counted(StrEnum):
    """Which bytes are meant.

    ``DEVICE``: what the card must have, the context of the driver and the peak of the prompt
    included. ``HELD``: what the framework's allocator holds while it generates, as most published
    figures report it.
    """

    DEVICE = "device"
    HELD = "held"


# Engines that reserve a share of the card in advance and serve out of it.
RESERVING_ENGINES: Final = (Engine.VLLM, Engine.SGLANG)
DEFAULT_CHUNK_TOKENS: Final = MappingProxyType(
    {
        # The most tokens of a step, V1 engine on cards below 70 GB; more on larger ones.
        Engine.VLLM: 2048,
        Engine.SGLANG: 8192,
        # The physical batch.
        Engine.LLAMA_CPP: 512,
    }
)


@dataclass(frozen=True, kw_only=True)
class ServingJob:
    """One copy of a model and the requests it serves at once.

    ``context_tokens`` are prompt and answer of one request together, ``output_tokens`` the answer's
    share (0: not told; speed then holds at the full context). ``prefill_chunk_tokens`` of 0 takes
    the engine's default. ``gpus`` cards share the copy as ``split`` says.
    """

    model: LanguageModel
    weights: WeightFormat
    context_tokens: int
    kv_format: KvFormat = KvFormat.SIXTEEN
    engine: Engine = Engine.VLLM
    requests: int = 1
    output_tokens: int = 0
    prefill_chunk_tokens: int = 0
    gpus: int = 1
    split: Split = Split.TENSOR
    cache: Cache = Cache.AS_NEEDED
    counted: Counted = Counted.DEVICE
    utilization_percent: int = 90

    @property
    def tensor_parallel(self) -> int:
        return self.gpus if self.split is Split.TENSOR else 1

    @property
    def prompt_tokens(self) -> int:
        return max(1, self.context_tokens - self.output_tokens)

    @property
    def step_tokens(self) -> int:
        """Most tokens that one step works on; 0: prompts are not divided."""
        return self.prefill_chunk_tokens or DEFAULT_CHUNK_TOKENS.get(self.engine, 0)

    @property
    def prefill_tokens(self) -> int:
        """Tokens of prompts that are worked on in one step."""
        chunk = self.step_tokens
        whole = self.prompt_tokens * self.requests
        return min(chunk, whole) if chunk else whole


def check_serving_job(job: ServingJob) -> None:
    """Refuse what cannot be run.

    Raises
    ------
    InputError
        With the field, what is wrong with it and what to try.
    """
    check_bounds(
        context_tokens=job.context_tokens,
        concurrency=job.requests,
        gpus=job.gpus,
        utilization_percent=job.utilization_percent,
    )
    _check_lengths(job)
    _check_split(job)
    _check_formats(job)


def _check_lengths(job: ServingJob) -> None:
    if job.output_tokens:
        check_bounds(output_tokens=job.output_tokens)
        if job.output_tokens > job.context_tokens:
            _refuse_above("output_tokens", job.output_tokens, "context_tokens", job.context_tokens)
    if job.prefill_chunk_tokens:
        check_bounds(prefill_chunk_tokens=job.prefill_chunk_tokens)
    if job.model.max_context and job.context_tokens > job.model.max_context:
        _refuse_above(
            "context_tokens", job.context_tokens, "the model's context", job.model.max_context
        )


def _refuse_above(field: str, given: int, dimension: str, most: int) -> None:
    values = {"given": given, "dimension": dimension, "most": most}
    raise InputError(field=field, problem="above_dimension", values=values)


def _check_split(job: ServingJob) -> None:
    if job.split is Split.LAYERS:
        if job.gpus > job.model.layers:
            _refuse_above("gpus", job.gpus, "the number of layers", job.model.layers)
        return
    check_bounds(tensor_parallel=job.gpus)
    if job.model.heads % job.gpus:
        divisors = tuple(n for n in range(1, job.model.heads + 1) if job.model.heads % n == 0)
        values = {
            "given": job.gpus,
            "dimension": "the number of heads",
            "whole": job.model.heads,
            "choices": divisors,
        }
        raise InputError(field="tensor_parallel", problem="not_dividing", values=values)


# What each engine cannot load. GGUF files are llama.cpp's; it reads nothing else but 16 bits.
_ONLY_IN_TORCH: Final = ("fp8", "int8", "int4-g128", "nf4", "nf4-dq", "nvfp4", "fp32")
_KV_OF_ENGINES: Final = MappingProxyType(
    {
        Engine.TRANSFORMERS: (KvFormat.SIXTEEN,),
        Engine.TRANSFORMERS_2023: (KvFormat.SIXTEEN, KvFormat.INT8),
        Engine.LITGPT: (KvFormat.SIXTEEN,),
        Engine.VLLM: (KvFormat.SIXTEEN, KvFormat.FP8),
        Engine.SGLANG: (KvFormat.SIXTEEN, KvFormat.FP8),
        Engine.LLAMA_CPP: (KvFormat.SIXTEEN, KvFormat.Q8_0, KvFormat.Q4_0),
    }
)


def can_load(engine: Engine, weights: WeightFormat) -> bool:
    """Whether an engine can serve weights stored in this format."""
    if engine is Engine.LLAMA_CPP:
        return weights.slug not in _ONLY_IN_TORCH
    if engine is Engine.LITGPT:
        return weights.slug in {"fp32", "fp16", "bf16", "nf4", "nf4-dq"}
    return not weights.is_gguf


def _check_formats(job: ServingJob) -> None:
    if not can_load(job.engine, job.weights):
        choices = tuple(engine.value for engine in Engine if can_load(engine, job.weights))
        values = {
            "given": job.engine.value,
            "other": "weight_format",
            "other_given": job.weights.slug,
            "choices": choices,
        }
        raise InputError(field="engine", problem="not_together", values=values)
    kv_formats = _KV_OF_ENGINES[job.engine]
    if job.kv_format not in kv_formats:
        values = {
            "given": job.kv_format.value,
            "other": "engine",
            "other_given": job.engine.value,
            "choices": tuple(each.value for each in kv_formats),
        }
        raise InputError(field="kv_format", problem="not_together", values=values)
