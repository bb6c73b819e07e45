"""Simulation on rented cards: which card for which precision, what was measured on it.

Precision decides first. In FP64 the figure is the vector rate, measured or else the maker's, and
cards that run FP64 at a 32nd of FP32 or less are refused. Molecular dynamics in mixed precision
takes the measured system nearest in size, of one version of one code: versions are never mixed.
Codes bound by memory take FluidX3D's speed; an unmeasured card gets 79 % of what its bandwidth
allows (median of 78 cards, from 47 to 92 %). Left out: the memory of a simulation, the host, and
everything about one's own code.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from functools import cache

from sizing.benchmarked.ranked import RankedCard, by_cost
from sizing.benchmarked.scientific import fluid_speeds
from sizing.benchmarked.standing import Confidence, Figure, Standing, source_of
from sizing.bounds import InputError, check_bounds
from sizing.cards import Card
from sizing.csv_tables import table_rows

# FluidX3D moves 19 values of 4 bytes in and out for a cell, and a flag: D3Q19 in FP32.
BYTES_PER_CELL = 153
BANDWIDTH_PERCENT = 79
# From 79 % down to the slowest of 78 cards, 47 %.
BANDWIDTH_ERROR_PERCENT = 41
# Cards for FP64 run it at a half of FP32, or all of it; the others at a 32nd or a 64th.
LEAST_FP64_SHARE = 16
SMALL_SYSTEM_ATOMS = 100_000
# OpenMM on two H100: 1.13 times at 409,000 atoms, 1.6 times at 1.07 million.
SHARED_FROM_ATOMS = 1_000_000
HOURS_PER_DAY = 24
SECONDS_PER_HOUR = 3600
MILLION = 10**6


class Precision(StrEnum):
    FP64 = "fp64"
    MIXED = "mixed"
    BANDWIDTH = "bandwidth"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScientificJob:
    """What is simulated.

    ``work`` counts nanoseconds (mixed), billions of cell updates (bandwidth) or 10**18 operations
    (FP64). ``shares_simulation`` puts one simulation on all the cards.
    """

    precision: Precision
    atoms: int | None = None
    gpus: int = 1
    shares_simulation: bool = False
    code: str = "OpenMM 8.4"
    work: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ScientificAnswer:
    """``figure`` is the speed of all the cards, the one that cards are ranked by.

    ``bound`` is what the roofline allows one card; ``others`` were measured on it with other
    codes. ``reasons`` are keys: "fp64-too-slow", "fp64-not-published", "no-measurement",
    "no-scaling-measurement", "small-system", "one-card-per-simulation", "other-size".
    """

    is_refused: bool
    figure: Figure | None
    bound: Figure | None
    others: tuple[Figure, ...]
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DynamicsRun:
    """One measured run of a molecular dynamics code."""

    code: str
    system: str
    atoms: int
    slug: str
    gpus: int
    figure: Figure


@cache
def dynamics_runs() -> tuple[DynamicsRun, ...]:
    """Return the measured runs in the order of the table."""
    return tuple(_dynamics(row) for row in table_rows("molecular_dynamics.csv"))


@cache
def fp64_runs() -> Mapping[str, tuple[Figure, ...]]:
    """Return the FP64 rates measured on each card: the vector rate, and HPL as its middle."""
    found: dict[str, tuple[Figure, ...]] = {}
    for row in table_rows("fp64.csv"):
        found[row["slug"]] = (*found.get(row["slug"], ()), _fp64(row))
    return found


def known_codes() -> tuple[str, ...]:
    return tuple(dict.fromkeys(run.code for run in dynamics_runs()))


def check_scientific_job(job: ScientificJob) -> None:
    """Refuse a job that no answer can be given for.

    Raises
    ------
    InputError
        A number is out of bounds, the size is missing for molecular dynamics, or the code is not
        one that was measured.
    """
    check_bounds(gpus=job.gpus, work=job.work)
    if job.precision is Precision.MIXED or job.atoms is not None:
        check_bounds(atoms=job.atoms)
    if job.code not in known_codes():
        raise InputError(
            field="code",
            problem="unknown_choice",
            values={"given": job.code, "choices": known_codes()},
        )


def estimate_scientific(job: ScientificJob, card: Card) -> ScientificAnswer:
    """Say how fast the job's cards are at such work, or why they are refused."""
    if job.precision is Precision.FP64:
        return _in_fp64(job, card)
    if job.precision is Precision.BANDWIDTH:
        return _by_bandwidth(job, card)
    return _dynamics_answer(job, card)


def rank_scientific(
    job: ScientificJob, cards: Iterable[Card], prices: Mapping[str, Decimal]
) -> tuple[RankedCard[ScientificAnswer], ...]:
    """Order the cards that are not refused by what the work costs; ``prices`` are per GPU hour."""
    answers = ((card, estimate_scientific(job, card)) for card in cards)
    return by_cost(
        _row(job, card, answer, prices.get(card.slug))
        for card, answer in answers
        if not answer.is_refused
    )


def _row(
    job: ScientificJob, card: Card, answer: ScientificAnswer, price: Decimal | None
) -> RankedCard[ScientificAnswer]:
    speed = None if answer.figure is None else _per_hour(job, answer.figure.value)
    known = speed is not None and price is not None
    cost = price * job.gpus * job.work / speed if known and price and speed else None
    return RankedCard(slug=card.slug, answer=answer, cost=cost, speed=speed)


def _per_hour(job: ScientificJob, value: Decimal) -> Decimal:
    """Turn ns/day, MLUPS or TFLOPS into the job's work per hour."""
    if job.precision is Precision.MIXED:
        return value / HOURS_PER_DAY
    scale = 1000 if job.precision is Precision.BANDWIDTH else MILLION
    return value * SECONDS_PER_HOUR / scale


def _in_fp64(job: ScientificJob, card: Card) -> ScientificAnswer:
    measured = fp64_runs().get(card.slug, ())
    vector = next((run for run in measured if run.note.startswith("vector")), None)
    bound = _stated(card.fp64_tflops, "TFLOPS") if card.fp64_tflops is not None else None
    one = vector or bound
    if one is None:
        return _answer(None, None, measured, ["fp64-not-published"])
    if card.fp32_tflops is not None and one.value * LEAST_FP64_SHARE < card.fp32_tflops:
        return _answer(None, bound, measured, ["fp64-too-slow"], is_refused=True)
    return _shared(job, one, bound, tuple(run for run in measured if run is not vector))


def _by_bandwidth(job: ScientificJob, card: Card) -> ScientificAnswer:
    most = card.bandwidth_gb_per_s * 1000 / BYTES_PER_CELL
    bound = _stated(most.quantize(Decimal(1)), "MLUPS")
    speed = fluid_speeds().get(card.slug)
    if speed is not None:
        one = Figure(
            value=Decimal(speed.mlups),
            unit="MLUPS",
            standing=Standing.MEASURED,
            confidence=Confidence.HIGH,
            source=speed.source,
            note=f"FluidX3D in FP32, {speed.device}",
        )
        return _shared(job, one, bound, ())
    one = Figure(
        value=(most * BANDWIDTH_PERCENT / 100).quantize(Decimal(1)),
        unit="MLUPS",
        standing=Standing.ESTIMATED,
        confidence=Confidence.MEDIUM,
        error_percent=BANDWIDTH_ERROR_PERCENT,
        note="79 % of the bandwidth",
    )
    return _shared(job, one, bound, ())


def _shared(
    job: ScientificJob, one: Figure, bound: Figure | None, others: tuple[Figure, ...]
) -> ScientificAnswer:
    """Several cards run several simulations; how one gains on several was not measured."""
    if job.gpus > 1 and job.shares_simulation:
        return _answer(None, bound, (one, *others), ["no-scaling-measurement"])
    return _answer(_times(one, job.gpus), bound, others, [])


def _dynamics_answer(job: ScientificJob, card: Card) -> ScientificAnswer:
    atoms = job.atoms or SMALL_SYSTEM_ATOMS
    on_card = [run for run in dynamics_runs() if run.slug == card.slug]
    count = job.gpus if job.shares_simulation else 1
    system_atoms = _nearest_size(job.code, atoms)
    run = next(
        (
            run
            for run in on_card
            if (run.code, run.gpus, run.atoms) == (job.code, count, system_atoms)
        ),
        None,
    )
    reasons = _dynamics_reasons(job, atoms)
    others = tuple(each.figure for each in on_card if each is not run and each.gpus == 1)
    if run is None:
        reasons.append("no-measurement" if count == 1 else "no-scaling-measurement")
        return _answer(None, None, others, reasons)
    figure = run.figure
    if run.atoms != job.atoms:
        reasons.append("other-size")
        figure = _as(figure, Standing.INDICATIVE)
    return _answer(_times(figure, job.gpus // count), None, others, reasons)


def _dynamics_reasons(job: ScientificJob, atoms: int) -> list[str]:
    reasons = ["small-system"] if atoms < SMALL_SYSTEM_ATOMS else []
    if job.gpus > 1 and atoms < SHARED_FROM_ATOMS:
        reasons.append("one-card-per-simulation")
    return reasons


def _nearest_size(code: str, atoms: int) -> int:
    """Return the measured size of the code whose ratio to ``atoms`` is the smallest."""
    sizes = {run.atoms for run in dynamics_runs() if run.code == code}
    return min(sorted(sizes), key=lambda size: Decimal(max(size, atoms)) / min(size, atoms))


def _times(figure: Figure, count: int) -> Figure:
    """Several simulations at once: the sum of their speeds, if the cards do not wait for a host."""
    if count == 1:
        return figure
    lower = Standing.ESTIMATED if figure.standing is Standing.MEASURED else figure.standing
    return Figure(
        value=figure.value * count,
        unit=figure.unit,
        standing=lower,
        confidence=figure.confidence,
        error_percent=figure.error_percent,
        source=figure.source,
        note=f"{count} x {figure.note}",
    )


def _as(figure: Figure, standing: Standing) -> Figure:
    return Figure(
        value=figure.value,
        unit=figure.unit,
        standing=standing,
        confidence=Confidence.LOW,
        source=figure.source,
        note=figure.note,
    )


def _stated(value: Decimal, unit: str) -> Figure:
    return Figure(
        value=value,
        unit=unit,
        standing=Standing.INDICATIVE,
        confidence=Confidence.LOW,
        note="from the maker's rates, an upper bound",
    )


def _answer(
    figure: Figure | None,
    bound: Figure | None,
    others: tuple[Figure, ...],
    reasons: list[str],
    *,
    is_refused: bool = False,
) -> ScientificAnswer:
    return ScientificAnswer(
        is_refused=is_refused,
        figure=figure,
        bound=bound,
        others=others,
        reasons=tuple(reasons),
    )


def _dynamics(row: dict[str, str]) -> DynamicsRun:
    named = f"{row['code']}, {row['system']}, {row['gpus']} x {row['device']}"
    return DynamicsRun(
        code=row["code"],
        system=row["system"],
        atoms=int(row["atoms"]),
        slug=row["slug"],
        gpus=int(row["gpus"]),
        figure=Figure(
            value=Decimal(row["ns_per_day"]),
            unit="ns/day",
            standing=Standing.MEASURED,
            confidence=Confidence.MEDIUM if row["note"] else Confidence.HIGH,
            source=source_of(row),
            note=f"{named}; {row['note']}" if row["note"] else named,
        ),
    )


def _fp64(row: dict[str, str]) -> Figure:
    low, high = Decimal(row["low_tflops"]), Decimal(row["high_tflops"])
    span = f"{row['what']}, {low} to {high}" if low != high else row["what"]
    return Figure(
        value=(low + high) / 2,
        unit="TFLOPS",
        standing=Standing.MEASURED,
        confidence=Confidence.MEDIUM,
        source=source_of(row),
        note=f"{span}; {row['note']}" if row["note"] else span,
    )
