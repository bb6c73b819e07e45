"""The options that describe a job: one for each field, named as everywhere else."""

import argparse
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from sizing.bounds import InputError
from sizing.plain.benchmarked import BENCHMARKED_FIELDS, BenchmarkedTask
from sizing.plain.field_help import FIELD_HELP
from sizing.plain.jobs import JOB_FIELDS, MODEL_FIELDS, Task, field_names
from sizing.shapes.config_json import MOST_CONFIG_BYTES

_OF_TWO_TASKS: Final = frozenset(JOB_FIELDS[Task.TRAINING]) & frozenset(JOB_FIELDS[Task.SERVING])


_METAVARS: Final = {
    "model": "SLUG",
    "recipe": "A..J",
    "weight_format": "SLUG",
    "diffusion_model": "SLUG",
    "code": "NAME",
    "has_tied_embeddings": "true|false",
}


def add_job_options(parser: argparse.ArgumentParser, *, without: Iterable[str] = ()) -> None:
    """Add every field of every task; there are too many to be listed twice."""
    parser.usage = f"{parser.prog} [options]"
    skipped = set(without)
    both = ("task", *sorted(_OF_TWO_TASKS))
    _add(parser.add_argument_group("the job"), both, skipped)
    _add(parser.add_argument_group("the model, one way of these"), MODEL_FIELDS, skipped)
    for task in Task:
        own = [name for name in field_names(task) if name not in (*both, *MODEL_FIELDS)]
        _add(parser.add_argument_group(f"{task.value}"), own, skipped)
    for other, fields in BENCHMARKED_FIELDS.items():
        own = [name for name in fields if name not in JOB_FIELDS[Task.TRAINING]]
        _add(parser.add_argument_group(f"{other.value}"), own, skipped)


def job_texts_of(options: argparse.Namespace) -> dict[str, object]:
    """Return what was given, by field; of a configuration, the content of its file."""
    names = {name for task in Task for name in field_names(task)}
    names.update(name for fields in BENCHMARKED_FIELDS.values() for name in fields)
    values = {name: getattr(options, name, None) for name in names}
    given: dict[str, object] = {name: text for name, text in values.items() if text is not None}
    if "config" in given:
        content = read_file("config", str(given["config"]), most_bytes=MOST_CONFIG_BYTES)
        given["config"] = _utf8(content)
    return given


def read_file(field: str, path: str, *, most_bytes: int) -> bytes:
    """Return no more of a file than one byte beyond the most, so that a wrong one costs nothing."""
    try:
        with Path(path).open("rb") as file:
            return file.read(most_bytes + 1)
    except (OSError, ValueError):
        raise InputError(field=field, problem="file_not_read", values={"given": path}) from None


def _utf8(content: bytes) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        raise InputError(field="config.json", problem="config_not_utf8") from None


def _add(group: "argparse._ArgumentGroup", names: Iterable[str], skipped: set[str]) -> None:
    for name in names:
        if name not in skipped:
            group.add_argument(
                f"--{name.replace('_', '-')}",
                dest=name,
                metavar=_metavar(name),
                help=FIELD_HELP[name].replace("%", "%%"),
            )


def _metavar(name: str) -> str:
    if name == "config":
        return "FILE"
    if name == "task":
        return "|".join(task.value for task in (*Task, *BenchmarkedTask))
    for fields in (*JOB_FIELDS.values(), *BENCHMARKED_FIELDS.values()):
        field = fields.get(name)
        if field is not None and field.choices:
            return "|".join(field.choices)
    return _METAVARS.get(name, "N")
