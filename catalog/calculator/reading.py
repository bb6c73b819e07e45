"""From an address to a job: what was asked for, or why there is no such job."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, TypeVar

from catalog.calculator.form import MAX_TYPED_LENGTH, CalculatorForm, known_names
from sizing.bounds import InputError
from sizing.cards import all_cards
from sizing.nearest import nearest
from sizing.plain.jobs import (
    MODEL_FIELDS,
    WORK_FIELDS,
    Task,
    job_from,
    job_values,
    work_tokens_from,
)
from sizing.planning.work import Work
from sizing.serving.job import ServingJob
from sizing.training.choices import Method
from sizing.training.job import TrainingJob

Job = TrainingJob | ServingJob
Choice = TypeVar("Choice", Task, Method)

# What a first visit shows: a run with something to explain, on texts of some length.
EXAMPLE: Final[Mapping[str, str]] = MappingProxyType(
    {
        "task": "training",
        "method": "qlora",
        "model": "llama-3.1-70b",
        "sequence_tokens": "8192",
        "accumulation_steps": "16",
    }
)
DEFAULT_MODEL: Final = "llama-3.1-8b"
SORTS: Final = ("price", "margin", "speed")
# Parameters of the address that describe no job.
NOT_OF_THE_JOB: Final = frozenset({"currency", "card", "sort", "show", "part"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What the address asks for. ``job`` is None where the form says why there is none.

    ``ignored`` holds what meant nothing and was left out, ``card_slug`` the card in question.
    """

    task: Task
    form: CalculatorForm
    job: Job | None
    work: Work | None
    card_slug: str
    nearest_cards: tuple[str, ...]
    sort: str
    ignored: tuple[str, ...]


def read_asked(query: Mapping[str, str], *, fallback: Mapping[str, str] = EXAMPLE) -> Asked:
    """Return the job of an address; one that describes none is answered with ``fallback``."""
    known = known_names()
    given = {name: text for name, text in query.items() if name in known}
    ignored = [name for name in query if name not in known | NOT_OF_THE_JOB]
    values = given or dict(fallback)
    task = _known(Task, values.get("task", ""), Task.TRAINING, ignored)
    method = _known(Method, values.get("method", ""), Method.QLORA, ignored)
    values = {"model": DEFAULT_MODEL} | {name: text for name, text in values.items() if text}
    form = CalculatorForm(values, task=task, method=method)
    sort = query.get("sort", "")
    if sort and sort not in SORTS:
        ignored.append(sort)
    card = query.get("card", "").strip()
    if card and card not in all_cards():
        ignored.append(card)
    job, work = _job_and_work(form)
    return Asked(
        task=task,
        form=form,
        job=job,
        work=work,
        card_slug=card if card in all_cards() else "",
        nearest_cards=nearest(card, known=all_cards()) if card not in all_cards() else (),
        sort=sort if sort in SORTS else SORTS[0],
        ignored=tuple(text[:MAX_TYPED_LENGTH] for text in ignored),
    )


def _known(kind: type[Choice], text: str, otherwise: Choice, ignored: list[str]) -> Choice:
    """Return the choice that a text names; an unknown one is noted and answered with another."""
    try:
        return kind(text)
    except ValueError:
        if text:
            ignored.append(text)
        return otherwise


def _job_and_work(form: CalculatorForm) -> tuple[Job | None, Work | None]:
    texts = form.texts()
    try:
        tokens = work_tokens_from(texts)
        job = job_from(texts)
    except InputError as error:
        form.refuse(error)
        return None, None
    return job, Work(tokens=tokens) if tokens else None


def job_query(asked: Asked) -> dict[str, str]:
    """Return the shortest address of the job: only what differs from what is usual."""
    texts = asked.form.texts()
    if asked.job is None:
        return texts | {"task": asked.task.value}
    model = {name: texts[name] for name in MODEL_FIELDS if name in texts}
    work = WORK_FIELDS[asked.task]
    return job_values(asked.job) | model | ({work: texts[work]} if work in texts else {})
