"""From a row of measurements to the job and the card it describes, or why it cannot be judged.

Columns used: method (names the engine, the tokens generated, the cache), precision, seq_len,
micro_batch, gpu, gpus, sharding, metric. What a source measured decides what is counted: figures of
transformers and LitGPT are the allocator's, without the driver's context.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from sizing.cards import Card
from sizing.measurements import INFERENCE_TASK, Measurement, Metric
from sizing.serving.constants import Constants
from sizing.serving.formats import KvFormat, WeightFormat, all_weight_formats
from sizing.serving.job import (
    RESERVING_ENGINES,
    Cache,
    Counted,
    Engine,
    ServingJob,
    Split,
    can_load,
)
from sizing.serving.measured_cards import card_named
from sizing.serving.memory import estimate_serving
from sizing.serving.speed import decode_speed, prefill_speed
from sizing.shapes.language_models import all_language_models

# Rows of LitGPT give no length: its script generates 50 tokens after a prompt of some ten.
LITGPT_TOKENS: Final = 60
# Where a speed gives no length, the cache is small beside the weights in any case.
ASSUMED_TOKENS: Final = 512

_ENGINES: Final = (
    ("vllm", Engine.VLLM),
    ("sglang", Engine.SGLANG),
    ("litgpt", Engine.LITGPT),
    ("llama.cpp", Engine.LLAMA_CPP),
    ("llama-", Engine.LLAMA_CPP),
    ("ollama", Engine.LLAMA_CPP),
    ("gguf", Engine.LLAMA_CPP),
    ("transformers", Engine.TRANSFORMERS),
    ("hugging face", Engine.TRANSFORMERS),
    ("kv cache", Engine.TRANSFORMERS),
    ("generate", Engine.TRANSFORMERS),
)
# Models whose rows ran their own code of 2023.
_OWN_CODE: Final = "qwen1-"
_PRECISIONS: Final = MappingProxyType(
    {
        "f16": "fp16",
        "float16": "fp16",
        "bfloat16": "bf16",
        "bf16-true": "bf16",
        "f32": "fp32",
        "gptq-int8": "int8",
        "int8-gptq": "int8",
        "bnb.int8": "int8",
        "gptq-int4": "int4-g128",
        "int4-gptq": "int4-g128",
        "awq-int4": "int4-g128",
        "int4-awq": "int4-g128",
        "awq": "int4-g128",
        "gptq": "int4-g128",
        "int4": "int4-g128",
        "bnb.nf4": "nf4",
        "bnb.nf4-dq": "nf4-dq",
    }
)


class UnjudgedRowError(ValueError):
    """A row that cannot be judged; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServingRun:
    """What a row ran. ``card`` is None where memory alone was measured and no card named."""

    job: ServingJob
    card: Card | None
    metric: Metric
    measured: float
    source: str


def serving_run(row: Measurement) -> ServingRun:
    """Return what a row of inference describes.

    Raises
    ------
    UnjudgedRowError
        The engine, the format, the card or a length is not known or not told.
    """
    if row.task != INFERENCE_TASK:
        raise UnjudgedRowError(f"{row.task} is not serving")
    card = card_named(row.cells["gpu"])
    is_speed = row.metric in {Metric.DECODE_SPEED, Metric.PREFILL_SPEED}
    if is_speed and card is None:
        raise UnjudgedRowError(f"the card “{row.cells['gpu']}” is not known")
    job = _job(row, is_speed=is_speed)
    if not is_speed and job.engine in RESERVING_ENGINES:
        raise UnjudgedRowError(f"{job.engine.value} reserves memory in advance, whatever it needs")
    return ServingRun(job=job, card=card, metric=row.metric, measured=row.value, source=row.source)


def estimate_of(run: ServingRun, *, constants: Constants | None = None) -> float:
    """Return the estimate in the unit of the row: bytes or tokens per second."""
    if run.metric is Metric.PEAK_MEMORY:
        return float(estimate_serving(run.job, constants=constants).peak_bytes)
    if run.metric is Metric.PEAK_MEMORY_TOTAL:
        return float(estimate_serving(run.job, constants=constants).peak_bytes * run.job.gpus)
    assert run.card is not None
    speed = decode_speed if run.metric is Metric.DECODE_SPEED else prefill_speed
    return speed(run.job, run.card, constants=constants).tokens_per_s


def _job(row: Measurement, *, is_speed: bool) -> ServingJob:
    engine = _engine(row)
    weights = _weights(row.cells, engine=engine)
    context, output = _lengths(row, engine=engine, is_speed=is_speed)
    method = row.method.lower()
    return ServingJob(
        model=all_language_models()[row.model_slug],
        weights=weights,
        context_tokens=context,
        kv_format=_kv_format(method),
        engine=engine,
        requests=int(row.cells["micro_batch"] or 1),
        output_tokens=output,
        gpus=row.gpus,
        split=_split(row.cells, engine=engine),
        cache=Cache.CONCATENATED if method.startswith("kv cache") else Cache.AS_NEEDED,
        counted=Counted.HELD,
    )


def _engine(row: Measurement) -> Engine:
    words = f"{row.method} {row.cells['note']}".lower()
    for word, engine in _ENGINES:
        if word in words:
            is_own_code = row.model_slug.startswith(_OWN_CODE)
            if engine is Engine.TRANSFORMERS and is_own_code:
                return Engine.TRANSFORMERS_2023
            return engine
    raise UnjudgedRowError(f"no engine is named in “{row.method}”")


def _weights(cells: Mapping[str, str], *, engine: Engine) -> WeightFormat:
    name = cells["precision"].lower().replace(" ", "-")
    slug = _PRECISIONS.get(name, name.replace("_", "-"))
    found = all_weight_formats().get(slug)
    if found is None:
        raise UnjudgedRowError(f"the precision “{cells['precision']}” is not known")
    if not can_load(engine, found):
        raise UnjudgedRowError(f"{engine.value} does not load {found.name}")
    return found


def _lengths(row: Measurement, *, engine: Engine, is_speed: bool) -> tuple[int, int]:
    """Return the tokens of the context and, of these, of the answer."""
    length = int(row.cells["seq_len"] or 0)
    after = re.search(r"(\d+) (?:tokens )?generated", row.method)
    if after and length:
        return length + int(after[1]), int(after[1])
    if length:
        # Speeds of a prompt give its length, all others what was generated after a short one.
        return length, 0 if row.metric is Metric.PREFILL_SPEED else length
    if engine is Engine.LITGPT:
        return LITGPT_TOKENS, LITGPT_TOKENS
    if is_speed:
        return ASSUMED_TOKENS, 0
    raise UnjudgedRowError("the length in tokens is not given")


def _kv_format(method: str) -> KvFormat:
    for word, kv_format in (
        ("kv cache int8", KvFormat.INT8),
        ("int8 kv", KvFormat.INT8),
        ("fp8 kv", KvFormat.FP8),
        ("q8 kv", KvFormat.Q8_0),
        ("q4 kv", KvFormat.Q4_0),
    ):
        if word in method:
            return kv_format
    return KvFormat.SIXTEEN


def _split(cells: Mapping[str, str], *, engine: Engine) -> Split:
    words = f"{cells['method']} {cells['sharding']}".lower()
    if re.search(r"\btp\W?\d|tensor", words) or engine in RESERVING_ENGINES:
        return Split.TENSOR
    return Split.LAYERS
