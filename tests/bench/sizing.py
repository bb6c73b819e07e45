"""How fast the sizing engine answers, in processor time of one process."""

from collections.abc import Iterator
from statistics import median
from time import process_time_ns
from typing import Final

from sizing.language_models import model_by_slug
from sizing.training.choices import Method, Sharding
from sizing.training.job import TrainingJob
from sizing.training.memory import estimate_training
from tests.bench.results import Result

ESTIMATES: Final = 10_000
SECOND_NS: Final = 10**9
MICROSECOND_NS: Final = 1_000


def run() -> Iterator[Result]:
    """Yield the median of many training estimates, each with a job of its own, and their rate."""
    times_ns = [_timed_ns(number) for number in range(ESTIMATES)]
    middle_ns = median(times_ns)
    yield Result("sizing_training_estimate", middle_ns / MICROSECOND_NS, "us")
    yield Result("sizing_training_estimates", SECOND_NS * ESTIMATES / sum(times_ns), "1/s")


def _timed_ns(number: int) -> int:
    model = model_by_slug("llama-3-8b")
    method = list(Method)[number % len(Method)]
    start = process_time_ns()
    job = TrainingJob(
        model=model,
        method=method,
        sequence_tokens=1 + number,
        cards=8,
        sharding=Sharding.FSDP,
    )
    estimate_training(job)
    return process_time_ns() - start
