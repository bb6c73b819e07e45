"""``estimate``: the memory that a job takes at its peak, term by term."""

import argparse
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from sizing.commands.answers import answer, answer_json, new_parser
from sizing.commands.benchmarked import memory_lines
from sizing.commands.job_options import add_job_options, job_texts_of
from sizing.plain.answers import estimate_object
from sizing.plain.benchmarked import benchmarked_task, memory_object
from sizing.plain.jobs import job_from
from sizing.units import GB

if TYPE_CHECKING:
    from sizing.commands.answers import Subparsers

EXAMPLES: Final = """\
  python -m sizing estimate --model llama-3.1-8b --method qlora
  python -m sizing estimate --model qwen3-32b --method full --recipe H --gpus 8 --json
  python -m sizing estimate --config config.json --method lora --lora-rank 64
  python -m sizing estimate --task serving --model llama-3.1-70b --weight-format q4-k-m
  python -m sizing estimate --task image-video --diffusion-model flux-schnell --bits 8
"""
_PART_WIDTH: Final = 13
_BILLION: Final = 10**9
_MILLION: Final = 10**6


def add_parser(subparsers: "Subparsers") -> None:
    parser = new_parser(
        subparsers,
        name="estimate",
        summary="memory that a job takes at its peak, term by term",
        description="Peak memory of the fullest card, with its interval, its terms and formulas.",
        examples=EXAMPLES,
    )
    add_job_options(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    values = job_texts_of(options)
    task = benchmarked_task(values)
    content = memory_object(task, values) if task else estimate_object(job_from(values))
    if options.json:
        return answer_json(content)
    return answer("\n".join((memory_lines if task else _lines)(content)) + "\n")


def job_line(content: dict[str, Any]) -> str:
    """Return the job in one line: its model, then the fields that are not usual."""
    fields = {name: text for name, text in content["job"].items() if name not in ("task", "model")}
    told = ", ".join(f"{name} {text}" for name, text in fields.items())
    return f"{content['model']['name']}: {content['job']['task']}" + (f", {told}" if told else "")


def assumption_lines(content: dict[str, Any]) -> Iterable[str]:
    for each in content["model"]["assumptions"]:
        yield f"Taken for granted: {each['text']}"


def gb(size_bytes: int) -> str:
    return f"{size_bytes / GB:.2f}"


def _lines(content: dict[str, Any]) -> Iterable[str]:
    yield job_line(content)
    yield (
        f"Peak of one card: {gb(content['peak_bytes'])} GB; nine runs of ten from "
        f"{gb(content['low_bytes'])} to {gb(content['high_bytes'])} GB."
    )
    for term in content["terms"]:
        yield f"{term['part']:<{_PART_WIDTH}}{gb(term['size_bytes']):>9} GB"
        for formula in content["formulas"]:
            if formula["part"] == term["part"]:
                yield f"{'':<{_PART_WIDTH}}{gb(formula['size_bytes']):>9} = {_formula(formula)}"
    if content["host_bytes"]:
        yield f"Memory of the server: {gb(content['host_bytes'])} GB."
    yield f"Left out: {', '.join(each.replace('_', ' ') for each in content['left_out'])}."
    yield from assumption_lines(content)


def _formula(formula: dict[str, Any]) -> str:
    shown = {name: _shown(value) for name, value in formula["values"].items()}
    text = formula["formula"]
    if "{" in text:
        text = text.format(**shown)
    elif shown:
        text = f"{text} ({', '.join(f'{name} {value}' for name, value in shown.items())})"
    share = formula["share"]
    return text if share == 1 else f"{text}, {share:.3g} of it on this card"


def _shown(value: object) -> str:
    if isinstance(value, str) or not isinstance(value, (int, float)):
        return str(value)
    if value >= _BILLION:
        return f"{value / _BILLION:.3g} B"
    if value >= _MILLION:
        return f"{value / _MILLION:.3g} M"
    return f"{value:,.5g}" if isinstance(value, float) else f"{value:,}"
