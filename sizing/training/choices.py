"""What may be chosen for a training run, in the words of forms, the API and the command line."""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final, NamedTuple


class Method(StrEnum):
    """What is trained: every weight, or small adapters beside frozen ones of 16 or 4 bits."""

    FULL = "full"
    LORA = "lora"
    QLORA = "qlora"


class Adapter(StrEnum):
    """What sits beside frozen weights: LoRA's two factors, or the adapters of LLaMA-Adapter."""

    LORA = "lora"
    PREFIX = "prefix"
    SCALES = "scales"


class Target(StrEnum):
    """Matrices that LoRA may be put on. The last two are trained whole, not by factors."""

    Q = "q"
    K = "k"
    V = "v"
    O = "o"  # noqa: E741 - the name of the matrix everywhere
    GATE = "gate"
    UP = "up"
    DOWN = "down"
    HEAD = "head"
    # The table of embeddings and the head, each trained whole as a copy beside the frozen one.
    WHOLE_EMBEDDINGS = "whole_embeddings"
    WHOLE_HEAD = "whole_head"


ATTENTION_TARGETS: Final = (Target.Q, Target.K, Target.V, Target.O)
MLP_TARGETS: Final = (Target.GATE, Target.UP, Target.DOWN)
ALL_LINEAR: Final = (*ATTENTION_TARGETS, *MLP_TARGETS)
QUERIES_AND_VALUES: Final = (Target.Q, Target.V)
TARGET_SETS: Final[Mapping[str, tuple[Target, ...]]] = MappingProxyType(
    {
        "all_linear": ALL_LINEAR,
        "attention": ATTENTION_TARGETS,
        "queries_values": QUERIES_AND_VALUES,
        "mlp": MLP_TARGETS,
        "all_linear_head": (*ALL_LINEAR, Target.HEAD),
        "all_linear_whole_embeddings": (
            *ALL_LINEAR,
            Target.WHOLE_EMBEDDINGS,
            Target.WHOLE_HEAD,
        ),
    }
)


class Quantization(StrEnum):
    """How the frozen weights of QLoRA are stored."""

    NF4 = "nf4"
    NF4_DOUBLE = "nf4_double"
    INT4_GROUPS = "int4_groups"
    INT8 = "int8"


# Bits per quantized parameter. NF4: a 32-bit scale per 64; doubly quantized, an 8-bit one per 64
# and a 32-bit one per 64 x 256 (Dettmers et al., arXiv 2305.14314). GPTQ and AWQ in groups of 128:
# a 16-bit scale and a 4-bit zero. LLM.int8: a scale per row, not counted.
BITS: Final[Mapping[Quantization, float]] = MappingProxyType(
    {
        Quantization.NF4: 4 + 32 / 64,
        Quantization.NF4_DOUBLE: 4 + 8 / 64 + 32 / (64 * 256),
        Quantization.INT4_GROUPS: 4 + 16 / 128 + 4 / 128,
        Quantization.INT8: 8.0,
    }
)


class Precision(StrEnum):
    """In what numbers trained weights, their gradients and states are kept."""

    FP32 = "fp32"
    MIXED = "mixed"
    MIXED_FP32_GRADIENTS = "mixed_fp32_gradients"
    DEEPSPEED = "deepspeed"
    BF16_FP32_MOMENTS = "bf16_fp32_moments"
    BF16 = "bf16"


class Bytes(NamedTuple):
    """Bytes per trained parameter. ``state`` is that of one number of an optimizer's state."""

    weight: int
    gradient: int
    master: int
    state: int


# DeepSpeed keeps the 16-bit gradient and its 32-bit copy, 6 bytes (its ZeRO estimators).
PRECISION_BYTES: Final[Mapping[Precision, Bytes]] = MappingProxyType(
    {
        Precision.FP32: Bytes(4, 4, 0, 4),
        Precision.MIXED: Bytes(2, 2, 4, 4),
        Precision.MIXED_FP32_GRADIENTS: Bytes(2, 4, 4, 4),
        Precision.DEEPSPEED: Bytes(2, 6, 4, 4),
        Precision.BF16_FP32_MOMENTS: Bytes(2, 2, 0, 4),
        Precision.BF16: Bytes(2, 2, 0, 2),
    }
)


class Optimizer(StrEnum):
    ADAMW = "adamw"
    ADAMW_8BIT = "adamw_8bit"
    PAGED_ADAMW_8BIT = "paged_adamw_8bit"
    LION = "lion"
    LION_8BIT = "lion_8bit"
    ADAFACTOR = "adafactor"
    MUON = "muon"
    SGD_MOMENTUM = "sgd_momentum"
    SGD = "sgd"
    GALORE = "galore"


class Checkpointing(StrEnum):
    """What of the forward pass is computed again: nothing, attention scores, or whole layers."""

    NONE = "none"
    SELECTIVE = "selective"
    FULL = "full"
    OFFLOADED = "offloaded"


class Attention(StrEnum):
    """Eager attention writes the scores out; the other two never do."""

    EAGER = "eager"
    SDPA = "sdpa"
    FLASH = "flash"


class Loss(StrEnum):
    """How the loss over the vocabulary is computed: at once, in pieces, or never written out."""

    EAGER = "eager"
    CHUNKED = "chunked"
    FUSED = "fused"


class Sharding(StrEnum):
    """What is split over the cards that take different texts."""

    NONE = "none"
    DDP = "ddp"
    ZERO1 = "zero1"
    ZERO2 = "zero2"
    ZERO3 = "zero3"
    FSDP = "fsdp"


class Offload(StrEnum):
    """What lies in the server's memory: nothing, the optimizer's states, or the weights too."""

    NONE = "none"
    OPTIMIZER = "optimizer"
    ALL = "all"


class Counted(StrEnum):
    """What a measurement counts: what is handed out, what is held for it, or all of the card."""

    ALLOCATED = "allocated"
    RESERVED = "reserved"
    DEVICE = "device"


class Recipe(NamedTuple):
    """A named way to keep weights, gradients and states."""

    key: str
    precision: Precision
    optimizer: Optimizer
    is_fused_step: bool = False


# By letter, from the most memory to the least: 20, 18, 16, 12, 10, 10, 8, 6, 4 and 2 bytes per
# parameter. A fused step applies each gradient as soon as it is there and drops it.
RECIPES: Final[Mapping[str, Recipe]] = MappingProxyType(
    {
        "A": Recipe("A", Precision.DEEPSPEED, Optimizer.ADAMW),
        "B": Recipe("B", Precision.MIXED_FP32_GRADIENTS, Optimizer.ADAMW),
        "C": Recipe("C", Precision.MIXED, Optimizer.ADAMW),
        "D": Recipe("D", Precision.BF16_FP32_MOMENTS, Optimizer.ADAMW),
        "E": Recipe("E", Precision.BF16_FP32_MOMENTS, Optimizer.ADAMW, is_fused_step=True),
        "F": Recipe("F", Precision.MIXED, Optimizer.ADAMW_8BIT),
        "G": Recipe("G", Precision.BF16, Optimizer.ADAMW),
        "H": Recipe("H", Precision.BF16, Optimizer.ADAMW_8BIT),
        "I": Recipe("I", Precision.BF16, Optimizer.ADAMW_8BIT, is_fused_step=True),
        "J": Recipe("J", Precision.BF16, Optimizer.PAGED_ADAMW_8BIT, is_fused_step=True),
    }
)
