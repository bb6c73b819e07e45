"""Starting and stopping child processes so that none is ever left behind.

Contract:

- every child leads a session of its own, so Ctrl-C in the terminal reaches the supervisor alone;
- on Linux, the kernel sends a child its stop signal when the supervisor dies in any way,
  ``kill -9`` included; elsewhere only the orderly end is covered;
- a child is stopped by its own signal, then after a wait by SIGKILL to its whole group.

The supervisor has no threads: the parent-death signal follows the *thread* that started the
child, and running Python between fork and exec is safe only in a process with one thread.
"""

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from config.stack.accounts import Account

# Celery's warm stop takes 2.5 to 5 s, PostgreSQL's fast stop well under one.
STOP_SECONDS = 15
PR_SET_PDEATHSIG = 1


@dataclass(frozen=True, slots=True)
class Launch:
    """How one child is started.

    ``stop_signal`` is what asks it to end; PostgreSQL wants SIGINT (fast), the rest SIGTERM.
    ``output`` None lets the supervisor read it line by line; a file takes it unread.
    """

    name: str
    command: Sequence[str]
    environment: Mapping[str, str]
    folder: Path
    account: Account | None = None
    stop_signal: signal.Signals = signal.SIGTERM
    output: IO[bytes] | None = None
    kept_descriptors: tuple[int, ...] = field(default=())


@dataclass(slots=True)
class Child:
    """A started child, always the leader of its own session."""

    name: str
    process: subprocess.Popen[bytes]
    stop_signal: signal.Signals

    def is_running(self) -> bool:
        return self.process.poll() is None

    def how_it_ended(self) -> str:
        code = self.process.returncode
        if code is not None and code < 0:
            return f"was killed by {signal.Signals(-code).name}"
        return f"ended with exit code {code}"


def start_child(launch: Launch) -> Child:
    """Start ``launch`` in a session of its own and return the running child."""
    account = launch.account
    process = subprocess.Popen(
        list(launch.command),
        env=dict(launch.environment),
        cwd=launch.folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE if launch.output is None else launch.output,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        pass_fds=launch.kept_descriptors,
        preexec_fn=end_with_parent(launch.stop_signal),  # noqa: PLW1509 -- one thread, see header
        user=None if account is None else account.uid,
        group=None if account is None else account.gid,
        extra_groups=None if account is None else [],
    )
    return Child(name=launch.name, process=process, stop_signal=launch.stop_signal)


def end_with_parent(stop_signal: signal.Signals) -> Callable[[], None] | None:
    """Return what a child must run before its program so that it dies with the supervisor.

    It runs after the change of account, which would clear the setting.
    """
    if sys.platform != "linux":
        return None
    libc = ctypes.CDLL(None, use_errno=True)
    parent = os.getpid()

    def ask_the_kernel() -> None:
        libc.prctl(PR_SET_PDEATHSIG, int(stop_signal), 0, 0, 0)
        if os.getppid() != parent:
            # The supervisor died between fork and here: the signal will never come.
            os._exit(1)

    return ask_the_kernel


def ask_to_stop(child: Child) -> None:
    if child.is_running():
        with contextlib.suppress(ProcessLookupError):
            child.process.send_signal(child.stop_signal)


def kill_group(child: Child) -> None:
    """Kill whatever is left of the child's group, also after its leader has ended."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.process.pid, signal.SIGKILL)


def stop_child(child: Child, *, wait_seconds: float = STOP_SECONDS) -> None:
    """Ask, wait, then kill; returns when the child and its group are gone."""
    ask_to_stop(child)
    with contextlib.suppress(subprocess.TimeoutExpired):
        child.process.wait(timeout=wait_seconds)
    kill_group(child)
    child.process.wait()
