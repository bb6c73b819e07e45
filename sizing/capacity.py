"""Indicative capacity: the largest base model that a card's memory suggests.

Rule: take 80 % of the memory and divide it by an all-in budget of bytes per parameter:
1.0 for QLoRA, 2.5 for 16-bit LoRA, 16 for training every weight. The budgets hold weights,
adapters or optimizer states, activations and the runtime together. Round down: to a whole
number of billions below 10, to a multiple of 5 from 10 up.

It holds for a micro-batch of one, recomputed gradients and about 2,048 tokens. It ignores
context length, batch size and vocabulary, so it is a first orientation, never an estimate
of one run. More memory never gives less capacity.
"""

from dataclasses import dataclass
from enum import StrEnum

from sizing.units import BILLION, GB

MEMORY_SHARE_PERCENT = 80
COARSE_FROM_B = 10
COARSE_STEP_B = 5


class Method(StrEnum):
    QLORA = "qlora"
    LORA16 = "lora16"
    FULL = "full"


# Tenths of a byte, so that 2.5 bytes stays an exact integer.
BYTES_TENTHS_PER_PARAMETER = {Method.QLORA: 10, Method.LORA16: 25, Method.FULL: 160}


@dataclass(frozen=True, slots=True, kw_only=True)
class Capacity:
    """Indicative capacity of one card, in billions of parameters."""

    slug: str
    memory_gb: int
    qlora_b: int
    lora16_b: int
    full_b: int


def indicative_parameters_b(*, memory_bytes: int, method: Method) -> int:
    """Return the largest base model, in billions of parameters, rounded down.

    Down, because a promise kept with room to spare is worth more than a larger number.
    Zero means that not even one billion parameters fit.
    """
    assert memory_bytes >= 0
    budget_tenths = memory_bytes * MEMORY_SHARE_PERCENT // 100 * 10
    return rounded_down_b(budget_tenths // (BYTES_TENTHS_PER_PARAMETER[method] * BILLION))


def rounded_down_b(exact_b: int) -> int:
    """Return billions as pages show them: whole below 10, multiples of 5 from 10 up."""
    if exact_b < COARSE_FROM_B:
        return exact_b
    return exact_b // COARSE_STEP_B * COARSE_STEP_B


def indicative_capacity(*, slug: str, memory_gb: int) -> Capacity:
    """Return the three capacities of a card with this much memory."""
    qlora_b, lora16_b, full_b = (
        indicative_parameters_b(memory_bytes=memory_gb * GB, method=method) for method in Method
    )
    return Capacity(
        slug=slug, memory_gb=memory_gb, qlora_b=qlora_b, lora16_b=lora16_b, full_b=full_b
    )
