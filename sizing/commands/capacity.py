"""``capacity``: the largest base model that each card suggests."""

import argparse
from typing import TYPE_CHECKING, Final

from sizing.capacity import Capacity, indicative_capacity
from sizing.cards import UnknownCardError, all_cards, card_by_slug
from sizing.commands.answers import answer, answer_json, new_parser, refuse
from sizing.plain.answers import capacity_object, capacity_rule

if TYPE_CHECKING:
    from sizing.commands.answers import Subparsers

EXAMPLES: Final = """\
  python -m sizing capacity
  python -m sizing capacity --card rtx-4090
  python -m sizing capacity --card h100-sxm --card l40s --json
"""


def add_parser(subparsers: "Subparsers") -> None:
    parser = new_parser(
        subparsers,
        name="capacity",
        summary="largest base model a card suggests, by method",
        description="Indicative capacity of each card, in billions of parameters.",
        examples=EXAMPLES,
    )
    parser.add_argument(
        "--card",
        action="append",
        metavar="SLUG",
        help="only this card, such as rtx-4090; may be repeated",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    try:
        capacities = _chosen(options.card)
    except UnknownCardError as error:
        return refuse(_unknown_card_text(error))
    return (
        answer_json(capacity_object(capacities)) if options.json else answer(_as_text(capacities))
    )


def _chosen(slugs: list[str] | None) -> list[Capacity]:
    cards = [card_by_slug(slug) for slug in slugs] if slugs else list(all_cards().values())
    return [indicative_capacity(slug=card.slug, memory_gb=card.memory_gb) for card in cards]


def _as_text(capacities: list[Capacity]) -> str:
    lines = [f"{'card':<32}{'memory GB':>10}{'QLoRA B':>9}{'LoRA16 B':>10}{'full B':>8}"]
    lines += [
        f"{c.slug:<32}{c.memory_gb:>10}{c.qlora_b:>9}{c.lora16_b:>10}{c.full_b:>8}"
        for c in capacities
    ]
    rule = capacity_rule()
    per_parameter = rule["bytes_per_parameter"]
    lines.append(
        f"{rule['memory_share_percent']} % of memory; bytes per parameter: "
        f"QLoRA {per_parameter['qlora']}, 16-bit LoRA {per_parameter['lora16']}, "
        f"full {per_parameter['full']}; rounded {rule['rounding']}."
    )
    return "\n".join(lines) + "\n"


def _unknown_card_text(error: UnknownCardError) -> str:
    hint = f" Nearest: {', '.join(error.nearest)}." if error.nearest else ""
    return (
        f"--card: no card named {error.slug!r}.{hint} "
        "Run 'python -m sizing capacity' for the whole list."
    )
