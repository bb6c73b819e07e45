"""What the engine says of a measured run, with its own constants or without one source's."""

from functools import cache

from sizing.bounds import InputError
from sizing.measurements import INFERENCE_TASK, Measurement, own_measurements
from sizing.serving import fitting as serving_fitting
from sizing.serving.constants import Constants as ServingConstants
from sizing.serving.from_row import UnjudgedRowError, estimate_of, serving_run
from sizing.serving.job import check_serving_job
from sizing.serving.peaks import UnknownPeakError
from sizing.training import fitting as training_fitting
from sizing.training.constants import Constants as TrainingConstants
from sizing.training.from_row import UnreadableRowError, training_estimate, training_job
from sizing.training.job import check_training_job


class RowRefusedError(Exception):
    """The engine refuses to estimate what a row describes; the message is its sentence."""


def row_estimate(row: Measurement, *, without_source: str | None = None) -> float:
    """Return the estimate in the unit of the row's value.

    Raises
    ------
    RowRefusedError
        The engine does not know what was run, or on what.
    """
    if row.task == INFERENCE_TASK:
        return _serving_estimate(row, without_source=without_source)
    constants = None if without_source is None else _training_constants(without_source)
    try:
        check_training_job(training_job(row))
        return training_estimate(row, constants=constants)
    except (UnreadableRowError, InputError) as error:
        raise RowRefusedError(str(error)) from None


def _serving_estimate(row: Measurement, *, without_source: str | None) -> float:
    constants = None if without_source is None else _serving_constants(without_source)
    try:
        run = serving_run(row)
        check_serving_job(run.job)
        return estimate_of(run, constants=constants)
    except UnknownPeakError as error:
        raise RowRefusedError(f"no rate of 16-bit matrices is known of {error}") from None
    except (UnjudgedRowError, InputError) as error:
        raise RowRefusedError(str(error)) from None


@cache
def _serving_constants(without_source: str) -> ServingConstants | None:
    """Return constants fitted without a source; None where it had no part in the engine's own."""
    others = _rows_without(without_source)
    return None if others is None else serving_fitting.fit(others)


@cache
def _training_constants(without_source: str) -> TrainingConstants | None:
    """Return constants fitted without a source; None where it had no part in the engine's own."""
    others = _rows_without(without_source)
    return None if others is None else training_fitting.fit(others)


def _rows_without(source: str) -> tuple[Measurement, ...] | None:
    rows = own_measurements().measurements
    others = tuple(row for row in rows if row.source != source)
    return None if len(others) == len(rows) else others
