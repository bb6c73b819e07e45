"""What every estimate of memory returns: its terms, its interval, and the verdict on a card.

All sizes are bytes of the fullest card. The interval is where nine runs of ten are expected;
it comes from measurements of the same class, never from taste.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from sizing.capacity import MEMORY_SHARE_PERCENT
from sizing.fits import Verdict

# Above the estimate, before a card is said to hold a run: measured so that no run of the table
# that needs more than a card has is called a fit.
MARGIN_PERCENT = 10


class Part(StrEnum):
    """What takes memory, in the order in which pages stack it."""

    WEIGHTS = "weights"
    ADAPTERS = "adapters"
    GRADIENTS = "gradients"
    OPTIMIZER = "optimizer"
    ACTIVATIONS = "activations"
    LOGITS = "logits"
    KV_CACHE = "kv_cache"
    OVERHEAD = "overhead"


class Term(NamedTuple):
    """One addend of the peak. A term that is zero is not listed."""

    part: Part
    size_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """Peak memory of one card, as the sum of the terms that live at the same moment.

    ``low_bytes`` and ``high_bytes`` bound it. ``host_bytes`` is what offloading keeps in the
    memory of the server. ``left_out`` names, by key, what the estimate does not count.
    """

    terms: tuple[Term, ...]
    peak_bytes: int
    low_bytes: int
    high_bytes: int
    host_bytes: int = 0
    left_out: tuple[str, ...] = ()

    def part_bytes(self, part: Part) -> int:
        return sum(term.size_bytes for term in self.terms if term.part is part)


def verdict_on(*, peak_bytes: int, memory_bytes: int) -> Verdict:
    """Say whether a run fits a card: comfortable within 80 %, tight with the margin, or not."""
    if peak_bytes * 100 <= memory_bytes * MEMORY_SHARE_PERCENT:
        return Verdict.COMFORTABLE
    fits = peak_bytes * (100 + MARGIN_PERCENT) <= memory_bytes * 100
    return Verdict.TIGHT if fits else Verdict.NO
