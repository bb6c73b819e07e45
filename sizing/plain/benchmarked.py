"""Work that is judged by benchmarks, from plain values and back, under tasks of its own.

Pictures and clips, rendering, simulation: what a card needs, what was measured, what the work
costs. Reading is strict, as for the jobs of language models: a field that the task does not have
is refused, never dropped.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from enum import StrEnum
from functools import partial
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from sizing.benchmarked.diffusion_jobs import (
    DiffusionJob,
    check_diffusion_job,
    estimate_diffusion,
    rank_diffusion,
)
from sizing.benchmarked.ranked import RankedCard
from sizing.benchmarked.rendering_jobs import (
    OUT_OF_CORE_ENGINES,
    Engine,
    RenderingJob,
    check_rendering_job,
    estimate_rendering,
    rank_rendering,
)
from sizing.benchmarked.scientific_jobs import (
    Precision,
    ScientificJob,
    check_scientific_job,
    estimate_scientific,
    rank_scientific,
)
from sizing.benchmarked.standing import Figure, Standing
from sizing.bounds import InputError
from sizing.cards import Card, all_cards
from sizing.csv_tables import Source
from sizing.plain.answers import money_text
from sizing.plain.jobs import JobField, Task
from sizing.plain.places import MICRO_PER_UNIT
from sizing.plain.values import is_given, read_choice, read_number, read_whole, unknown_choice
from sizing.units import GB

BenchmarkedJob = DiffusionJob | RenderingJob | ScientificJob
Prices = Mapping[tuple[str, int], int]
_ONE_GPU: Final = 1
_DIGITS: Final = 4
# What one picture costs is too little to tell.
USUAL_ITEMS: Final = 100
# Where a job says to run, which is no part of it.
_OF_PLACE: Final = ("task", "card")


class BenchmarkedTask(StrEnum):
    """The tasks, named as the use cases are."""

    IMAGE_VIDEO = "image-video"
    RENDERING = "rendering"
    SCIENTIFIC = "scientific"


class Known(NamedTuple):
    """What is said of a card: whether it suits, what it must hold, and the figure that counts."""

    verdict: str | None
    needed_bytes: int | None
    standing: Standing | None
    source: Source | None
    figure: Figure | None
    reasons: tuple[str, ...]


class _Kind(NamedTuple):
    fields: Mapping[str, JobField]
    needed: str
    job: Callable[..., BenchmarkedJob]
    check: Callable[[Any], None]
    estimate: Callable[[Any, Card], Any]
    rank: Callable[[Any, Iterable[Card], Mapping[str, Decimal]], Sequence[RankedCard[Any]]]
    known: Callable[[Any], Known]


def _text(field: str, value: object) -> str:
    if isinstance(value, str):
        return value.strip()
    raise InputError(field=field, problem="unknown_name", values={"given": value})


def _scene_bytes(field: str, value: object) -> int:
    return math.ceil(Decimal(str(read_number(field, value))) * GB)


def _number(attribute: str, *, bounds: str = "") -> JobField:
    return JobField(attribute, partial(read_whole, bounds=bounds))


def _chosen(attribute: str, kind: type[StrEnum]) -> JobField:
    return JobField(attribute, partial(read_choice, kind=kind), tuple(each.value for each in kind))


def _diffusion_job(*, items: int = USUAL_ITEMS, **read: Any) -> DiffusionJob:
    return DiffusionJob(items=items, **read)


def _rendering_job(*, engine: Engine = Engine.CYCLES, **read: Any) -> RenderingJob:
    """Return the job; an engine that may keep textures in the server's memory does."""
    keeps = engine in OUT_OF_CORE_ENGINES
    return RenderingJob(engine=engine, may_keep_textures_in_host=keeps, **read)


def _of_diffusion(answer: Any) -> Known:
    return Known(
        answer.verdict.value if answer.verdict else None,
        answer.peak_bytes,
        answer.standing,
        answer.source,
        answer.seconds,
        answer.reasons,
    )


def _of_rendering(answer: Any) -> Known:
    return Known(
        answer.verdict.value,
        answer.needed_bytes,
        answer.verdict_standing,
        None,
        answer.samples_per_minute,
        answer.reasons,
    )


def _of_simulation(answer: Any) -> Known:
    verdict = "no" if answer.is_refused else "suits"
    return Known(verdict, None, None, None, answer.figure, answer.reasons)


_KINDS: Final[Mapping[BenchmarkedTask, _Kind]] = MappingProxyType(
    {
        BenchmarkedTask.IMAGE_VIDEO: _Kind(
            MappingProxyType(
                {
                    "diffusion_model": JobField("model", _text),
                    "bits": _number("bits", bounds="batch"),
                    "width_px": _number("width_px"),
                    "height_px": _number("height_px"),
                    "frames": _number("frames"),
                    "items": _number("items"),
                }
            ),
            "diffusion_model",
            _diffusion_job,
            check_diffusion_job,
            estimate_diffusion,
            rank_diffusion,
            _of_diffusion,
        ),
        BenchmarkedTask.RENDERING: _Kind(
            MappingProxyType(
                {
                    "scene_gb": JobField("scene_bytes", _scene_bytes),
                    "render_engine": _chosen("engine", Engine),
                    "million_samples": _number("million_samples"),
                }
            ),
            "scene_gb",
            _rendering_job,
            check_rendering_job,
            estimate_rendering,
            rank_rendering,
            _of_rendering,
        ),
        BenchmarkedTask.SCIENTIFIC: _Kind(
            MappingProxyType(
                {
                    "precision": _chosen("precision", Precision),
                    "atoms": _number("atoms"),
                    "code": JobField("code", _text),
                    "work": _number("work"),
                }
            ),
            "precision",
            ScientificJob,
            check_scientific_job,
            estimate_scientific,
            rank_scientific,
            _of_simulation,
        ),
    }
)
BENCHMARKED_FIELDS: Final[Mapping[BenchmarkedTask, Mapping[str, JobField]]] = MappingProxyType(
    {task: kind.fields for task, kind in _KINDS.items()}
)


def benchmarked_task(values: Mapping[str, object]) -> BenchmarkedTask | None:
    """Return the task where it is one of these, None where a language model is in question.

    Raises
    ------
    InputError
        The task is none at all.
    """
    given = values.get("task")
    if not is_given(given):
        return None
    wanted = given.strip().lower() if isinstance(given, str) else ""
    if wanted in {each.value for each in Task}:
        return None
    if wanted in {each.value for each in BenchmarkedTask}:
        return BenchmarkedTask(wanted)
    raise unknown_choice("task", given, [*Task, *BenchmarkedTask])


def benchmarked_job(task: BenchmarkedTask, values: Mapping[str, object]) -> BenchmarkedJob:
    """Return a checked job.

    Raises
    ------
    InputError
        With the field as it is spelled here, what is wrong with it and what to try.
    """
    kind = _KINDS[task]
    read = {}
    for name, value in values.items():
        if name in _OF_PLACE or not is_given(value):
            continue
        if name not in kind.fields:
            choices = {"choices": tuple(kind.fields)}
            raise InputError(field=name, problem="unknown_field", values=choices)
        read[kind.fields[name].attribute] = kind.fields[name].read(name, value)
    if kind.fields[kind.needed].attribute not in read:
        raise InputError(field=kind.needed, problem="missing")
    job = kind.job(**read)
    _check(kind, job)
    return job


def _check(kind: _Kind, job: BenchmarkedJob) -> None:
    """Refuse what the job's own check refuses, under the name that the field has here."""
    names = {field.attribute: name for name, field in kind.fields.items()}
    try:
        kind.check(job)
    except InputError as error:
        raise error.named(names.get(error.field, error.field)) from None


def memory_object(task: BenchmarkedTask, values: Mapping[str, object]) -> dict[str, Any]:
    """Return the memory that the work takes on a card, with what it rests on.

    Raises
    ------
    InputError
        The job is refused, or its memory is not what decides: there is no estimate of it.
    """
    if task is BenchmarkedTask.SCIENTIFIC:
        others = [each for each in (*Task, *BenchmarkedTask) if each is not task]
        raise unknown_choice("task", task.value, others)
    job = benchmarked_job(task, values)
    kind = _KINDS[task]
    known = kind.known(kind.estimate(job, next(iter(all_cards().values()))))
    return _job_object(task, values) | {
        "needed_bytes": known.needed_bytes,
        "standing": known.standing.value if known.standing else None,
        "source": _source(known.source),
    }


def verdicts_object(
    task: BenchmarkedTask, values: Mapping[str, object], cards: Iterable[Card]
) -> dict[str, Any]:
    """Return the verdict on each card, in the order of the cards."""
    job = benchmarked_job(task, values)
    kind = _KINDS[task]
    rows = [(card, kind.known(kind.estimate(job, card))) for card in cards]
    return _job_object(task, values) | {"cards": [_row(card, known) for card, known in rows]}


def costs_object(
    task: BenchmarkedTask,
    values: Mapping[str, object],
    cards: Iterable[Card],
    *,
    prices: Prices,
    top: int | None = None,
) -> dict[str, Any]:
    """Return the cards that suit, the cheapest work first; ``prices`` of one card are used."""
    job = benchmarked_job(task, values)
    kind = _KINDS[task]
    hourly = {
        slug: Decimal(micro) / MICRO_PER_UNIT
        for (slug, gpus), micro in prices.items()
        if gpus == _ONE_GPU
    }
    ranked = kind.rank(job, cards, hourly)
    rows = [_priced_row(each, kind.known(each.answer), prices) for each in ranked[:top]]
    return _job_object(task, values) | {"rows": rows}


def _priced_row(each: RankedCard[Any], known: Known, prices: Prices) -> dict[str, Any]:
    total = None if each.cost is None else money_text(float(each.cost * MICRO_PER_UNIT))
    return _row(all_cards()[each.slug], known) | {
        "price_per_gpu_hour": money_text(prices.get((each.slug, _ONE_GPU))),
        "total": total,
    }


def _row(card: Card, known: Known) -> dict[str, Any]:
    return {
        "card": card.slug,
        "name": card.name,
        "memory_bytes": card.memory_bytes,
        "verdict": known.verdict,
        "needed_bytes": known.needed_bytes,
        "standing": known.standing.value if known.standing else None,
        "figure": _figure(known.figure),
        "reasons": list(known.reasons),
    }


def _job_object(task: BenchmarkedTask, values: Mapping[str, object]) -> dict[str, Any]:
    told = {
        name: str(values[name]).strip()
        for name in _KINDS[task].fields
        if is_given(values.get(name))
    }
    return {"job": {"task": task.value} | told}


def _figure(figure: Figure | None) -> dict[str, Any] | None:
    if figure is None:
        return None
    return {
        "value": float(f"{figure.value:.{_DIGITS}g}"),
        "unit": figure.unit,
        "standing": figure.standing.value,
        "confidence": figure.confidence.value,
        "error_percent": figure.error_percent,
        "source": _source(figure.source),
        "note": figure.note,
    }


def _source(source: Source | None) -> dict[str, str] | None:
    if source is None:
        return None
    return {"url": source.url, "held_on": source.held_on.isoformat()}
