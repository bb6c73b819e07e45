"""``measure``: run jobs on this machine's card and write them as rows of measurements."""

import argparse
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from sizing.commands.answers import EXIT_OK, answer, answer_json, new_parser, refuse
from sizing.estimates import Estimate
from sizing.measure.prediction import predicted
from sizing.measure.results import Outcome, Result
from sizing.measure.rows import OWN_SOURCE, Peak, csv_text, rows_of
from sizing.measure.runner import RunFailedError, measured, missing_for
from sizing.measure.runs import MeasuredRun, Work, job_of, plan_of
from sizing.measure.script import script_text
from sizing.shapes.language_models import UnknownModelError, model_by_slug
from sizing.units import GB

if TYPE_CHECKING:
    from sizing.commands.answers import Subparsers

EXAMPLES: Final = """\
  python -m sizing measure --dry-run
  python -m sizing measure --model llama-3.1-8b --work lora --tokens 2048 --out rows.csv
  python -m sizing measure --model qwen3-8b --work qlora --tokens 4096 --print-script > test.py
"""
EXIT_CANNOT_MEASURE: Final = 3
DEFAULT_MODEL: Final = "llama-3.1-8b"
DEFAULT_TOKENS: Final = (512, 2048)
DEFAULT_NEW_TOKENS: Final = 128
_LABEL_WIDTH: Final = 62


@dataclass(frozen=True, slots=True)
class _Measured:
    run: MeasuredRun
    expected: Estimate
    result: Result | None
    problem: str = ""


def add_parser(subparsers: "Subparsers") -> None:
    parser = new_parser(
        subparsers,
        name="measure",
        summary="run jobs on this machine's card and write rows of measurements",
        description=(
            "Build a model from its dimensions with random weights at 2, 4 and all its layers, run "
            "real steps on this machine's NVIDIA card, and write rows in the format of "
            "measured.csv. Needs PyTorch: pip install 'gpubourse[measure]'."
        ),
        examples=EXAMPLES,
    )
    parser.add_argument("--model", default=DEFAULT_MODEL, metavar="SLUG", help="the model's slug")
    parser.add_argument(
        "--work",
        action="append",
        choices=[work.value for work in Work],
        help="what is done with it; may be repeated; all without",
    )
    parser.add_argument(
        "--tokens", action="append", type=int, metavar="N", help="length; may be repeated"
    )
    parser.add_argument("--new-tokens", type=int, default=DEFAULT_NEW_TOKENS, metavar="N")
    parser.add_argument("--micro-batch", type=int, default=1, metavar="N")
    parser.add_argument("--lora-rank", type=int, default=16, metavar="N")
    parser.add_argument(
        "--peak",
        choices=[peak.value for peak in Peak],
        help="which peak the rows tell: by default device for training, allocated for inference",
    )
    parser.add_argument("--source", default=OWN_SOURCE, help="what the rows name as their source")
    parser.add_argument("--out", metavar="FILE.csv", help="add the rows to this file")
    parser.add_argument(
        "--dry-run", action="store_true", help="print the plan and what is expected; runs nothing"
    )
    parser.add_argument(
        "--print-script",
        action="store_true",
        help="print the script that measures the first full-depth run on another machine",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    try:
        plan = _plan(options)
    except UnknownModelError as error:
        hint = f" Nearest: {', '.join(error.nearest)}." if error.nearest else ""
        return refuse(f"--model: no model named {error.slug!r}.{hint}")
    if options.print_script:
        return answer(script_text(job_of(_first_whole(plan, options))))
    if options.dry_run:
        return _tell(options, [_Measured(each, predicted(each), None) for each in plan])
    return _measure(options, plan)


def _plan(options: argparse.Namespace) -> tuple[MeasuredRun, ...]:
    return plan_of(
        model=model_by_slug(options.model),
        works=[Work(work) for work in options.work or list(Work)],
        sequence_tokens=options.tokens or DEFAULT_TOKENS,
        new_tokens=options.new_tokens,
        micro_batch=options.micro_batch,
        lora_rank=options.lora_rank,
    )


def _first_whole(plan: Iterable[MeasuredRun], options: argparse.Namespace) -> MeasuredRun:
    return next(each for each in plan if each.model.slug == options.model)


def _measure(options: argparse.Namespace, plan: tuple[MeasuredRun, ...]) -> int:
    lacking = {each.work: missing_for(each.work) for each in plan}
    can_run = [each for each in plan if not lacking[each.work]]
    if not can_run:
        sys.stderr.write(next(iter(lacking.values())) + "\n")
        return EXIT_CANNOT_MEASURE
    for work, problem in lacking.items():
        if problem:
            sys.stderr.write(f"{work.value}: {problem}\n")
    done = [_one(each) for each in can_run]
    _write_rows(options, done)
    return _tell(options, done)


def _one(run: MeasuredRun) -> _Measured:
    expected = predicted(run)
    try:
        return _Measured(run, expected, measured(run))
    except RunFailedError as problem:
        return _Measured(run, expected, None, str(problem))


def _write_rows(options: argparse.Namespace, done: Iterable[_Measured]) -> None:
    if not options.out:
        return
    peak = Peak(options.peak) if options.peak else None
    rows = [
        row
        for each in done
        if each.result is not None
        for row in rows_of(each.result, peak=peak, source=options.source)
    ]
    path = Path(options.out)
    is_new = not path.exists() or not path.stat().st_size
    with path.open("a", encoding="utf-8", newline="") as file:
        file.write(csv_text(rows, has_heading=is_new))


def _tell(options: argparse.Namespace, done: list[_Measured]) -> int:
    if options.json:
        return answer_json({"runs": [_object(each) for each in done]})
    heading = (
        f"{'':<{_LABEL_WIDTH}}{'expected GB':>12}{'from':>8}{'to':>8}{'measured':>10}{'error':>8}"
    )
    answer("\n".join([heading, *(_line(each) for each in done)]) + "\n")
    return EXIT_OK


def _label(run: MeasuredRun) -> str:
    length = f"{run.micro_batch} x {run.sequence_tokens}"
    return f"{run.model.name}: {run.work.value}, {length} tokens"[: _LABEL_WIDTH - 1]


def _line(each: _Measured) -> str:
    expected = each.expected
    figures = "".join(
        f"{size / GB:>{width}.2f}"
        for size, width in (
            (expected.peak_bytes, 12),
            (expected.low_bytes, 8),
            (expected.high_bytes, 8),
        )
    )
    return f"{_label(each.run):<{_LABEL_WIDTH}}{figures}{_outcome(each)}"


def _outcome(each: _Measured) -> str:
    if each.problem:
        return f"  failed: {each.problem}"
    if each.result is None:
        return ""
    peak = each.result.peak_bytes
    if each.result.outcome is Outcome.OUT_OF_MEMORY or peak is None:
        return f"  {each.result.outcome.value}"
    error = (each.expected.peak_bytes - peak) / peak * 100
    return f"{peak / GB:>10.2f}{error:>+7.1f}%"


def _object(each: _Measured) -> dict[str, Any]:
    result = each.result
    return {
        "job": job_of(each.run),
        "expected": {
            "peak_bytes": each.expected.peak_bytes,
            "low_bytes": each.expected.low_bytes,
            "high_bytes": each.expected.high_bytes,
            "terms": {term.part.value: term.size_bytes for term in each.expected.terms},
        },
        "outcome": (each.problem and "failed") or (result.outcome.value if result else None),
        "problem": each.problem or None,
        "measured_bytes": result.peak_bytes if result else None,
        "allocated_bytes": result.allocated_bytes if result else None,
        "reserved_bytes": result.reserved_bytes if result else None,
        "device_bytes": result.device_bytes if result else None,
    }
