"""Measured fine-tuning runs as jobs: what each row and its source say of the settings."""

import re
from collections.abc import Mapping
from typing import Final

from sizing.measurements import Measurement, Metric
from sizing.shapes.language_models import model_by_slug
from sizing.training.choices import (
    ALL_LINEAR,
    QUERIES_AND_VALUES,
    Adapter,
    Attention,
    Checkpointing,
    Counted,
    Loss,
    Method,
    Offload,
    Optimizer,
    Precision,
    Quantization,
    Sharding,
    Target,
)
from sizing.training.constants import Constants
from sizing.training.job import TrainingJob
from sizing.training.memory import estimate_training
from sizing.training.profiles import PROFILES, Profile


class UnreadableRowError(Exception):
    """A row whose settings cannot be told; the message says which."""


# Words that name a framework in a row's cells, the most telling first.
PROFILE_WORDS: Final = (
    ("unsloth", Profile.UNSLOTH),
    ("torchtune", Profile.TORCHTUNE),
    ("litgpt", Profile.LITGPT),
    ("axolotl", Profile.AXOLOTL),
    ("llama-factory", Profile.LLAMA_FACTORY),
    ("deepspeed", Profile.DEEPSPEED),
    ("zero-", Profile.DEEPSPEED),
    ("peft", Profile.TRANSFORMERS),
    ("transformers", Profile.TRANSFORMERS),
    ("trl", Profile.TRANSFORMERS),
)
# Any number above one says the same: gradients are kept.
USUAL_ACCUMULATION: Final = 8
QWEN_SCRIPTS: Final = "QwenLM/Qwen/"
# Names of the matrices in the configurations of the two families of frameworks.
TARGET_WORDS: Final = (
    ("all linear", ALL_LINEAR),
    ("all-linear", ALL_LINEAR),
    ("query", (Target.Q,)),
    ("q_proj", (Target.Q,)),
    ("key", (Target.K,)),
    ("k_proj", (Target.K,)),
    ("value", (Target.V,)),
    ("v_proj", (Target.V,)),
    ("o_proj", (Target.O,)),
    ("output_proj", (Target.O,)),
    ("gate", (Target.GATE,)),
    ("up_proj", (Target.UP,)),
    ("down", (Target.DOWN,)),
    ("mlp", (Target.GATE, Target.UP, Target.DOWN)),
    ("attn", (Target.Q, Target.K, Target.V, Target.O)),
    ("attention", (Target.Q, Target.K, Target.V, Target.O)),
    ("lm_head", (Target.HEAD,)),
)


def training_job(row: Measurement) -> TrainingJob:
    """Return the job that a row describes.

    Raises
    ------
    UnreadableRowError
        The method is not one that the engine knows.
    """
    cells = row.cells
    words = " ".join((*cells.values(), row.source)).lower()
    method = _method(row)
    profile = _profile(row, words=words, method=method)
    facts = PROFILES[profile]
    precision, optimizer, is_fused = _recipe(cells, words=words, profile=profile)
    return TrainingJob(
        model=model_by_slug(row.model_slug),
        method=method,
        profile=profile,
        precision=precision,
        optimizer=optimizer,
        is_fused_step=is_fused,
        adapter=_adapter(row),
        lora_rank=_rank(row),
        lora_targets=_targets(row),
        has_lora_dropout=True,
        adapter_precision=facts.adapter_precision,
        quantization=_quantization(words),
        sequence_tokens=int(cells["seq_len"]),
        micro_batch=int(cells["micro_batch"] or 1),
        accumulation=_accumulation(words, profile=profile),
        checkpointing=_checkpointing(cells, words=words, profile=profile),
        attention=_attention(cells),
        loss=_loss(words, profile=profile),
        is_compiled="compile" in words and "no compile" not in words,
        sharding=_sharding(row, words=words),
        cards=row.gpus,
        offload=_offload(words),
        counted=_counted(words, profile=profile),
    )


def training_estimate(row: Measurement, *, constants: Constants | None = None) -> float:
    """Return the estimate of a row, in the unit of its value."""
    peak = estimate_training(training_job(row), constants=constants).peak_bytes
    return float(peak * row.gpus if row.metric is Metric.PEAK_MEMORY_TOTAL else peak)


def _method(row: Measurement) -> Method:
    name = row.method.lower()
    if name.startswith("full"):
        return Method.FULL
    precision = row.cells["precision"].lower()
    is_quantized = any(word in precision for word in ("nf4", "fp4", "int4", "4-bit", "4bit"))
    if name.startswith("qlora") or (is_quantized and not name.startswith("full")):
        return Method.QLORA
    if name.startswith(("lora", "adapter", "dora")):
        return Method.LORA
    raise UnreadableRowError(f"method {row.method or 'none'}")


def _adapter(row: Measurement) -> Adapter:
    return {"adapter": Adapter.PREFIX, "adapter-v2": Adapter.SCALES}.get(
        row.method.lower(), Adapter.LORA
    )


def _profile(row: Measurement, *, words: str, method: Method) -> Profile:
    if QWEN_SCRIPTS in row.source:
        # The scripts for LoRA in 16 bits on one card do without DeepSpeed, all others use it.
        is_plain = method is Method.LORA and row.gpus == 1
        return Profile.TRANSFORMERS if is_plain else Profile.DEEPSPEED
    return next((each for word, each in PROFILE_WORDS if word in words), Profile.GENERIC)


def _recipe(
    cells: Mapping[str, str], *, words: str, profile: Profile
) -> tuple[Precision, Optimizer, bool]:
    name = cells["optimizer"].lower().replace("-", "").replace("_", "").replace(" ", "")
    is_fused = "in backward" in words or "in_bwd" in words or "fused in" in words
    optimizer = Optimizer.ADAMW
    if "paged" in name:
        optimizer = Optimizer.PAGED_ADAMW_8BIT
    elif "lion" in name:
        optimizer = Optimizer.LION_8BIT if "8" in name else Optimizer.LION
    elif "8bit" in name:
        optimizer = Optimizer.ADAMW_8BIT
    elif "adafactor" in name:
        optimizer = Optimizer.ADAFACTOR
    elif "muon" in name:
        optimizer = Optimizer.MUON
    elif "sgd" in name:
        optimizer = Optimizer.SGD_MOMENTUM if "momentum" in words else Optimizer.SGD
    elif "galore" in name:
        optimizer = Optimizer.GALORE
    precision = PROFILES[profile].full_precision
    stated = cells["precision"].lower()
    if stated in {"fp32", "float32", "32-true"} or "mixed" in stated:
        precision = Precision.FP32
    elif stated.endswith("-true"):
        precision = Precision.BF16
    return precision, optimizer, is_fused


def _rank(row: Measurement) -> int:
    if row.cells["lora_rank"]:
        return int(row.cells["lora_rank"])
    return 64 if QWEN_SCRIPTS in row.source else 8


def _targets(row: Measurement) -> tuple[Target, ...]:
    stated = row.cells["lora_targets"].lower()
    found: list[Target] = []
    for word, targets in TARGET_WORDS:
        if word in stated:
            found += [each for each in targets if each not in found]
    if not found:
        found = list(QUERIES_AND_VALUES if row.cells["lora_rank"] and stated else ALL_LINEAR)
    if row.method.lower() == "lora+emb":
        found += [Target.WHOLE_EMBEDDINGS, Target.WHOLE_HEAD]
    return tuple(target for target in Target if target in found)


def _quantization(words: str) -> Quantization:
    if "nf4-dq" in words or "double" in words:
        return Quantization.NF4_DOUBLE
    if "int4" in words or "gptq" in words or "awq" in words:
        return Quantization.INT4_GROUPS
    return Quantization.NF4


def _checkpointing(cells: Mapping[str, str], *, words: str, profile: Profile) -> Checkpointing:
    stated = cells["grad_ckpt"].lower()
    default = PROFILES[profile].checkpointing
    if stated in {"no", "none", "false", "0"}:
        return Checkpointing.NONE
    if "offload" in stated or "activation offload" in words:
        return Checkpointing.OFFLOADED
    if stated == "selective":
        return Checkpointing.SELECTIVE
    if stated:
        return Checkpointing.OFFLOADED if default is Checkpointing.OFFLOADED else Checkpointing.FULL
    return default


def _attention(cells: Mapping[str, str]) -> Attention:
    stated = cells["attention"].lower()
    if stated in {"eager", "hf", "naive"}:
        return Attention.EAGER
    return Attention.SDPA if "sdpa" in stated else Attention.FLASH


def _loss(words: str, *, profile: Profile) -> Loss:
    if "liger" in words or "fused linear" in words or "cut cross" in words:
        return Loss.FUSED
    if "chunked" in words:
        return Loss.CHUNKED
    return PROFILES[profile].loss


def _sharding(row: Measurement, *, words: str) -> Sharding:
    if row.gpus == 1:
        return Sharding.NONE
    stated = row.cells["sharding"].lower()
    for word, sharding in (
        ("zero-3", Sharding.ZERO3),
        ("zero3", Sharding.ZERO3),
        ("zero-2", Sharding.ZERO2),
        ("zero2", Sharding.ZERO2),
        ("zero-1", Sharding.ZERO1),
        ("fsdp", Sharding.FSDP),
        ("ddp", Sharding.DDP),
    ):
        if word in stated:
            return sharding
    if QWEN_SCRIPTS in row.source:
        # Full training takes the scripts' ZeRO-3, LoRA their ZeRO-2.
        return Sharding.ZERO3 if row.method.lower() == "full" else Sharding.ZERO2
    return Sharding.ZERO3 if "deepspeed" in words else Sharding.DDP


def _accumulation(words: str, *, profile: Profile) -> int:
    """Return the stated steps; runs that say nothing accumulate, save torchtune's."""
    stated = re.search(r"accumulation(?: steps)?\s*[:=]?\s*(\d{1,5})", words)
    if stated:
        return max(1, int(stated[1]))
    if "without gradient accumulation" in words or "no accumulation" in words:
        return 1
    return 1 if profile is Profile.TORCHTUNE else USUAL_ACCUMULATION


def _offload(words: str) -> Offload:
    if "cpu offload" in words or "parameters and optimizer on cpu" in words:
        return Offload.ALL
    return Offload.OPTIMIZER if "optimizer offload" in words else Offload.NONE


def _counted(words: str, *, profile: Profile) -> Counted:
    """LitGPT prints what is allocated, torchtune what is reserved; others read the card."""
    if "reserved" in words:
        return Counted.RESERVED
    if "allocated" in words or profile is Profile.LITGPT:
        return Counted.ALLOCATED
    return Counted.RESERVED if profile is Profile.TORCHTUNE else Counted.DEVICE
