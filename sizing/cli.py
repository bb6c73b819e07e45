"""The command line of the sizing engine: ``python -m sizing``."""

import argparse
from collections.abc import Sequence
from typing import Final

from sizing.bounds import InputError
from sizing.commands import accuracy, capacity, estimate, fit, measure, rank
from sizing.commands.answers import refuse

# In the order in which help lists them.
COMMANDS: Final = (estimate, fit, rank, capacity, accuracy, measure)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    options = _parser().parse_args(arguments)
    try:
        status: int = options.run(options)
    except InputError as error:
        return refuse(str(error))
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m sizing",
        description="What a GPU job needs, and how well the answers hold against measurements.",
        epilog="examples:\n" + "".join(command.EXAMPLES for command in COMMANDS),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    subparsers = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for command in COMMANDS:
        command.add_parser(subparsers)
    return parser
