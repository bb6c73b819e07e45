"""Run several management commands in one process: ``python -m config.stack.prepare A -- B …``.

Loading the site takes longer than most of the commands: one process for all of them saves seconds
of every start. Each command's name is written before it runs, unless the first word is
``--silently``.
"""

import sys
from collections.abc import Iterator, Sequence

BETWEEN = "--"
SILENTLY = "--silently"


def main(words: Sequence[str]) -> int:
    # Imported late: whoever only needs the words above must not pay for Django's import.
    import django  # noqa: PLC0415 -- see above
    from django.core.management import CommandError, call_command  # noqa: PLC0415 -- see above

    django.setup()
    silently = words[:1] == [SILENTLY]
    for name, *options in split_commands(words[1:] if silently else words):
        if not silently:
            write(name)
        try:
            call_command(name, *options)
        except CommandError as error:
            write(f"{name} failed: {error}")
            return 1
    return 0


def write(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def split_commands(words: Sequence[str]) -> Iterator[list[str]]:
    """Yield each command's words; an empty command is left out."""
    command: list[str] = []
    for word in [*words, BETWEEN]:
        if word != BETWEEN:
            command.append(word)
        elif command:
            yield command
            command = []


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
