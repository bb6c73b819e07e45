"""The stack's command line: ``python -m config.stack``."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from config.stack.console import say
from config.stack.errors import StackError
from config.stack.run_command import run_command


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    try:
        return run_command(command=options.command, kept_folder=options.keep_in)
    except StackError as error:
        say("stack", str(error))
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m config.stack", description=__doc__)
    actions = parser.add_subparsers(dest="action", required=True)
    run = actions.add_parser("run", help="run a command beside throw-away servers")
    run.add_argument("--keep-in", type=Path, metavar="FOLDER", help="keep the data in FOLDER")
    run.add_argument("command", nargs="+", help="the command, after --")
    return parser


if __name__ == "__main__":
    sys.exit(main())
