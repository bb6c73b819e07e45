"""Pictures and clips on rented cards: the peak of memory, and the time that was measured.

For models measured at several widths of weights or several sizes, the peak is
``parameters x bits / 8 + workspace x units / reference units``: all components resident, and a
workspace (activations and VAE decode) that grows with the units, pixels of a picture or latent
tokens of a clip. Weights in 8 and 4 bits take 8.5 and 4.5 with their scales. Parameters and
workspace are fitted on the runs of ``diffusion_runs.csv``, raised so that no run is understated.
Other models, offloading and several cards have an answer only for a setting that was run. Time
is a measured run on the same card; it is not scaled to others. Left out: the host's memory,
other frameworks, adapters, and what VAE tiling saves.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from functools import cache

from sizing.benchmarked.ranked import RankedCard, by_cost
from sizing.benchmarked.standing import Confidence, Figure, Standing, source_of
from sizing.bounds import InputError, check_bounds
from sizing.cards import Card
from sizing.csv_tables import Source, table_rows
from sizing.estimates import Part, Term, verdict_on
from sizing.fits import Verdict, verdict
from sizing.nearest import nearest

SECONDS_PER_HOUR = 3600
BITS_TENTHS = {16: 160, 8: 85, 4: 45}
# The usual video VAE keeps one latent frame of four, and a token is 16 x 16 pixels.
FRAMES_PER_LATENT = 4
PIXELS_PER_TOKEN_SIDE = 16


class DiffusionKind(StrEnum):
    IMAGE = "image"
    VIDEO = "video"


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffusionModel:
    """A model of the table. Without ``resident_parameters`` only measured settings have answers."""

    key: str
    name: str
    kind: DiffusionKind
    resident_parameters: int | None
    workspace_bytes: int
    workspace_units: int
    bits: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffusionSetting:
    """One measured setting on one card; ``slug`` is empty where the source names no card."""

    job: "DiffusionJob"
    slug: str
    device: str
    peak_bytes: int
    seconds: Decimal | None
    standing: Standing
    source: Source
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffusionJob:
    """Pictures or clips of one size: ``items`` of them, one at a time on ``gpus`` cards together."""

    model: str
    bits: int = 16
    width_px: int = 1024
    height_px: int = 1024
    frames: int = 1
    gpus: int = 1
    is_offloaded: bool = False
    is_vae_tiled: bool = False
    items: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffusionAnswer:
    """``peak_bytes`` and ``verdict`` are None where nothing was measured and nothing follows.

    ``measured_bytes`` is the highest peak that the very setting was seen to take. ``reasons`` are
    keys: "no-measurement", "other-size", "tiling-not-counted", "no-time".
    """

    terms: tuple[Term, ...]
    peak_bytes: int | None
    measured_bytes: int | None
    standing: Standing | None
    source: Source | None
    verdict: Verdict | None
    seconds: Figure | None
    reasons: tuple[str, ...]


@cache
def diffusion_models() -> Mapping[str, DiffusionModel]:
    return {row["model"]: _model(row) for row in table_rows("diffusion_models.csv")}


@cache
def diffusion_settings() -> tuple[DiffusionSetting, ...]:
    return tuple(_setting(row) for row in table_rows("diffusion_runs.csv"))


@cache
def _settings_of(model: str) -> tuple[DiffusionSetting, ...]:
    return tuple(each for each in diffusion_settings() if each.job.model == model)


def latent_tokens(*, width_px: int, height_px: int, frames: int) -> int:
    """Return the tokens of a clip, each side and the frames rounded up. Inferred, not measured."""
    side = PIXELS_PER_TOKEN_SIDE
    latents = -(-(frames - 1) // FRAMES_PER_LATENT) + 1
    return latents * -(-height_px // side) * -(-width_px // side)


def check_diffusion_job(job: DiffusionJob) -> None:
    """Refuse a job that no answer can be given for.

    Raises
    ------
    InputError
        Unknown model, a number out of bounds, weights of a width that was not run, or several
        frames of a picture.
    """
    known = diffusion_models()
    if job.model not in known:
        close = nearest(job.model, known=known)
        problem = "unknown_name_nearest" if close else "unknown_name"
        raise InputError(
            field="model", problem=problem, values={"given": job.model, "nearest": close}
        )
    check_bounds(width_px=job.width_px, height_px=job.height_px, frames=job.frames)
    check_bounds(gpus=job.gpus, items=job.items)
    model = known[job.model]
    if job.bits not in model.bits:
        raise InputError(
            field="bits",
            problem="unknown_choice",
            values={"given": job.bits, "choices": model.bits},
        )
    if model.kind is DiffusionKind.IMAGE and job.frames != 1:
        raise InputError(
            field="frames",
            problem="only_with",
            values={"given": job.frames, "other": "kind", "choices": "video"},
        )


def estimate_diffusion(job: DiffusionJob, card: Card) -> DiffusionAnswer:
    """Return the peak on the fullest card, whether ``card`` holds it, and the time on it."""
    seen = [each for each in _settings_of(job.model) if _is_same(each.job, job)]
    worst = max(seen, key=lambda each: each.peak_bytes, default=None)
    seconds = _seconds(seen, card)
    reasons = ["tiling-not-counted"] if job.is_vae_tiled else []
    reasons += [] if seconds else ["no-time"]
    model = diffusion_models()[job.model]
    if _is_fitted(model, job):
        return _by_fit(job, model, card, worst, seconds, reasons)
    if worst is None:
        return DiffusionAnswer(
            terms=(),
            peak_bytes=None,
            measured_bytes=None,
            standing=None,
            source=None,
            verdict=None,
            seconds=None,
            reasons=(*reasons, "no-measurement"),
        )
    return DiffusionAnswer(
        terms=(),
        peak_bytes=worst.peak_bytes,
        measured_bytes=worst.peak_bytes if worst.standing is Standing.MEASURED else None,
        standing=worst.standing,
        source=worst.source,
        verdict=_verdict(worst.peak_bytes, worst, card),
        seconds=seconds,
        reasons=tuple(reasons),
    )


def rank_diffusion(
    job: DiffusionJob, cards: Iterable[Card], prices: Mapping[str, Decimal]
) -> tuple[RankedCard[DiffusionAnswer], ...]:
    """Order the cards that hold the job by what its items cost; ``prices`` are per GPU hour."""
    answers = ((card, estimate_diffusion(job, card)) for card in cards)
    return by_cost(
        _row(job, card, answer, prices.get(card.slug))
        for card, answer in answers
        if answer.verdict not in {None, Verdict.NO}
    )


def _row(
    job: DiffusionJob, card: Card, answer: DiffusionAnswer, price: Decimal | None
) -> RankedCard[DiffusionAnswer]:
    speed, cost = None, None
    if answer.seconds is not None:
        speed = SECONDS_PER_HOUR / answer.seconds.value
        cost = None if price is None else price * job.gpus * job.items / speed
    return RankedCard(slug=card.slug, answer=answer, cost=cost, speed=speed)


def _is_fitted(model: DiffusionModel, job: DiffusionJob) -> bool:
    return model.resident_parameters is not None and job.gpus == 1 and not job.is_offloaded


def _by_fit(
    job: DiffusionJob,
    model: DiffusionModel,
    card: Card,
    seen: DiffusionSetting | None,
    seconds: Figure | None,
    reasons: list[str],
) -> DiffusionAnswer:
    weights = -(-(model.resident_parameters or 0) * BITS_TENTHS[job.bits] // 80)
    workspace = -(-model.workspace_bytes * _units(model, job) // model.workspace_units)
    peak = weights + workspace
    near = seen or _settings_of(job.model)[0]
    return DiffusionAnswer(
        terms=(Term(Part.WEIGHTS, weights), Term(Part.ACTIVATIONS, workspace)),
        peak_bytes=peak,
        measured_bytes=seen.peak_bytes if seen and seen.standing is Standing.MEASURED else None,
        standing=seen.standing if seen else Standing.INDICATIVE,
        source=near.source,
        verdict=_verdict(peak, seen, card),
        seconds=seconds,
        reasons=tuple(reasons if seen else [*reasons, "other-size"]),
    )


def _verdict(peak: int, seen: DiffusionSetting | None, card: Card) -> Verdict:
    """Judge a peak: only a setting that was measured needs no margin."""
    if seen is not None and seen.standing is Standing.MEASURED:
        return verdict(needed_bytes=peak, memory_bytes=card.memory_bytes)
    return verdict_on(peak_bytes=peak, memory_bytes=card.memory_bytes)


def _units(model: DiffusionModel, job: DiffusionJob) -> int:
    if model.kind is DiffusionKind.IMAGE:
        return job.width_px * job.height_px
    return latent_tokens(width_px=job.width_px, height_px=job.height_px, frames=job.frames)


def _is_same(run: DiffusionJob, job: DiffusionJob) -> bool:
    return (run.bits, run.width_px, run.height_px, run.frames, run.gpus, run.is_offloaded) == (
        job.bits,
        job.width_px,
        job.height_px,
        job.frames,
        job.gpus,
        job.is_offloaded,
    )


def _seconds(seen: list[DiffusionSetting], card: Card) -> Figure | None:
    run = next((each for each in seen if each.slug == card.slug and each.seconds), None)
    if run is None or run.seconds is None:
        return None
    return Figure(
        value=run.seconds,
        unit="s",
        standing=Standing.MEASURED,
        confidence=Confidence.MEDIUM,
        source=run.source,
        note=f"{run.device}; {run.note}" if run.note else run.device,
    )


def _model(row: dict[str, str]) -> DiffusionModel:
    return DiffusionModel(
        key=row["model"],
        name=row["name"],
        kind=DiffusionKind(row["kind"]),
        resident_parameters=int(row["resident_parameters"]) if row["resident_parameters"] else None,
        workspace_bytes=int(row["workspace_bytes"] or 0),
        workspace_units=int(row["workspace_units"] or 1),
        bits=tuple(int(each) for each in row["bits"].split()),
    )


def _setting(row: dict[str, str]) -> DiffusionSetting:
    job = DiffusionJob(
        model=row["model"],
        bits=int(row["bits"]),
        width_px=int(row["width"]),
        height_px=int(row["height"]),
        frames=int(row["frames"]),
        gpus=int(row["gpus"]),
        is_offloaded=row["is_offloaded"] == "yes",
    )
    return DiffusionSetting(
        job=job,
        slug=row["slug"],
        device=row["device"],
        peak_bytes=int(row["peak_bytes"]),
        seconds=Decimal(row["seconds"]) if row["seconds"] else None,
        standing=Standing(row["standing"]),
        source=source_of(row),
        note=row["note"],
    )
