"""The command line of the sizing rules: ``python -m sizing``."""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from sizing.capacity import (
    BYTES_TENTHS_PER_PARAMETER,
    COARSE_FROM_B,
    COARSE_STEP_B,
    MEMORY_SHARE_PERCENT,
    Capacity,
    indicative_capacity,
)
from sizing.cards import UnknownCardError, all_cards, card_by_slug

EXIT_OK = 0
EXIT_BAD_INPUT = 2

EXAMPLES = """\
examples:
  python -m sizing capacity
  python -m sizing capacity --card rtx-4090
  python -m sizing capacity --card h100-sxm --card l40s --json
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    options = _parser().parse_args(arguments)
    try:
        capacities = _chosen(options.card)
    except UnknownCardError as error:
        sys.stderr.write(_unknown_card_text(error))
        return EXIT_BAD_INPUT
    sys.stdout.write(_as_json(capacities) if options.json else _as_text(capacities))
    return EXIT_OK


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m sizing",
        description="Sizing rules for GPU memory.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    capacity = commands.add_parser(
        "capacity",
        help="largest base model a card suggests, by method",
        description="Indicative capacity of each card, in billions of parameters.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    capacity.add_argument(
        "--card",
        action="append",
        metavar="SLUG",
        help="only this card, such as rtx-4090; may be repeated",
    )
    capacity.add_argument("--json", action="store_true", help="print one JSON object")
    return parser


def _chosen(slugs: list[str] | None) -> list[Capacity]:
    cards = [card_by_slug(slug) for slug in slugs] if slugs else list(all_cards().values())
    return [indicative_capacity(slug=card.slug, memory_gb=card.memory_gb) for card in cards]


def _rule() -> dict[str, Any]:
    return {
        "memory_share_percent": MEMORY_SHARE_PERCENT,
        "bytes_per_parameter": {
            method.value: tenths / 10 for method, tenths in BYTES_TENTHS_PER_PARAMETER.items()
        },
        "rounding": (
            f"down to a whole number below {COARSE_FROM_B}, "
            f"to a multiple of {COARSE_STEP_B} from {COARSE_FROM_B} up"
        ),
        "unit": "billions of parameters",
    }


def _as_json(capacities: list[Capacity]) -> str:
    answer = {"rule": _rule(), "cards": [asdict(capacity) for capacity in capacities]}
    return json.dumps(answer, indent=2) + "\n"


def _as_text(capacities: list[Capacity]) -> str:
    lines = [f"{'card':<32}{'memory GB':>10}{'QLoRA B':>9}{'LoRA16 B':>10}{'full B':>8}"]
    lines += [
        f"{c.slug:<32}{c.memory_gb:>10}{c.qlora_b:>9}{c.lora16_b:>10}{c.full_b:>8}"
        for c in capacities
    ]
    rule = _rule()
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
        f"error: --card: no card named {error.slug!r}.{hint} "
        "Run 'python -m sizing capacity' for the whole list.\n"
    )
