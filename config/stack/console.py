"""One place that writes to the terminal, each line with the name of who speaks."""

import sys
from collections.abc import Iterable

TAG_COLUMNS = 9


def say(tag: str, line: str) -> None:
    """Write one tagged line at once; a terminal that went away is no reason to fail."""
    try:
        sys.stdout.write(f"{tag:<{TAG_COLUMNS}} | {line}\n")
        sys.stdout.flush()
    except (BrokenPipeError, OSError):
        # The reader left (a closed terminal, a pipe into `head`): stopping cleanly matters more.
        pass


def say_all(tag: str, lines: Iterable[str]) -> None:
    for line in lines:
        say(tag, line)
