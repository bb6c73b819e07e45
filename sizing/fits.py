"""Does a model fit a card: the indicative rule, for one model and one card.

The same budgets of bytes per parameter as the indicative capacity, held against the memory
without rounding: comfortable within 80 % of it, tight above and up to all of it, else it does
not fit. Inference in 16 bits is counted at 2 bytes per parameter, the weights alone: the fifth
of the memory that "comfortable" leaves free is for the context and the runtime.

Like the capacity it is a first orientation for short texts and a batch of one, never an
estimate of one run. More memory never turns a fit into a refusal.
"""

from enum import StrEnum

from sizing.capacity import BYTES_TENTHS_PER_PARAMETER, MEMORY_SHARE_PERCENT, Method

TENTHS = 10


class Job(StrEnum):
    """What is done with a model."""

    QLORA = "qlora"
    LORA16 = "lora16"
    FULL = "full"
    INFERENCE16 = "inference16"


class Verdict(StrEnum):
    COMFORTABLE = "comfortable"
    TIGHT = "tight"
    NO = "no"


JOB_BYTES_TENTHS = {
    Job.QLORA: BYTES_TENTHS_PER_PARAMETER[Method.QLORA],
    Job.LORA16: BYTES_TENTHS_PER_PARAMETER[Method.LORA16],
    Job.FULL: BYTES_TENTHS_PER_PARAMETER[Method.FULL],
    Job.INFERENCE16: 2 * TENTHS,
}


def needed_bytes(*, parameters: int, job: Job) -> int:
    """Return the memory that the rule counts, rounded up to a byte: nothing is promised away."""
    assert parameters > 0
    return -(-parameters * JOB_BYTES_TENTHS[job] // TENTHS)


def verdict(*, needed_bytes: int, memory_bytes: int) -> Verdict:
    """Return whether so much fits a card with this much memory."""
    if needed_bytes * 100 <= memory_bytes * MEMORY_SHARE_PERCENT:
        return Verdict.COMFORTABLE
    return Verdict.TIGHT if needed_bytes <= memory_bytes else Verdict.NO
