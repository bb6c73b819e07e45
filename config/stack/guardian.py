"""A watchful process that ends what the supervisor started, should the supervisor be killed.

The kernel's parent-death signal asks every child to stop, but a child that hangs, or that leaves
children of its own behind, would go on. The guardian reads the groups to watch from a pipe; the
pipe ends when the supervisor does, in whatever way. Then each group gets a while to stop, is
killed, and the guardian ends too. After a clean end there are no groups left to kill.
"""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import IO

from config.stack.children import STOP_SECONDS, Child
from config.stack.folders import CHECKOUT

POLL_SECONDS = 0.2


class Guardian:
    """The supervisor's end of the pipe."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream

    def watch(self, child: Child) -> None:
        self._tell(f"+{child.process.pid}\n")

    def forget(self, child: Child) -> None:
        self._tell(f"-{child.process.pid}\n")

    def _tell(self, line: str) -> None:
        # A guardian that was killed is no reason to stop what works.
        with contextlib.suppress(BrokenPipeError):
            self._stream.write(line.encode())
            self._stream.flush()


@contextlib.contextmanager
def guardian(*, kept_descriptors: tuple[int, ...]) -> Iterator[Guardian]:
    """Run a guardian beside the block; it ends with the block, or shortly after our death."""
    process = subprocess.Popen(
        [sys.executable, "-m", "config.stack.guardian"],
        stdin=subprocess.PIPE,
        cwd=CHECKOUT,
        start_new_session=True,
        pass_fds=kept_descriptors,
    )
    assert process.stdin is not None
    try:
        yield Guardian(process.stdin)
    finally:
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()
        process.wait()


def main(stream: IO[bytes]) -> None:
    groups: set[int] = set()
    for line in stream:
        (groups.add if line.startswith(b"+") else groups.discard)(int(line[1:]))
    end_groups(groups)


def end_groups(groups: set[int]) -> None:
    """Ask each group's leader to stop, wait, and kill whatever is left of the groups."""
    for group in groups:
        _signal(group, signal.SIGTERM)
    deadline = time.monotonic() + STOP_SECONDS
    while any(_is_alive(group) for group in groups) and time.monotonic() < deadline:
        time.sleep(POLL_SECONDS)
    for group in groups:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)


def _signal(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


if __name__ == "__main__":
    # Ctrl-C and a closing terminal are the supervisor's business.
    for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(ignored, signal.SIG_IGN)
    main(sys.stdin.buffer)
