"""The command line of the sizing engine: ``python -m sizing``."""

import argparse
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from sizing.bounds import InputError, printable
from sizing.commands import accuracy, capacity, estimate, fit, measure, rank
from sizing.commands.answers import refuse
from sizing.nearest import nearest

if TYPE_CHECKING:
    from sizing.commands.answers import Subparsers

_OPTION: Final = re.compile(r"--[a-z][a-z-]*[a-z]")
# In the order in which help lists them.
COMMANDS: Final = (estimate, fit, rank, capacity, accuracy, measure)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    parser, commands = _parser()
    options, unknown = parser.parse_known_args(arguments)
    if unknown:
        return refuse(_unknown_text(unknown[0], commands.choices[options.command]))
    try:
        status: int = options.run(options)
    except InputError as error:
        return refuse(str(error))
    return status


def _unknown_text(given: str, command: argparse.ArgumentParser) -> str:
    known = dict.fromkeys(_OPTION.findall(command.format_help()))
    near = nearest(given.partition("=")[0], known=known)
    hint = f"did you mean {', '.join(near)}?" if near else f"see {command.prog} --help."
    return f"{printable(given)} is not known here: {hint}"


def _parser() -> "tuple[argparse.ArgumentParser, Subparsers]":
    parser = argparse.ArgumentParser(
        prog="python -m sizing",
        description="What a GPU job needs, and how well the answers hold against measurements.",
        epilog="examples:\n" + "".join(command.EXAMPLES for command in COMMANDS),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    subparsers = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for command in COMMANDS:
        command.add_parser(subparsers)
    return parser, subparsers
