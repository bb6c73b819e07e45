"""The words of what may be chosen. Keys are the engine's own, the words are a reader's."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from sizing.plain.jobs import Task
from sizing.serving.formats import KvFormat, all_weight_formats
from sizing.serving.job import Engine
from sizing.training.choices import (
    RECIPES,
    TARGET_SETS,
    Attention,
    Checkpointing,
    Loss,
    Method,
    Optimizer,
    Quantization,
)
from sizing.training.profiles import Profile

Words = str | Promise
Choices = Mapping[str, Words]


TASKS: Final[Choices] = MappingProxyType(
    {Task.TRAINING.value: _("Training"), Task.SERVING.value: _("Inference")}
)
METHODS: Final[Choices] = MappingProxyType(
    {
        Method.QLORA.value: _("QLoRA, 4 bits"),
        Method.LORA.value: _("LoRA, 16 bits"),
        Method.FULL.value: _("Training of every weight"),
    }
)
_RECIPE_WORDS: Final[Mapping[str, Words]] = {
    "A": _("DeepSpeed, AdamW: 20 bytes per parameter"),
    "B": _("Mixed, 32-bit gradients, AdamW: 18 bytes"),
    "C": _("Mixed, AdamW, the classic: 16 bytes"),
    "D": _("BF16, 32-bit moments: 12 bytes"),
    "E": _("BF16, 32-bit moments, fused step: 10 bytes"),
    "F": _("Mixed, 8-bit AdamW: 10 bytes"),
    "G": _("Pure BF16, AdamW: 8 bytes"),
    "H": _("Pure BF16, 8-bit AdamW: 6 bytes"),
    "I": _("Pure BF16, 8-bit AdamW, fused step: 4 bytes"),
    "J": _("Pure BF16, paged 8-bit AdamW: 2 bytes"),
}
RECIPE_CHOICES: Final[Choices] = MappingProxyType(
    {"": _("As the framework does, else C")} | {key: _RECIPE_WORDS[key] for key in RECIPES}
)
OPTIMIZERS: Final[Choices] = MappingProxyType(
    {
        Optimizer.ADAMW.value: _("AdamW, 32-bit moments"),
        Optimizer.ADAMW_8BIT.value: _("AdamW, 8 bits"),
        Optimizer.PAGED_ADAMW_8BIT.value: _("AdamW, 8 bits, paged"),
        Optimizer.LION.value: "Lion",
        Optimizer.LION_8BIT.value: _("Lion, 8 bits"),
        Optimizer.ADAFACTOR.value: "Adafactor",
        Optimizer.MUON.value: "Muon",
        Optimizer.SGD_MOMENTUM.value: _("SGD with momentum"),
        Optimizer.SGD.value: "SGD",
        Optimizer.GALORE.value: "GaLore",
    }
)
_TARGET_WORDS: Final[Mapping[str, Words]] = {
    "all_linear": _("All linear layers"),
    "attention": _("Attention"),
    "queries_values": _("Queries and values"),
    "mlp": _("MLP"),
    "all_linear_head": _("All linear layers and the head"),
    "all_linear_whole_embeddings": _("All linear layers, embeddings whole"),
}
TARGETS: Final[Choices] = MappingProxyType({key: _TARGET_WORDS[key] for key in TARGET_SETS})
QUANTIZATIONS: Final[Choices] = MappingProxyType(
    {
        Quantization.NF4_DOUBLE.value: _("NF4, double quantization"),
        Quantization.NF4.value: "NF4",
        Quantization.INT4_GROUPS.value: _("4 bits in groups (GPTQ, AWQ)"),
        Quantization.INT8.value: _("8 bits (LLM.int8)"),
    }
)
CHECKPOINTINGS: Final[Choices] = MappingProxyType(
    {
        Checkpointing.FULL.value: _("Every layer computed again"),
        Checkpointing.SELECTIVE.value: _("Attention computed again"),
        Checkpointing.NONE.value: _("Nothing computed again"),
        Checkpointing.OFFLOADED.value: _("Kept in the server’s memory"),
    }
)
ATTENTIONS: Final[Choices] = MappingProxyType(
    {
        Attention.FLASH.value: "FlashAttention",
        Attention.SDPA.value: _("PyTorch’s own (SDPA)"),
        Attention.EAGER.value: _("Written out (eager)"),
    }
)
LOSSES: Final[Choices] = MappingProxyType(
    {
        Loss.EAGER.value: _("Classic"),
        Loss.CHUNKED.value: _("In chunks"),
        Loss.FUSED.value: _("Fused"),
    }
)
PROFILES: Final[Choices] = MappingProxyType(
    {
        Profile.GENERIC.value: _("No particular one"),
        Profile.TRANSFORMERS.value: "Transformers + PEFT",
        Profile.DEEPSPEED.value: "DeepSpeed",
        Profile.TORCHTUNE.value: "torchtune",
        Profile.LITGPT.value: "LitGPT",
        Profile.LLAMA_FACTORY.value: "LLaMA-Factory",
        Profile.AXOLOTL.value: "Axolotl",
        Profile.UNSLOTH.value: "Unsloth",
    }
)
KV_FORMATS: Final[Choices] = MappingProxyType(
    {
        KvFormat.SIXTEEN.value: _("16 bits"),
        KvFormat.FP8.value: _("8 bits (FP8)"),
        KvFormat.INT8.value: _("8 bits (INT8)"),
        KvFormat.Q8_0.value: "q8_0 (llama.cpp)",
        KvFormat.Q4_0.value: "q4_0 (llama.cpp)",
    }
)
ENGINES: Final[Choices] = MappingProxyType(
    {
        "": _("The usual: vLLM, or llama.cpp for GGUF"),
        Engine.VLLM.value: "vLLM",
        Engine.SGLANG.value: "SGLang",
        Engine.TRANSFORMERS.value: "Transformers",
        Engine.LLAMA_CPP.value: "llama.cpp",
        Engine.LITGPT.value: "LitGPT",
    }
)


def weight_formats() -> Choices:
    """Return the formats of weights by their names, which are the same in every language."""
    return {slug: each.name for slug, each in all_weight_formats().items()}


# The settings that a change may alter, by the change's key.
SETTINGS: Final[Mapping[str, tuple[Words, Choices]]] = MappingProxyType(
    {
        "loss": (_("Loss"), LOSSES),
        "checkpointing": (_("Checkpointing"), CHECKPOINTINGS),
        "attention": (_("Attention"), ATTENTIONS),
        "optimizer": (_("Optimizer"), OPTIMIZERS),
        "method": (_("Method"), METHODS),
        "quantization": (_("Frozen weights"), QUANTIZATIONS),
        "kv_format": (_("Keys and values"), KV_FORMATS),
        "weights": (_("Weights"), weight_formats()),
    }
)
