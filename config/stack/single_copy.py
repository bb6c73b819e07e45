"""One demo per checkout, held by a lock on a file.

The children inherit the lock. So it is free only when the supervisor *and* everything it started
are gone: after a ``kill -9`` the next start waits for the last run's processes to finish.
"""

import contextlib
import fcntl
import json
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from config.stack.console import say
from config.stack.errors import StackError

# A worker's warm stop plus the database's: the longest measured was 6 s.
LEFTOVER_SECONDS = 30
POLL_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class Holder:
    """Who runs the demo: the supervisor's process id, and the page's address once known."""

    pid: int
    address: str


@contextlib.contextmanager
def only_copy(file: Path) -> Iterator[int]:
    """Hold the lock while the block runs; yield its descriptor, for children to inherit."""
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        _take(descriptor, file)
        write_holder(descriptor, Holder(pid=os.getpid(), address=""))
        yield descriptor
    finally:
        os.close(descriptor)


def write_holder(descriptor: int, holder: Holder) -> None:
    text = json.dumps({"pid": holder.pid, "address": holder.address}).encode()
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, text, 0)


def current_holder(file: Path) -> Holder | None:
    """Return who runs the demo, or None when nobody does."""
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        content = json.loads(file.read_text(encoding="utf-8"))
        holder = Holder(pid=int(content["pid"]), address=str(content["address"]))
        if _is_alive(holder.pid) and _is_locked(file):
            return holder
    return None


def _take(descriptor: int, file: Path) -> None:
    deadline = time.monotonic() + LEFTOVER_SECONDS
    told = False
    while not _try_lock(descriptor):
        holder = current_holder(file)
        if holder is not None:
            where = f" at {holder.address}" if holder.address else ""
            raise StackError(
                f"This checkout's demo is already running{where} (process {holder.pid})."
            )
        if time.monotonic() > deadline:
            raise StackError(f"Processes of an earlier run still hold {file}. End them first.")
        if not told:
            say("stack", "waiting for the last run's processes to end")
            told = True
        time.sleep(POLL_SECONDS)


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_locked(file: Path) -> bool:
    descriptor = os.open(file, os.O_RDWR | os.O_CLOEXEC)
    try:
        return not _try_lock(descriptor)
    finally:
        os.close(descriptor)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
