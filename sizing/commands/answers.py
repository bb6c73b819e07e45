"""What the commands share: their parsers, their answers and their exit statuses."""

import argparse
import json
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]  # noqa: SLF001 - has no public name

EXIT_OK: Final = 0
EXIT_BAD_INPUT: Final = 2


def new_parser(
    subparsers: "Subparsers", *, name: str, summary: str, description: str, examples: str
) -> argparse.ArgumentParser:
    """Add the parser of one command, with its examples under the options and with ``--json``."""
    parser = subparsers.add_parser(
        name,
        help=summary,
        description=description,
        epilog=f"examples:\n{examples}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    return parser


def answer(text: str) -> int:
    """Write the answer and return the status of success."""
    sys.stdout.write(text)
    return EXIT_OK


def answer_json(content: Mapping[str, object]) -> int:
    """Write one JSON object and return the status of success."""
    return answer(json.dumps(content, indent=2, ensure_ascii=False) + "\n")


def refuse(problem: str) -> int:
    """Write what is wrong with the input, nothing else, and return the status of bad input."""
    sys.stderr.write(f"error: {problem}\n")
    return EXIT_BAD_INPUT
