"""Measurements of others in one format: read strictly, judged fit or unfit for a comparison.

A file is comma-separated text whose first line names the columns; ``COLUMNS`` lists those that are
known, others are ignored. A row that cannot be compared is never dropped in silence: it becomes a
`NotJudged` with its reason. Only a file that is no such table at all is refused.

Units are the row's own: GB are 10**9 bytes, GiB and MiB binary. Sources mix them up, so a row must
give the unit that its figure really has, not the one that its source prints.
"""

import csv
import io
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Final

from sizing.csv_tables import table_rows
from sizing.nearest import nearest
from sizing.shapes.language_models import all_language_models
from sizing.units import GB, GIB, MIB

# fmt: off
COLUMNS: Final = (
    "id", "task", "model", "method", "precision", "optimizer", "seq_len", "micro_batch",
    "grad_ckpt", "attention", "gpu", "gpus", "sharding", "metric", "value", "unit", "source",
    "model_slug", "lora_rank", "lora_targets", "note",
)
# fmt: on
# Without these no row says anything.
NEEDED_COLUMNS: Final = ("task", "metric", "value", "unit")
# The day on which the sources of our own table were read.
READ_ON: Final = date(2026, 11, 30)

# Our own table has some hundred rows; a file beyond these bounds was meant for something else.
MOST_FILE_BYTES: Final = 8 * 1024 * 1024
MOST_ROWS: Final = 20_000
# More than any server holds and any card computes: such a figure is a slip of the unit.
MOST_MEMORY_BYTES: Final = 10**15
MOST_TOKENS_PER_S: Final = 10**9
MOST_DIGITS: Final = 9

MEMORY_UNITS: Final = MappingProxyType(
    {"B": 1, "MB": 10**6, "MIB": MIB, "GB": GB, "GIB": GIB, "TB": 10**12, "TIB": 2**40}
)
COUNT_COLUMNS: Final = ("seq_len", "micro_batch", "gpus", "lora_rank")
SPEED_UNITS: Final = ("TOKENS/S", "TOK/S", "T/S")
TRAINING_TASKS: Final = ("fine-tuning", "training", "pre-training")
INFERENCE_TASK: Final = "inference"
# Weights, gradients and both moments of pure bf16 training, the least that plain AdamW holds.
LEAST_ADAMW_BYTES_PER_PARAMETER: Final = 8
# The same where each gradient is dropped as soon as it was applied.
LEAST_FUSED_BYTES_PER_PARAMETER: Final = 6


class Metric(StrEnum):
    """What was measured: bytes of the fullest card, bytes of all cards, tokens per second."""

    PEAK_MEMORY = "peak_memory"
    PEAK_MEMORY_TOTAL = "peak_memory_total"
    DECODE_SPEED = "decode_speed"
    PREFILL_SPEED = "prefill_speed"


MEMORY_METRICS: Final = (Metric.PEAK_MEMORY, Metric.PEAK_MEMORY_TOTAL)


class Reason(StrEnum):
    """Why a row is not compared with an estimate."""

    WRONG_CELLS = "wrong_cells"
    OTHER_TASK = "other_task"
    OTHER_METRIC = "other_metric"
    BROKEN_NUMBER = "broken_number"
    UNKNOWN_UNIT = "unknown_unit"
    UNKNOWN_MODEL = "unknown_model"
    NO_LENGTH = "no_length"
    NO_PRECISION = "no_precision"
    APPROXIMATE = "approximate"
    COMPILATION = "compilation"
    BELOW_STATES = "below_states"
    NOT_ESTIMATED = "not_estimated"


REASON_TEXTS: Final = MappingProxyType(
    {
        Reason.WRONG_CELLS: "the row has more or fewer cells than the first line names",
        Reason.OTHER_TASK: "the engine makes no estimate for this task",
        Reason.OTHER_METRIC: "the engine makes no estimate of this metric",
        Reason.BROKEN_NUMBER: "a number is missing, broken or out of all bounds",
        Reason.UNKNOWN_UNIT: "the unit is not one of this metric",
        Reason.UNKNOWN_MODEL: "the model is not in the table of models",
        Reason.NO_LENGTH: "the length in tokens is not given",
        Reason.NO_PRECISION: "the precision of the weights is not given",
        Reason.APPROXIMATE: "the note says that the figure is only approximate",
        Reason.COMPILATION: "the note says that the figure comes from a compilation",
        Reason.BELOW_STATES: (
            "the peak is below weights, gradients and optimizer states alone, "
            "so it cannot be of the run described"
        ),
        Reason.NOT_ESTIMATED: "the engine refuses to estimate what the row describes",
    }
)


class MeasurementsFileError(ValueError):
    """The file is no table of measurements; the message says what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NotJudged:
    """A row that is counted but not compared. ``line`` is that of the file, from 1."""

    line: int
    id: str
    reason: Reason
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """One run as somebody measured it. ``value`` is in bytes or in tokens per second.

    ``cells`` are the row as it was read, by column, all known columns present. ``model_slug``
    names a model of the table.
    """

    line: int
    id: str
    task: str
    method: str
    metric: Metric
    value: float
    model_slug: str
    gpus: int
    source: str
    cells: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasurementsFile:
    """The rows of a file: those to compare, those counted only, and columns that it lacks."""

    measurements: tuple[Measurement, ...]
    not_judged: tuple[NotJudged, ...]
    missing_columns: tuple[str, ...]

    @property
    def rows(self) -> int:
        return len(self.measurements) + len(self.not_judged)


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasurementSource:
    """A source of measurements. ``licence`` is that of its text; figures alone are facts."""

    url: str
    name: str
    licence: str


@cache
def own_measurements() -> MeasurementsFile:
    """Return the rows of the package's own table."""
    table = files("sizing.tables").joinpath("measured.csv")
    return measurements_of(content=table.read_bytes())


@cache
def measurement_sources() -> MappingProxyType[str, MeasurementSource]:
    """Return the sources of the package's own table, by address."""
    return MappingProxyType(
        {
            row["source"]: MeasurementSource(
                url=row["source"], name=row["name"], licence=row["licence"]
            )
            for row in table_rows("measured_sources.csv")
        }
    )


def source_name(url: str) -> str:
    """Return a short name of a source: ours, or the last parts of its address."""
    known = measurement_sources().get(url)
    if known is not None:
        return known.name
    parts = [part for part in url.split("/") if part]
    return "/".join(parts[-2:]) or "no source"


def measurements_of(*, content: bytes) -> MeasurementsFile:
    """Read a file of measurements.

    Raises
    ------
    MeasurementsFileError
        Too large, not text, empty, without the columns that every row needs.
    """
    text = _text(content)
    header, rows = _table(text)
    judged: list[Measurement] = []
    unfit: list[NotJudged] = []
    for line, cells in rows:
        row = _row(line=line, header=header, cells=cells)
        (judged if isinstance(row, Measurement) else unfit).append(row)  # type: ignore[arg-type]  # the list of its own kind
    return MeasurementsFile(
        measurements=tuple(judged),
        not_judged=tuple(unfit),
        missing_columns=tuple(column for column in COLUMNS if column not in header),
    )


def _text(content: bytes) -> str:
    if len(content) > MOST_FILE_BYTES:
        raise MeasurementsFileError(
            f"the file has {len(content)} bytes, at most {MOST_FILE_BYTES} are read; split it"
        )
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise MeasurementsFileError(
            "the file is not UTF-8 text; save the table as CSV in UTF-8"
        ) from None
    if not text.strip():
        raise MeasurementsFileError(
            f"the file is empty; its first line must name the columns: {','.join(COLUMNS)}"
        )
    return text


def _table(text: str) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """Return the names of the columns and the rows with their line numbers."""
    reader = csv.reader(io.StringIO(text, newline=""))
    try:
        header = [name.strip().lower() for name in next(reader)]
        rows = [(reader.line_num, cells) for cells in _bounded(reader) if any(cells)]
    except csv.Error as error:
        raise MeasurementsFileError(f"the file is not CSV: {error}") from None
    _check_header(header)
    return header, rows


def _bounded(reader: Iterator[list[str]]) -> Iterator[list[str]]:
    for count, cells in enumerate(reader, start=1):
        if count > MOST_ROWS:
            raise MeasurementsFileError(
                f"the file has more than {MOST_ROWS} rows, which is the most; split it"
            )
        yield cells


def _check_header(header: list[str]) -> None:
    missing = [column for column in NEEDED_COLUMNS if column not in header]
    if not missing:
        twice = sorted({name for name in header if name in COLUMNS and header.count(name) > 1})
        if twice:
            raise MeasurementsFileError(f"the first line names a column twice: {', '.join(twice)}")
        return
    hint = " Cells seem to be separated by semicolons; use commas." if ";" in header[0] else ""
    raise MeasurementsFileError(
        f"the first line lacks {', '.join(missing)}; the columns are {','.join(COLUMNS)}.{hint}"
    )


class _UnfitError(Exception):
    """Ends the reading of one row."""

    def __init__(self, reason: Reason, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail


def _row(*, line: int, header: list[str], cells: list[str]) -> Measurement | NotJudged:
    named = dict.fromkeys(COLUMNS, "") | {
        name: cell.strip() for name, cell in zip(header, cells, strict=False) if name in COLUMNS
    }
    try:
        _check_cells(header=header, cells=cells)
        return _measurement(line=line, cells=named)
    except _UnfitError as unfit:
        return NotJudged(line=line, id=named["id"], reason=unfit.reason, detail=unfit.detail)


def _check_cells(*, header: list[str], cells: list[str]) -> None:
    if len(cells) != len(header):
        raise _UnfitError(Reason.WRONG_CELLS, f"{len(cells)} cells, {len(header)} columns")


def _measurement(*, line: int, cells: dict[str, str]) -> Measurement:
    _check_note(cells["note"])
    metric = _metric(cells)
    slug = _model_slug(cells)
    counts = {column: _count(cells, column) for column in COUNT_COLUMNS}
    row = Measurement(
        line=line,
        id=cells["id"],
        task=cells["task"].lower(),
        method=cells["method"],
        metric=metric,
        value=_value(cells, metric=metric),
        model_slug=slug,
        gpus=int(counts["gpus"] or 1),
        source=cells["source"],
        cells=MappingProxyType(cells | counts | {"model_slug": slug}),
    )
    _check_description(row)
    return row


def _check_note(note: str) -> None:
    words = note.lower()
    if "approx" in words or "documentation figure" in words:
        raise _UnfitError(Reason.APPROXIMATE, note)
    if "compilation page" in words or "compilation of" in words:
        raise _UnfitError(Reason.COMPILATION, note)


def _metric(cells: dict[str, str]) -> Metric:
    task = cells["task"].lower()
    if task not in (*TRAINING_TASKS, INFERENCE_TASK):
        raise _UnfitError(Reason.OTHER_TASK, cells["task"] or "no task")
    try:
        metric = Metric(cells["metric"].lower())
    except ValueError:
        raise _UnfitError(Reason.OTHER_METRIC, cells["metric"] or "no metric") from None
    if task != INFERENCE_TASK and metric not in MEMORY_METRICS:
        raise _UnfitError(Reason.OTHER_METRIC, f"{metric.value} of {task}")
    return metric


def _value(cells: dict[str, str], *, metric: Metric) -> float:
    unit = cells["unit"].upper()
    is_memory = metric in MEMORY_METRICS
    if unit not in (MEMORY_UNITS if is_memory else SPEED_UNITS):
        raise _UnfitError(Reason.UNKNOWN_UNIT, f"{cells['unit'] or 'none'} for {metric.value}")
    try:
        value = float(cells["value"]) * (MEMORY_UNITS[unit] if is_memory else 1)
    except ValueError:
        raise _UnfitError(Reason.BROKEN_NUMBER, f"value: {cells['value'] or 'none'}") from None
    most = MOST_MEMORY_BYTES if is_memory else MOST_TOKENS_PER_S
    if not (math.isfinite(value) and 0 < value <= most):
        raise _UnfitError(Reason.BROKEN_NUMBER, f"value: {cells['value']}")
    return value


def _count(cells: dict[str, str], column: str) -> str:
    """Return the digits of a whole number of at least one; spreadsheets write 1.0 for 1."""
    cell = cells[column]
    digits = cell.removesuffix(".0")
    is_count = digits.isascii() and digits.isdigit() and len(digits) <= MOST_DIGITS
    if cell and not (is_count and int(digits) > 0):
        raise _UnfitError(Reason.BROKEN_NUMBER, f"{column}: {cell}")
    return digits


def _model_slug(cells: dict[str, str]) -> str:
    """Return the slug of the row, or the one whose name or slug is the name on the row."""
    wanted = cells["model_slug"] or cells["model"]
    slug = _slugs().get(_plain(wanted))
    if slug is None:
        near = nearest(wanted, known=all_language_models())
        hint = f"; nearest: {', '.join(near)}" if near else ""
        raise _UnfitError(Reason.UNKNOWN_MODEL, f"{wanted or 'no model'}{hint}")
    return slug


@cache
def _slugs() -> MappingProxyType[str, str]:
    models = all_language_models()
    by_name = {_plain(model.name): slug for slug, model in models.items()}
    return MappingProxyType(by_name | {_plain(slug): slug for slug in models})


def _plain(name: str) -> str:
    return "".join(sign for sign in name.lower() if sign.isalnum() or sign == ".")


def _check_description(row: Measurement) -> None:
    """Refuse rows that do not say what was run, or that cannot be what they say."""
    if row.task == INFERENCE_TASK:
        if not row.cells["precision"]:
            raise _UnfitError(Reason.NO_PRECISION, row.method)
        return
    if not row.cells["seq_len"]:
        raise _UnfitError(Reason.NO_LENGTH, row.method)
    if _is_plain_adamw(row):
        words = " ".join(row.cells.values()).lower()
        is_fused = "backward" in words or "fused" in words
        least = LEAST_FUSED_BYTES_PER_PARAMETER if is_fused else LEAST_ADAMW_BYTES_PER_PARAMETER
        states = least * all_language_models()[row.model_slug].parameters
        if row.value < states:
            raise _UnfitError(
                Reason.BELOW_STATES, f"{row.value / GB:.1f} GB, states {states / GB:.1f} GB"
            )


def _is_plain_adamw(row: Measurement) -> bool:
    """Whether one card held every state of full training with AdamW in 16 bits at least."""
    return (
        row.method.lower().startswith("full")
        and row.cells["optimizer"].lower() == "adamw"
        and row.metric == Metric.PEAK_MEMORY
        and row.gpus == 1
        and "offload" not in " ".join(row.cells.values()).lower()
    )
