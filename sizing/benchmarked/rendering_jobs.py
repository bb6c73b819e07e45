"""Rendering on rented cards: does the scene fit, and what does the work cost on each card.

The need is the scene over 0.9, since Redshift takes 90 % of the free memory; every card holds the
whole scene. Where textures may stay in the memory of the server, a scene that is too large still
fits while the share that V-Ray kept on the card does: the largest of its three test scenes, 31 %;
they took 13 to 24 % longer. That share is indicative: it follows how much of a scene is textures.
Speed and price come from the Blender scores of ``sizing.benchmarked.rendering``. Left out: denoisers, loading
the scene, and how far a scene differs from the benchmark's: 1.6 to 5.1 times on a farm.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from enum import StrEnum
from functools import cache

from sizing.benchmarked.ranked import RankedCard, by_cost
from sizing.benchmarked.rendering import (
    ESTIMATE_ERROR_PERCENT,
    MINUTES_PER_HOUR,
    Basis,
    render_score,
    rt_cores,
)
from sizing.benchmarked.standing import Confidence, Figure, Standing, confidence_of, source_of
from sizing.bounds import InputError, check_bounds
from sizing.cards import Card
from sizing.csv_tables import Source, table_rows
from sizing.fits import Verdict, verdict
from sizing.units import GB

# Redshift's manual: the share of the free memory that it takes by default.
USABLE_PERCENT = 90
# V-Ray's three scenes took 13, 24 and 17 % longer with textures in system memory.
OUT_OF_CORE_SLOWDOWN_PERCENT = (13, 24)
# A 5090 against cards of the class of a 3080, over 38 scenes of one farm.
SPREAD = (Decimal("1.6"), Decimal("5.1"))
# Inferred, no measurement: vertices, normals and the acceleration structure of a triangle.
BYTES_PER_TRIANGLE = 200
# A pixel of a frame buffer is four floats; mipmaps add a third to a texture.
BYTES_PER_PIXEL_AND_PASS = 16


class Engine(StrEnum):
    CYCLES = "cycles"
    VRAY = "v-ray"
    REDSHIFT = "redshift"
    OCTANE = "octane"


# The engines whose makers document textures in system memory.
OUT_OF_CORE_ENGINES = frozenset({Engine.VRAY, Engine.REDSHIFT, Engine.OCTANE})


class SceneClass(StrEnum):
    LIGHT = "light"
    TYPICAL = "typical"
    HEAVY = "heavy"
    VERY_HEAVY = "very-heavy"


# Proposed classes: 51 days of farm logs had a median of 5.6, a 90th percentile of 11.5 and a
# maximum of 37 GB.
SCENE_BYTES = {
    SceneClass.LIGHT: 8 * GB,
    SceneClass.TYPICAL: 16 * GB,
    SceneClass.HEAVY: 24 * GB,
    SceneClass.VERY_HEAVY: 48 * GB,
}


class RenderVerdict(StrEnum):
    COMFORTABLE = "comfortable"
    TIGHT = "tight"
    OUT_OF_CORE = "out-of-core"
    NO = "no"


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderingJob:
    """A scene of ``scene_bytes`` in memory, and how many million samples are to be traced.

    ``shares_frames`` puts all cards on one frame; else each card renders frames of its own.
    """

    scene_bytes: int
    engine: Engine = Engine.CYCLES
    may_keep_textures_in_host: bool = False
    gpus: int = 1
    shares_frames: bool = False
    million_samples: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderingAnswer:
    """``samples_per_minute`` is of all the cards; None where nothing was measured or follows.

    ``reasons`` are keys: "no-measurement", "no-rt-cores", "no-scaling-measurement",
    "memory-does-not-add", "out-of-core-slower", "prefer-frame-per-card".
    """

    needed_bytes: int
    verdict: RenderVerdict
    verdict_standing: Standing
    samples_per_minute: Figure | None
    reasons: tuple[str, ...]


def scene_bytes_of_parts(
    *, triangles: int, texture_pixels: int, frame_pixels: int, passes: int = 1
) -> int:
    """Return the memory of a scene in bytes, from its parts. Indicative: nothing to hold it against.

    Textures are counted uncompressed, four bytes a pixel and a third more for mipmaps.
    """
    textures = -(-texture_pixels * 4 * 4 // 3)
    buffers = frame_pixels * passes * BYTES_PER_PIXEL_AND_PASS
    return triangles * BYTES_PER_TRIANGLE + textures + buffers


def check_rendering_job(job: RenderingJob) -> None:
    """Refuse a job that no answer can be given for.

    Raises
    ------
    InputError
        The scene or the samples are out of bounds, the number of cards is none, or the engine
        is not known to keep textures in system memory.
    """
    check_bounds(scene_bytes=job.scene_bytes, gpus=job.gpus, million_samples=job.million_samples)
    if job.may_keep_textures_in_host and job.engine not in OUT_OF_CORE_ENGINES:
        raise InputError(
            field="may_keep_textures_in_host",
            problem="only_with",
            values={
                "given": True,
                "other": "engine",
                "choices": tuple(sorted(OUT_OF_CORE_ENGINES)),
            },
        )


def estimate_rendering(job: RenderingJob, card: Card) -> RenderingAnswer:
    """Say whether the scene fits the card, and how fast the job's cards trace it."""
    needed = -(-job.scene_bytes * 100 // USABLE_PERCENT)
    found = _verdict(job, needed, card.memory_bytes)
    reasons = ["out-of-core-slower"] if found is RenderVerdict.OUT_OF_CORE else []
    if job.gpus > 1:
        reasons.append("memory-does-not-add")
        reasons += ["prefer-frame-per-card"] if job.shares_frames else []
    figure = _one_card(card)
    if figure is None:
        reasons.append("no-rt-cores" if rt_cores().get(card.slug) is False else "no-measurement")
    else:
        scaled = _on_all(job, figure)
        reasons += ["no-scaling-measurement"] if scaled is None else []
        figure = scaled
    return RenderingAnswer(
        needed_bytes=needed,
        verdict=found,
        verdict_standing=Standing.INDICATIVE,
        samples_per_minute=figure,
        reasons=tuple(reasons),
    )


def rank_rendering(
    job: RenderingJob, cards: Iterable[Card], prices: Mapping[str, Decimal]
) -> tuple[RankedCard[RenderingAnswer], ...]:
    """Order the cards that hold the scene by what the samples cost; ``prices`` are per GPU hour."""
    answers = ((card, estimate_rendering(job, card)) for card in cards)
    return by_cost(
        _row(job, card, answer, prices.get(card.slug))
        for card, answer in answers
        if answer.verdict is not RenderVerdict.NO
    )


def _row(
    job: RenderingJob, card: Card, answer: RenderingAnswer, price: Decimal | None
) -> RankedCard[RenderingAnswer]:
    figure, speed, cost = answer.samples_per_minute, None, None
    if figure is not None:
        speed = figure.value * MINUTES_PER_HOUR / 10**6
        slower = answer.verdict is RenderVerdict.OUT_OF_CORE
        speed = speed * 100 / (100 + OUT_OF_CORE_SLOWDOWN_PERCENT[1]) if slower else speed
        cost = None if price is None else price * job.gpus * job.million_samples / speed
    return RankedCard(slug=card.slug, answer=answer, cost=cost, speed=speed)


def _verdict(job: RenderingJob, needed: int, memory: int) -> RenderVerdict:
    inside = verdict(needed_bytes=needed, memory_bytes=memory)
    if inside is not Verdict.NO:
        return RenderVerdict(inside.value)
    may_spill = job.may_keep_textures_in_host and job.engine in OUT_OF_CORE_ENGINES
    if may_spill and Decimal(needed) * out_of_core_share() <= memory:
        return RenderVerdict.OUT_OF_CORE
    return RenderVerdict.NO


def _one_card(card: Card) -> Figure | None:
    score = render_score(card)
    if score is None:
        return None
    measured = score.basis is Basis.MEASURED
    return Figure(
        value=score.samples_per_minute,
        unit="samples/min",
        standing=Standing.MEASURED if measured else Standing.ESTIMATED,
        confidence=confidence_of(score.submissions or 0),
        error_percent=None if measured else ESTIMATE_ERROR_PERCENT,
        source=score.source,
        note=f"{score.submissions} submissions" if measured else "145 x FP32 TFLOPS",
    )


def _on_all(job: RenderingJob, one: Figure) -> Figure | None:
    """Scale to the job's cards; a shared frame only where the number of cards was measured."""
    if job.gpus == 1:
        return one
    speedup = scaling().get(job.gpus) if job.shares_frames else Decimal(job.gpus)
    if speedup is None:
        return None
    return Figure(
        value=one.value * speedup,
        unit=one.unit,
        standing=Standing.INDICATIVE,
        confidence=Confidence.LOW,
        source=scaling_source() if job.shares_frames else one.source,
        note=f"x {speedup}",
    )


@cache
def scaling() -> Mapping[int, Decimal]:
    """Return the gain of several cards on one frame: one animation of one farm, in Redshift."""
    return {int(row["gpus"]): Decimal(row["speedup"]) for row in table_rows("render_scaling.csv")}


def scaling_source() -> Source:
    return source_of(table_rows("render_scaling.csv")[0])


@cache
def out_of_core_share() -> Decimal:
    """Return the largest share of a scene that stayed on the card, rounded up to a hundredth."""
    shares = (
        Decimal(row["out_of_core_gb"]) / Decimal(row["resident_gb"])
        for row in table_rows("out_of_core.csv")
    )
    return max(shares).quantize(Decimal("0.01"), ROUND_CEILING)
