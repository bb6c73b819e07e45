"""The first page's box: from a job and a model to the cheapest card that holds it.

Jobs on language models are judged by the indicative rule; other jobs lead to their use-case
page. The address holds the choice, ``job`` and ``model``; a value that means nothing is left out
and named.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from django.http import QueryDict
from django.utils.functional import Promise

from catalog.content.use_cases import cards_of
from catalog.fits import FILTER_JOBS, JOB_LABELS, WELL_KNOWN, Fit, Wanted
from catalog.queries import cheapest
from catalog.queries_listed import ListedGpu
from sizing.fits import Job
from sizing.shapes.language_models import all_language_models

DEFAULT_JOB = Job.QLORA
DEFAULT_MODEL = "llama-2-13b-hf"
# The jobs that have no language model: their own pages say what a card needs.
PAGE_JOBS = ("image-video", "rendering", "scientific")
# Where to read on when one card does not hold a job, or its filter does not know the job.
PAGE_OF_JOB = {
    Job.QLORA: "fine-tuning",
    Job.LORA16: "fine-tuning",
    Job.FULL: "llm-training",
    Job.INFERENCE16: "llm-inference",
}
MAX_TYPED_LENGTH = 40  # Enough to recognise one's own text.


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """What is to be done. ``wanted`` is None for a job that only a use-case page answers."""

    job: str
    model: str
    wanted: Wanted | None
    ignored: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The cheapest card that holds the job, and where to read on.

    ``row`` is None when nothing that fits is on offer; ``fitting_count`` counts all listed models
    that hold the job, or that the use case compares.
    """

    row: ListedGpu | None
    fit: Fit | None
    fitting_count: int
    has_list: bool
    use_case: str


def job_choices() -> list[tuple[str, str | Promise]]:
    """Return the jobs on language models: their value and their words."""
    return [(job.value, JOB_LABELS[job]) for job in Job]


def read_need(query: QueryDict) -> Need:
    """Return the job and the model that the address names."""
    job, model = query.get("job", "").strip(), query.get("model", "").strip()
    jobs = {*(known.value for known in Job), *PAGE_JOBS}
    ignored = [
        typed[:MAX_TYPED_LENGTH]
        for typed, known in ((job, jobs), (model, WELL_KNOWN))
        if typed and typed not in known
    ]
    job = job if job in jobs else DEFAULT_JOB.value
    model = model if model in WELL_KNOWN else DEFAULT_MODEL
    wanted = None
    if job not in PAGE_JOBS:
        wanted = Wanted(model=all_language_models()[model], job=Job(job))
    return Need(job=job, model=model, wanted=wanted, ignored=tuple(ignored))


def answer_to(need: Need, *, rows: Sequence[ListedGpu]) -> Answer:
    """Return the cheapest of ``rows`` that holds the job."""
    wanted = need.wanted
    if wanted is None:
        cards = frozenset(cards_of(need.job))
        suited = [row for row in rows if row.gpu.slug in cards]
        return _answer(suited, fit=None, has_list=True, use_case=need.job)
    fitting = [row for row in rows if wanted.on(memory_gb=row.gpu.memory_gb).fits]
    best = cheapest(fitting)
    # Without an offer the smallest card that holds the job still says how well it does.
    shown = best or min(fitting, key=lambda row: row.gpu.memory_gb, default=None)
    return _answer(
        fitting,
        fit=wanted.on(memory_gb=shown.gpu.memory_gb) if shown else None,
        has_list=wanted.job in FILTER_JOBS and bool(fitting),
        use_case=PAGE_OF_JOB[wanted.job],
    )


def _answer(
    suited: Sequence[ListedGpu], *, fit: Fit | None, has_list: bool, use_case: str
) -> Answer:
    best = cheapest(suited)
    row = next((row for row in suited if row is best), None)
    return Answer(row=row, fit=fit, fitting_count=len(suited), has_list=has_list, use_case=use_case)
