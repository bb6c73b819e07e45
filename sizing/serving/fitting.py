"""Fits the constants of speed to measured rows, so that anybody can repeat it.

Per class of engine, memory and storage of weights: the share of the bandwidth and the seconds per
layer that make the sum of absolute logarithmic errors least. Engines that record their kernels have
one time per layer for each kind of memory, since launching does not depend on the weights; engines
that launch from Python have one for each class. A weak pull towards the prior settles what rows do
not tell: where all are bound by launching, the share is not known.

Leaving out a source is fitting the other rows. `written` gives the text
of ``serving_speed.toml``: python -c "from sizing.measurements import own_measurements as own;
from sizing.serving.fitting import fit, written; print(written(fit(own().measurements)), end='')".
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import median
from typing import Final, NamedTuple

from sizing.measurements import Measurement, Metric
from sizing.relative_errors import percentile
from sizing.serving.constants import (
    MICROSECOND,
    Constants,
    MemoryKind,
    PrefillUse,
    SpeedKey,
    SpeedProfile,
    Spread,
    constants_of,
    constants_table,
    is_eager,
    prior_profile,
)
from sizing.serving.formats import SpeedClass
from sizing.serving.from_row import ServingRun, UnjudgedRowError, serving_run
from sizing.serving.job import Engine, Split
from sizing.serving.load import DecodeLoad, decode_load
from sizing.serving.peaks import UnknownPeakError, peak_flops
from sizing.serving.speed import (
    FLOPS_PER_PARAMETER,
    prompt_parameters,
    speed_key,
    step_seconds,
)

LEAST_SHARE: Final = 0.02
MOST_SHARE: Final = 0.95
LEAST_LAYER_S: Final = 5e-6
MOST_LAYER_S: Final = 5e-3
GRID_STEPS: Final = 24
REFINEMENTS: Final = 3
# Errors below this count less than in proportion, so that the sum has one least point.
SMOOTH: Final = 0.03
# Settles what rows leave open, without moving what they tell by more than a percent or two.
PRIOR_WEIGHT: Final = 0.01
# No class is known better than this, however well its rows agree; few rows agree by chance.
LEAST_SPREAD: Final = 0.10
FEW_ROWS: Final = 3
LEAST_SPREAD_OF_FEW: Final = 0.30
LOW_PERCENTILE: Final = 5
HIGH_PERCENTILE: Final = 95


class Point(NamedTuple):
    """One measured step of decoding."""

    load: DecodeLoad
    seconds: float


def fit(measurements: Iterable[Measurement]) -> Constants:
    """Return constants fitted on the rows of serving among these; others are passed over."""
    runs = list(_runs(measurements))
    decodes = [run for run in runs if run.metric is Metric.DECODE_SPEED]
    hop_s = _hop_s(decodes)
    points = _points(decodes)
    dense = {
        key: [point for point in some if not _loops(key, point)] for key, some in points.items()
    }
    profiles = _profiles({key: some for key, some in dense.items() if some}, hop_s=hop_s)
    loop = _expert_loop(points, profiles)
    return constants_of(
        fitted={
            key: profile._replace(
                spread=_spread(points[key], key=key, profile=profile, hop_s=hop_s, loop=loop),
                rows=len(points[key]),
            )
            for key, profile in profiles.items()
        },
        hop_s=hop_s,
        expert_loop=loop,
        prefill=_prefill(runs),
    )


def _runs(measurements: Iterable[Measurement]) -> Iterable[ServingRun]:
    for row in measurements:
        try:
            yield serving_run(row)
        except UnjudgedRowError:
            continue


def _points(runs: Sequence[ServingRun]) -> dict[SpeedKey, list[Point]]:
    points: defaultdict[SpeedKey, list[Point]] = defaultdict(list)
    for run in runs:
        assert run.card is not None
        point = Point(decode_load(run.job, run.card), 1 / run.measured)
        points[speed_key(run.job, run.card)].append(point)
    return dict(points)


def _loops(key: SpeedKey, point: Point) -> bool:
    return is_eager(key.engine) and point.load.looped_experts > 0


def _hop_s(runs: Sequence[ServingRun]) -> float:
    """Return what one more card costs a token: pairs of rows that differ in the cards alone."""
    one_card = {_same_but_cards(run): 1 / run.measured for run in runs if run.job.gpus == 1}
    costs = [
        (1 / run.measured - one_card[_same_but_cards(run)]) / (run.job.gpus - 1)
        for run in runs
        if run.job.gpus > 1 and run.job.split is Split.LAYERS and _same_but_cards(run) in one_card
    ]
    return (
        max(0.0, median(costs))
        if costs
        else constants_table()["speed"]["prior_hop_us"] * (MICROSECOND)
    )


def _same_but_cards(run: ServingRun) -> tuple[Engine, str, str, str]:
    assert run.card is not None
    return run.job.engine, run.job.model.slug, run.job.weights.slug, run.card.slug


def _profiles(
    points: Mapping[SpeedKey, Sequence[Point]], *, hop_s: float
) -> dict[SpeedKey, SpeedProfile]:
    groups: defaultdict[tuple[Engine, MemoryKind, SpeedClass | None], list[SpeedKey]] = defaultdict(
        list
    )
    for key in points:
        own = key.weights if is_eager(key.engine) else None
        groups[key.engine, key.memory, own].append(key)
    fitted: dict[SpeedKey, SpeedProfile] = {}
    for keys in groups.values():
        fitted |= _group_profiles({key: points[key] for key in keys}, hop_s=hop_s)
    return fitted


def _group_profiles(
    points: Mapping[SpeedKey, Sequence[Point]], *, hop_s: float
) -> dict[SpeedKey, SpeedProfile]:
    """Return the profiles of classes that have one time per layer in common."""

    def best_of(layer_s: float) -> dict[SpeedKey, tuple[float, float]]:
        return {
            key: _least(
                lambda share, key=key, some=some: _loss(  # type: ignore[misc]  # bound at once
                    some, key=key, share=share, layer_s=layer_s, hop_s=hop_s
                ),
                LEAST_SHARE,
                MOST_SHARE,
            )
            for key, some in points.items()
        }

    layer_s, _loss_of_all = _least(
        lambda tried: sum(loss for _share, loss in best_of(tried).values()),
        LEAST_LAYER_S,
        MOST_LAYER_S,
    )
    return {
        key: SpeedProfile(share=share, layer_s=layer_s, spread=Spread(1, 1), rows=0)
        for key, (share, _loss_of_key) in best_of(layer_s).items()
    }


def _least(loss: Callable[[float], float], least: float, most: float) -> tuple[float, float]:
    """Return where a loss is least, searched on a logarithmic grid that narrows."""
    low, high = math.log(least), math.log(most)
    best, found = math.inf, low
    for _ in range(REFINEMENTS):
        step = (high - low) / GRID_STEPS
        tried = [(loss(math.exp(low + step * i)), low + step * i) for i in range(GRID_STEPS + 1)]
        best, found = min(tried)
        low, high = found - step, found + step
    return math.exp(found), best


def _loss(
    points: Sequence[Point], *, key: SpeedKey, share: float, layer_s: float, hop_s: float
) -> float:
    profile = SpeedProfile(share=share, layer_s=layer_s, spread=Spread(1, 1), rows=0)
    prior = prior_profile(key)
    pull = math.log(share / prior.share) ** 2 + math.log(layer_s / prior.layer_s) ** 2
    errors = sum(
        math.hypot(_log_error(point, key=key, profile=profile, hop_s=hop_s, loop=0), SMOOTH)
        for point in points
    )
    return errors + PRIOR_WEIGHT * pull


def _log_error(
    point: Point, *, key: SpeedKey, profile: SpeedProfile, hop_s: float, loop: float
) -> float:
    """Return the logarithm of the estimated over the measured time."""
    seconds = step_seconds(
        point.load, profile=profile, engine=key.engine, hop_s=hop_s, expert_loop=loop
    )
    return math.log(seconds / point.seconds)


def _expert_loop(
    points: Mapping[SpeedKey, Sequence[Point]], profiles: Mapping[SpeedKey, SpeedProfile]
) -> float:
    loops = [
        (point.seconds / (point.load.layers * profiles[key].layer_s) - 1)
        / point.load.looped_experts
        for key, some in points.items()
        for point in some
        if _loops(key, point) and key in profiles
    ]
    return max(0.0, median(loops)) if loops else constants_table()["speed"]["prior_expert_loop"]


def _spread(
    points: Sequence[Point], *, key: SpeedKey, profile: SpeedProfile, hop_s: float, loop: float
) -> Spread:
    """Return the factors on the speed between which nine of ten rows lie."""
    factors = sorted(
        math.exp(_log_error(point, key=key, profile=profile, hop_s=hop_s, loop=loop))
        for point in points
    )
    least = LEAST_SPREAD if len(points) > FEW_ROWS else LEAST_SPREAD_OF_FEW
    return Spread(
        low=min(1 - least, percentile(factors, percent=LOW_PERCENTILE)),
        high=max(1 + least, percentile(factors, percent=HIGH_PERCENTILE)),
    )


def _prefill(runs: Iterable[ServingRun]) -> dict[tuple[Engine, MemoryKind], PrefillUse]:
    shares: defaultdict[tuple[Engine, MemoryKind], list[float]] = defaultdict(list)
    for run in runs:
        if run.metric is not Metric.PREFILL_SPEED or run.card is None:
            continue
        work = FLOPS_PER_PARAMETER * prompt_parameters(run.job.model)
        try:
            peak = peak_flops(run.card, engine=run.job.engine)
        except UnknownPeakError:
            continue
        kind = MemoryKind.of(run.card.memory_type)
        shares[run.job.engine, kind].append(run.measured * work / peak)
    return {
        key: PrefillUse(
            share=median(some),
            low=percentile(sorted(some), percent=LOW_PERCENTILE),
            high=percentile(sorted(some), percent=HIGH_PERCENTILE),
            rows=len(some),
        )
        for key, some in shares.items()
    }


def written(constants: Constants) -> str:
    """Return the text of ``serving_speed.toml``."""
    lines = [
        "# Fitted to the rows of measured.csv by sizing.serving.fitting; written by it, not by hand.",
        "# Shares of one, microseconds, factors on the speed, rows behind each class.",
        f"hop_us = {constants.hop_s / MICROSECOND:.0f}",
        f"expert_loop = {constants.expert_loop:.3f}",
    ]
    for key, profile in constants.speed.items():
        if profile.rows:
            lines += [
                "\n[[speed]]",
                f'engine = "{key.engine.value}"',
                f'memory = "{key.memory.value}"',
                f'weights = "{key.weights.value}"',
                f"share = {profile.share:.3f}",
                f"layer_us = {profile.layer_s / MICROSECOND:.1f}",
                f"low = {profile.spread.low:.2f}",
                f"high = {profile.spread.high:.2f}",
                f"rows = {profile.rows}",
            ]
    for (engine, memory), use in constants.prefill_use.items():
        if use.rows:
            lines += [
                "\n[[prefill]]",
                f'engine = "{engine.value}"',
                f'memory = "{memory.value}"',
                f"share = {use.share:.3f}",
                f"low = {use.low:.3f}",
                f"high = {use.high:.3f}",
                f"rows = {use.rows}",
            ]
    return "\n".join(lines) + "\n"
