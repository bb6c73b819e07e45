"""How fast the sizing engine answers, in processor time of one process."""

from collections.abc import Iterator
from statistics import median
from time import process_time_ns
from typing import Final

from sizing.cards import all_cards
from sizing.planning.placing import COUNTS
from sizing.planning.ranking import rank
from sizing.planning.work import Work
from sizing.shapes.language_models import model_by_slug
from sizing.training.choices import Method, Sharding
from sizing.training.job import TrainingJob
from sizing.training.memory import estimate_training
from tests.bench.results import Result

ESTIMATES: Final = 10_000
RANKINGS: Final = 50
SECOND_NS: Final = 10**9
MILLISECOND_NS: Final = 10**6
MICROSECOND_NS: Final = 1_000


def run() -> Iterator[Result]:
    """Yield the median of many training estimates, their rate, and the median of a ranking."""
    times_ns = [_timed_ns(number) for number in range(ESTIMATES)]
    middle_ns = median(times_ns)
    yield Result("sizing_training_estimate", middle_ns / MICROSECOND_NS, "us")
    yield Result("sizing_training_estimates", SECOND_NS * ESTIMATES / sum(times_ns), "1/s")
    ranking_ns = median(_ranking_ns() for _ in range(RANKINGS))
    yield Result("sizing_ranking_of_all_cards", ranking_ns / MILLISECOND_NS, "ms")


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


def _ranking_ns() -> int:
    """Time one workload on every card and number of cards, with a price for each."""
    cards = tuple(all_cards().values())
    prices = {(card.slug, count): 1_000_000 for card in cards for count in COUNTS}
    job = TrainingJob(model=model_by_slug("llama-3-8b"), method=Method.QLORA)
    start = process_time_ns()
    rank(job, cards=cards, prices=prices, work=Work(100_000_000))
    return process_time_ns() - start
