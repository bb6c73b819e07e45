"""The stack's command line: ``python -m config.stack``."""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from config.stack import demo
from config.stack.console import say
from config.stack.errors import StackError
from config.stack.run_command import run_command

ACTIONS: dict[str, Callable[[argparse.Namespace], int]] = {
    "run": lambda options: run_command(
        command=options.command, kept_folder=options.keep_in, writes_safely=options.safe
    ),
    "demo": lambda _: demo.run_demo(),
    "demo-code": lambda _: demo.show_code(),
    "demo-reset": lambda _: demo.reset_demo(),
    "in-demo": lambda options: demo.run_beside_demo(options.command),
}


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    try:
        return ACTIONS[options.action](options)
    except StackError as error:
        say("stack", str(error))
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m config.stack", description=__doc__)
    actions = parser.add_subparsers(dest="action", required=True)
    run = actions.add_parser("run", help="run a command beside throw-away servers")
    run.add_argument("--keep-in", type=Path, metavar="FOLDER", help="keep the data in FOLDER")
    run.add_argument("--safe", action="store_true", help="write to disk as a real server does")
    run.add_argument("command", nargs="+", help="the command, after --")
    actions.add_parser("demo", help="run the whole site until Ctrl-C")
    actions.add_parser("demo-code", help="print the admin's current one-time code")
    actions.add_parser("demo-reset", help="remove everything the demo keeps")
    beside = actions.add_parser("in-demo", help="run a command beside the running demo")
    beside.add_argument("command", nargs="+", help="the command, after --")
    return parser


if __name__ == "__main__":
    sys.exit(main())
