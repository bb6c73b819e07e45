"""``fit``: on which cards a job fits, what would make it fit, and what they would hold."""

import argparse
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final

from sizing.cards import Card, all_cards
from sizing.commands.answers import answer, answer_json, new_parser
from sizing.commands.benchmarked import verdict_lines
from sizing.commands.estimate import assumption_lines, gb, job_line
from sizing.commands.job_options import add_job_options, job_texts_of
from sizing.plain.answers import fit_object, whole_fit_object
from sizing.plain.benchmarked import benchmarked_task, verdicts_object
from sizing.plain.places import cards_from, gpus_from, job_to_place
from sizing.units import BILLION

if TYPE_CHECKING:
    from sizing.commands.answers import Subparsers

Content = dict[str, Any]
Lines = Callable[[Content], Iterable[str]]
EXAMPLES: Final = """\
  python -m sizing fit --model llama-3.1-8b --method qlora
  python -m sizing fit --model llama-3.1-8b --method full --card rtx-4090
  python -m sizing fit --model llama-3.1-70b --method full --gpus 8 --card h200-sxm --json
  python -m sizing fit --task rendering --scene-gb 20
"""


def add_parser(subparsers: "Subparsers") -> None:
    parser = new_parser(
        subparsers,
        name="fit",
        summary="on which cards a job fits, and what would make it fit",
        description=(
            "The verdict on every card; on cards that are named also the smallest change that "
            "fits, the speed, and the largest of everything that would fit."
        ),
        examples=EXAMPLES,
    )
    parser.add_argument(
        "--card",
        action="append",
        metavar="SLUG",
        help="only this card, in full; may be repeated",
    )
    add_job_options(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    values = job_texts_of(options)
    content, lines = _content(values, named=cards_from(options.card))
    if options.json:
        return answer_json(content)
    return answer("\n".join(lines(content)) + "\n")


def _content(values: dict[str, object], *, named: tuple[Card, ...]) -> tuple[Content, Lines]:
    """Return the answer, and what turns it into lines."""
    task = benchmarked_task(values)
    if task:
        return verdicts_object(task, values, named or all_cards().values()), verdict_lines
    gpus = gpus_from(values.get("gpus"))
    job = job_to_place(values, gpus=gpus)
    if named:
        return whole_fit_object(job, named, gpus=gpus), _lines
    return fit_object(job, all_cards().values(), gpus=gpus), _lines


def _lines(content: dict[str, Any]) -> Iterable[str]:
    yield job_line(content)
    yield from assumption_lines(content)
    yield (
        f"{'card':<28}{'GPUs':>5}{'memory GB':>11}{'peak GB':>10}{'missing GB':>12}"
        f"  {'verdict':<12}shared"
    )
    for row in content["cards"]:
        missing = gb(row["missing_bytes"]) if row["missing_bytes"] else ""
        yield (
            f"{row['card']:<28}{row['gpus']:>5}{gb(row['memory_bytes']):>11}"
            f"{gb(row['peak_bytes']):>10}{missing:>12}  {row['verdict']:<12}{row['split']}"
        )
        if "backwards" in row:
            yield from _more_lines(row)
    yield f"A fit keeps a margin of {content['margin_percent']} % above the estimate."


def _more_lines(row: dict[str, Any]) -> Iterable[str]:
    if row["change"] is not None:
        change = row["change"]
        values = change["values"]
        yield (
            f"  smallest change that fits: {change['key']} from {values['before']} to "
            f"{values['after']}, which takes {gb(change['peak_bytes'])} GB"
        )
    elif row["verdict"] == "no":
        yield "  no single change makes it fit"
    for name, speed in row["speed"].items():
        words = name.replace("_", " ").replace(" per s", " per second")
        told = (
            "not known"
            if speed is None
            else f"{speed['middle']:,g} (from {speed['low']:,g} to {speed['high']:,g})"
        )
        yield f"  {words}: {told}"
    yield from _backwards_lines(row["backwards"])


def _backwards_lines(largest: dict[str, Any]) -> Iterable[str]:
    yield f"  longest text: {largest['longest_tokens']:,} tokens"
    if largest["largest_batch"] is not None:
        yield f"  largest micro-batch: {largest['largest_batch']:,}"
    if largest["most_requests"] is not None:
        yield f"  most requests at once: {largest['most_requests']:,}"
    billions = largest["largest_parameters"] / BILLION
    yield f"  largest model of a typical shape: {billions:,.1f} billion parameters"
