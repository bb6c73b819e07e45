"""``rank``: every card and number of cards for a job, the cheapest that fits first."""

import argparse
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from sizing.cards import all_cards
from sizing.commands.answers import answer, answer_json, new_parser
from sizing.commands.benchmarked import cost_lines
from sizing.commands.estimate import assumption_lines, gb, job_line
from sizing.commands.job_options import add_job_options, job_texts_of, read_file
from sizing.plain.answers import ranked_object
from sizing.plain.benchmarked import BenchmarkedTask, benchmarked_task, costs_object
from sizing.plain.jobs import work_tokens_from
from sizing.plain.places import cards_from, counts_from, job_to_place, prices_from, prices_of_file
from sizing.plain.values import read_whole
from sizing.planning.ranking import rank
from sizing.planning.work import Work

if TYPE_CHECKING:
    from sizing.commands.answers import Subparsers

EXAMPLES: Final = """\
  python -m sizing rank --model llama-3.1-8b --method qlora --price rtx-4090=0.33 --price l40s=0.79
  python -m sizing rank --model qwen3-32b --method lora --training-tokens 50000000 --prices my.csv
  python -m sizing rank --task serving --model llama-3.1-70b --gpus 4,8 --price h100-sxmx8=2.80
  python -m sizing rank --task scientific --precision fp64 --price mi300x=2.29 --top 5
"""
MOST_PRICES_BYTES: Final = 1_000_000
USUAL_TOP: Final = 20


def add_parser(subparsers: "Subparsers") -> None:
    parser = new_parser(
        subparsers,
        name="rank",
        summary="cards and numbers of cards for a job, the cheapest first",
        description=(
            "Every card with 1, 2, 4 and 8 in one server: what fits first, by the cost of the "
            "work, or by the hour where no work is told. Only prices that you give are used."
        ),
        examples=EXAMPLES,
    )
    parser.add_argument(
        "--card", action="append", metavar="SLUG", help="only this card; may be repeated"
    )
    parser.add_argument("--gpus", metavar="N,N", help="only these numbers of cards: 1, 2, 4, 8")
    parser.add_argument(
        "--price",
        action="append",
        metavar="SLUG=PRICE",
        default=[],
        help="price per GPU and hour, as rtx-4090=0.33; for 8 in one server rtx-4090x8=0.30",
    )
    parser.add_argument(
        "--prices", metavar="FILE.csv", help="prices as a table: columns slug, gpus, price"
    )
    parser.add_argument(
        "--top", metavar="N", help=f"only the first rows; {USUAL_TOP} without --json"
    )
    add_job_options(parser, without=("gpus",))
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    wanted = None if options.top is None else read_whole("top", options.top)
    values = job_texts_of(options)
    task = benchmarked_task(values)
    if task:
        return _run_benchmarked(task, values, options, top=wanted)
    tokens = work_tokens_from(values)
    job = job_to_place(values)
    rows = rank(
        job,
        cards=cards_from(options.card) or tuple(all_cards().values()),
        prices=_prices(options),
        work=None if tokens is None else Work(tokens),
        counts=counts_from(options.gpus),
    )
    top = wanted or (len(rows) if options.json else USUAL_TOP)
    content = ranked_object(rows[:top], job=job)
    if options.json:
        return answer_json(content)
    return answer("\n".join(_lines(content, more=len(rows) - top)) + "\n")


def _run_benchmarked(
    task: BenchmarkedTask,
    values: dict[str, object],
    options: argparse.Namespace,
    *,
    top: int | None,
) -> int:
    cards = cards_from(options.card) or tuple(all_cards().values())
    shown = top or (len(cards) if options.json else USUAL_TOP)
    content = costs_object(task, values, cards, prices=_prices(options), top=shown)
    if options.json:
        return answer_json(content)
    return answer("\n".join(cost_lines(content)) + "\n")


def _prices(options: argparse.Namespace) -> dict[tuple[str, int], int]:
    prices = {}
    if options.prices is not None:
        content = read_file("prices", options.prices, most_bytes=MOST_PRICES_BYTES)
        prices = prices_of_file(content[:MOST_PRICES_BYTES])
    return prices | prices_from(options.price)


def _lines(content: dict[str, Any], *, more: int) -> Iterable[str]:
    yield job_line(content)
    yield from assumption_lines(content)
    yield (
        f"{'card':<28}{'GPUs':>5}{'peak GB':>9}  {'verdict':<12}{'per hour':>10}{'hours':>9}"
        f"{'total':>11}  reasons"
    )
    for row in content["rows"]:
        hours = "" if row["hours"] is None else f"{row['hours']['middle']:,.4g}"
        total = "" if row["total"] is None else row["total"]["middle"]
        yield (
            f"{row['card']:<28}{row['gpus']:>5}{gb(row['peak_bytes']):>9}  {row['verdict']:<12}"
            f"{row['price_per_hour'] or '-':>10}{hours:>9}{total:>11}"
            f"  {', '.join(each.replace('_', ' ') for each in row['reasons'])}"
        )
    if more > 0:
        yield f"And {more} more; --top {more + len(content['rows'])} shows all."
