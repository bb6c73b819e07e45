"""What frameworks do differently with the same settings: facts, each with its reason.

A profile holds no fitted figure. ``defaults`` are settings that a framework takes when nobody says
otherwise; a job names them itself.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from sizing.training.choices import Checkpointing, Loss, Precision


class Profile(StrEnum):
    GENERIC = "generic"
    TRANSFORMERS = "transformers"
    DEEPSPEED = "deepspeed"
    TORCHTUNE = "torchtune"
    LITGPT = "litgpt"
    LLAMA_FACTORY = "llama_factory"
    AXOLOTL = "axolotl"
    UNSLOTH = "unsloth"


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """How one framework behaves."""

    # Autocast, or the model itself, turns logits to 32 bits before cross-entropy.
    has_fp32_loss: bool = True
    # PEFT's preparation for k-bit training casts what is not quantized to 32 bits.
    keeps_embeddings_fp32: bool = False
    # The head goes through the same quantized linear layer as the others.
    quantizes_head: bool = False
    # The step of PyTorch's "foreach" AdamW, its default, makes temporary copies of a state; fused
    # and 8-bit ones make none.
    has_foreach_step: bool = True
    # DeepSpeed gathers gradients in buckets of a fixed number of elements, even on one card, and
    # keeps them from one step to the next.
    has_buckets: bool = False
    # Gathered weights of frozen layers stay on the card beside the shard.
    keeps_gathered_weights: bool = False
    # Kernels of its own write less of the MLP out.
    has_lean_kernels: bool = False
    adapter_precision: Precision = Precision.FP32
    full_precision: Precision = Precision.BF16
    loss: Loss = Loss.EAGER
    checkpointing: Checkpointing = Checkpointing.FULL


PROFILES: Final[Mapping[Profile, Facts]] = MappingProxyType(
    {
        Profile.GENERIC: Facts(),
        # Trainer runs under autocast, PEFT keeps adapters in fp32, TRL prepares for k-bit training.
        Profile.TRANSFORMERS: Facts(keeps_embeddings_fp32=True, full_precision=Precision.FP32),
        # The engine casts the model itself: no autocast, a master copy in fp32, buckets.
        Profile.DEEPSPEED: Facts(
            has_fp32_loss=False,
            has_foreach_step=False,
            has_buckets=True,
            adapter_precision=Precision.DEEPSPEED,
            full_precision=Precision.DEEPSPEED,
        ),
        # Recipes are bf16 throughout, with chunked cross-entropy and a fused optimizer step.
        Profile.TORCHTUNE: Facts(
            has_foreach_step=False, adapter_precision=Precision.BF16, loss=Loss.CHUNKED
        ),
        # "bf16-true", logits in chunks of 128 tokens, no checkpointing on one card by default.
        Profile.LITGPT: Facts(
            has_fp32_loss=False,
            quantizes_head=True,
            keeps_gathered_weights=True,
            adapter_precision=Precision.BF16,
            loss=Loss.CHUNKED,
            checkpointing=Checkpointing.NONE,
        ),
        # Casts only norms when told to, not the embeddings.
        Profile.LLAMA_FACTORY: Facts(full_precision=Precision.MIXED),
        # Loads in bf16 and trains in it, with the fused AdamW.
        Profile.AXOLOTL: Facts(
            keeps_embeddings_fp32=True, has_foreach_step=False, full_precision=Precision.BF16
        ),
        # Kernels of its own, checkpoints in the server's memory, cross-entropy in place.
        Profile.UNSLOTH: Facts(
            has_lean_kernels=True,
            has_foreach_step=False,
            loss=Loss.CHUNKED,
            checkpointing=Checkpointing.OFFLOADED,
        ),
    }
)
