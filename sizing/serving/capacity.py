"""Backwards: how many requests, how long a context, on the cards of a job.

The need grows with both, so the answers are found by halving: the largest value whose need is
within the budget. Budget of one card: for engines that reserve memory in advance, their share of
the card (90 % unless told otherwise) and never more than it; for others, the memory less the margin
of every verdict. 0 means that not even one fits.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from sizing.bounds import BOUNDS
from sizing.cards import Card
from sizing.estimates import MARGIN_PERCENT
from sizing.serving.constants import Constants
from sizing.serving.job import RESERVING_ENGINES, ServingJob
from sizing.serving.memory import estimate_serving, reserved_bytes

_MOST_REQUESTS: Final = int(BOUNDS["concurrency"].most)
_MOST_CONTEXT: Final = int(BOUNDS["context_tokens"].most)


def budget_bytes(job: ServingJob, card: Card) -> int:
    """Return how much of one card the job may take."""
    if job.engine in RESERVING_ENGINES:
        return reserved_bytes(job, card)
    return card.memory_bytes * 100 // (100 + MARGIN_PERCENT)


def most_requests(job: ServingJob, card: Card, *, constants: Constants | None = None) -> int:
    """Return how many requests of the job's context fit at once."""

    def fits(requests: int) -> bool:
        tried = replace(job, requests=requests)
        return estimate_serving(tried, constants=constants).peak_bytes <= budget

    budget = budget_bytes(job, card)
    return _largest(fits, most=_MOST_REQUESTS)


def longest_context(job: ServingJob, card: Card, *, constants: Constants | None = None) -> int:
    """Return the longest context, in tokens, of the job's requests; the model's own at most."""

    def fits(tokens: int) -> bool:
        output = min(job.output_tokens, tokens)
        tried = replace(job, context_tokens=tokens, output_tokens=output)
        return estimate_serving(tried, constants=constants).peak_bytes <= budget

    budget = budget_bytes(job, card)
    return _largest(fits, most=job.model.max_context or _MOST_CONTEXT)


def _largest(fits: Callable[[int], bool], *, most: int) -> int:
    """Return the largest of 1 to ``most`` that fits, 0 if none does; what fits does so below."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if fits(middle):
            low = middle
        else:
            high = middle - 1
    return low
