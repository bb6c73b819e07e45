"""Fits the few constants that formulas cannot give, so that anybody can repeat it.

Least sum of absolute logarithmic errors over the fine-tuning rows with one card, smoothed near
zero, by searching one constant after the other on ever finer grids. Each is pulled weakly towards
its prior, what the mechanism says: where rows tell nothing of a constant it stays there. Leaving
out a source is fitting the other rows.

The intervals are not those of the fit: each source is left out in turn, the constants are fitted
without it, and of the errors on the rows left out the 5th and 95th percentile are taken, by
method. `written` gives the text of ``training_constants.toml``:
python -c "from sizing.measurements import own_measurements as own;
from sizing.training.fitting import fit, written; print(written(fit(own().measurements)), end='')".
"""

import math
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from importlib.resources import files
from typing import Final, NamedTuple

from sizing.measurements import INFERENCE_TASK, Measurement, Metric
from sizing.relative_errors import percentile
from sizing.training.choices import Method
from sizing.training.constants import TABLE, Constants
from sizing.training.from_row import UnreadableRowError, training_job
from sizing.training.job import TrainingJob
from sizing.training.memory import estimate_training

# Errors below this count less than in proportion, so that the sum has one least point.
SMOOTH: Final = 0.03
# What a factor of e away from the prior costs, in rows that are wrong by as much.
PRIOR_WEIGHT: Final = 2.0
# Each round tries every constant at these factors of its value; later rounds step finer.
STEPS: Final = (0.25, 0.1, 0.04, 0.015, 0.005)
ROUNDS_PER_STEP: Final = 6
LOW_PERCENTILE: Final = 5
HIGH_PERCENTILE: Final = 95
# No method is known better than this, however well its rows agree.
LEAST_SPREAD: Final = 0.08
# Percentiles of fewer rows say little.
FEW_ROWS: Final = 10
SPREAD_OF_FEW: Final = 0.25


class Bound(NamedTuple):
    """The prior of a constant, and how far from it the fit may go."""

    prior: float
    least: float
    most: float


# Priors are what the mechanism says, see the table's sources; bounds keep a meaning to a constant.
FITTED: Final[Mapping[str, Bound]] = {
    "context_bytes": Bound(0.6e9, 0.4e9, 1.0e9),
    "fragmentation_share": Bound(0.03, 0.02, 0.06),
    "eager_loss_bytes": Bound(14.0, 10.0, 18.0),
    "plain_loss_bytes": Bound(8.0, 4.0, 12.0),
    "activation_factor": Bound(1.0, 0.8, 1.4),
    "quantized_factor": Bound(1.3, 1.0, 1.6),
    "lean_factor": Bound(0.8, 0.5, 1.0),
    "step_copies": Bound(1.0, 0.5, 3.0),
    "bucket_bytes": Bound(8.0, 2.0, 12.0),
}


class Run(NamedTuple):
    """One measured run on one card."""

    source: str
    job: TrainingJob
    measured: float


def fit(measurements: Iterable[Measurement], *, has_intervals: bool = True) -> Constants:
    """Return constants fitted on the fine-tuning rows with one card; others are passed over.

    Without intervals, those of the table are kept and a fit takes a second or two.
    """
    runs = list(training_runs(measurements))
    fitted = _fitted(runs)
    if not has_intervals:
        return fitted
    errors = [
        (run.job.method, math.log(run.measured / _estimate(run, constants)))
        for source in sorted({run.source for run in runs})
        for constants in [_fitted([run for run in runs if run.source != source])]
        for run in runs
        if run.source == source
    ]
    shares: dict[str, float] = {}
    for method in Method:
        low, high = _interval([error for each, error in errors if each is method])
        shares[f"low_share_{method.value}"] = low
        shares[f"high_share_{method.value}"] = high
    return replace(fitted, **shares)


def training_runs(measurements: Iterable[Measurement]) -> Iterable[Run]:
    for row in measurements:
        is_one_card = row.gpus == 1 and row.metric is Metric.PEAK_MEMORY
        if row.task == INFERENCE_TASK or not is_one_card:
            continue
        try:
            yield Run(row.source, training_job(row), row.value)
        except UnreadableRowError:
            continue


def written(constants: Constants) -> str:
    """Return the text of the table with the values of these constants and the table's sources."""
    text = files("sizing.tables").joinpath(TABLE).read_text(encoding="utf-8")
    table = tomllib.loads(text)
    head = text[: text.index("\n[")]
    parts = [head.rstrip("\n") + "\n"]
    for field in fields(Constants):
        value = getattr(constants, field.name)
        source = table[field.name]["source"]
        parts.append(f'\n[{field.name}]\nvalue = {value:.4g}\nsource = "{source}"\n')
    return "".join(parts)


def _fitted(runs: Sequence[Run]) -> Constants:
    """Return the constants of the least cost on these runs."""
    table = tomllib.loads(files("sizing.tables").joinpath(TABLE).read_text(encoding="utf-8"))
    known = {field.name: float(table[field.name]["value"]) for field in fields(Constants)}
    best = Constants(**known | {name: bound.prior for name, bound in FITTED.items()})
    cost = _cost(runs, best)
    for step in STEPS:
        for _ in range(ROUNDS_PER_STEP):
            before = cost
            for name in FITTED:
                best, cost = _better(runs, best, cost, name=name, step=step)
            if cost == before:
                break
    return best


def _better(
    runs: Sequence[Run], best: Constants, cost: float, *, name: str, step: float
) -> tuple[Constants, float]:
    """Try one constant a step up and a step down."""
    bound = FITTED[name]
    value = getattr(best, name)
    for factor in (1 + step, 1 / (1 + step)):
        moved = replace(best, **{name: min(bound.most, max(bound.least, value * factor))})
        moved_cost = _cost(runs, moved)
        if moved_cost < cost:
            best, cost = moved, moved_cost
    return best, cost


def _cost(runs: Sequence[Run], constants: Constants) -> float:
    errors = sum(_size(math.log(_estimate(run, constants) / run.measured)) for run in runs)
    pulls = sum(
        math.log(getattr(constants, name) / bound.prior) ** 2 for name, bound in FITTED.items()
    )
    return errors + PRIOR_WEIGHT * pulls


def _size(error: float) -> float:
    return math.sqrt(error * error + SMOOTH * SMOOTH) - SMOOTH


def _estimate(run: Run, constants: Constants) -> float:
    return estimate_training(run.job, constants=constants).peak_bytes


def _interval(errors: Sequence[float]) -> tuple[float, float]:
    """Return the ends of the interval from logarithms of measured over estimated."""
    if len(errors) < FEW_ROWS:
        return math.exp(-SPREAD_OF_FEW), math.exp(SPREAD_OF_FEW)
    ascending = sorted(errors)
    low = min(percentile(ascending, percent=LOW_PERCENTILE), -LEAST_SPREAD)
    high = max(percentile(ascending, percent=HIGH_PERCENTILE), LEAST_SPREAD)
    return math.exp(low), math.exp(high)
