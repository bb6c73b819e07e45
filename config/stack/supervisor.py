"""Keeps a table of processes running together: started in order, watched, stopped in reverse.

Contract:

- a member starts only when the one before it is ready;
- every line a member writes appears at once, with its name in front;
- when one member ends by itself, the whole is stopped with a line that says which one and how;
- a stop request is honoured within `POLL_SECONDS`; a second one kills instead of asking.
"""

import contextlib
import os
import selectors
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from config.stack.children import (
    STOP_SECONDS,
    Child,
    Launch,
    ask_to_stop,
    kill_group,
    start_child,
)
from config.stack.console import say
from config.stack.errors import StackError, StopRequested
from config.stack.guardian import Guardian

POLL_SECONDS = 0.2
READ_BYTES = 65_536
# A line longer than this is shown in pieces, so that a child cannot fill our memory.
LINE_BYTES = 65_536
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True, slots=True)
class Step:
    """A command that must succeed before the next thing happens."""

    name: str
    command: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Member:
    """A process that must run as long as the whole; ``is_ready`` is asked until it says yes."""

    name: str
    command: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict)
    is_ready: Callable[[], bool] | None = None
    ready_seconds: float = 60
    kept_descriptors: tuple[int, ...] = ()


class Supervisor:
    """Runs steps and members with one common environment, from one folder."""

    def __init__(
        self,
        *,
        environment: Mapping[str, str],
        folder: Path,
        guardian: Guardian,
        kept_descriptors: tuple[int, ...] = (),
    ) -> None:
        self.environment = dict(environment)
        self._folder = folder
        self._guardian = guardian
        self._kept_descriptors = kept_descriptors
        self._members: list[Child] = []
        self._selector = selectors.DefaultSelector()
        self._unfinished: dict[str, bytes] = {}
        self._stop_requests = 0

    @contextlib.contextmanager
    def stopping_on_signals(self) -> Iterator[None]:
        """Turn the stop signals into `StopRequested`, raised where we next wait."""
        before = {number: signal.signal(number, self._note_stop) for number in STOP_SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _note_stop(self, _number: int, _frame: FrameType | None) -> None:
        self._stop_requests += 1

    def adopt(self, child: Child) -> None:
        """Watch a child that somebody else started and will stop."""
        self._members.append(child)
        self._guardian.watch(child)

    def run_step(self, step: Step) -> None:
        """Run one command to its end; a failure is a `StackError`."""
        child = self._start(step.name, step.command, step.environment, ())
        try:
            while child.is_running():
                self.pause(POLL_SECONDS)
        except BaseException:
            self._stop(child)
            raise
        self._stop(child)
        if child.process.returncode != 0:
            raise StackError(f"The step '{step.name}' {child.how_it_ended()}.")

    def start(self, member: Member) -> None:
        """Start one member and wait until it is ready."""
        child = self._start(
            member.name, member.command, member.environment, member.kept_descriptors
        )
        self._members.append(child)
        deadline = time.monotonic() + member.ready_seconds
        while member.is_ready is not None and not member.is_ready():
            self.pause(POLL_SECONDS)
            if time.monotonic() > deadline:
                raise StackError(f"{member.name} was not ready after {member.ready_seconds:.0f} s.")

    def watch(self) -> None:
        """Show what the members write until one ends or somebody asks to stop."""
        while True:
            self.pause(POLL_SECONDS)

    def pause(self, seconds: float) -> None:
        """Wait, showing lines meanwhile; raise when a stop is asked for or a member has ended."""
        self._show_lines(seconds)
        if self._stop_requests:
            raise StopRequested
        for child in self._members:
            if not child.is_running():
                self._drain(child)
                raise StackError(f"{child.name} {child.how_it_ended()}: stopping everything.")

    def stop_all(self) -> None:
        """Stop the members that we started, the last one first."""
        started = [child for child in self._members if child.process.stdout is not None]
        for child in reversed(started):
            self._stop(child)
        self._members.clear()

    def _start(
        self,
        name: str,
        command: Sequence[str],
        extra: Mapping[str, str],
        kept_descriptors: tuple[int, ...],
    ) -> Child:
        child = start_child(
            Launch(
                name=name,
                command=command,
                environment={**self.environment, **extra},
                folder=self._folder,
                kept_descriptors=(*self._kept_descriptors, *kept_descriptors),
            )
        )
        self._guardian.watch(child)
        assert child.process.stdout is not None
        os.set_blocking(child.process.stdout.fileno(), False)
        self._selector.register(child.process.stdout, selectors.EVENT_READ, child)
        return child

    def _stop(self, child: Child) -> None:
        deadline = time.monotonic() + STOP_SECONDS
        ask_to_stop(child)
        while child.is_running() and time.monotonic() < deadline:
            self._show_lines(POLL_SECONDS)
            if self._stop_requests > 1:
                break
        kill_group(child)
        child.process.wait()
        self._guardian.forget(child)
        self._drain(child)

    def _show_lines(self, seconds: float) -> None:
        """Show lines for the whole time, so that a talkative child makes nobody hurry."""
        deadline = time.monotonic() + seconds
        while (rest := deadline - time.monotonic()) > 0:
            if not self._selector.get_map():
                time.sleep(rest)
                return
            for key, _ in self._selector.select(timeout=rest):
                child: Child = key.data
                self._read_once(child)

    def _read_once(self, child: Child) -> bool:
        """Show what is there; return False at the end of the output or when nothing is there."""
        assert child.process.stdout is not None
        try:
            content = os.read(child.process.stdout.fileno(), READ_BYTES)
        except BlockingIOError:
            return False
        if not content:
            self._forget(child)
            return False
        *lines, rest = (self._unfinished.pop(child.name, b"") + content).split(b"\n")
        if len(rest) > LINE_BYTES:
            lines, rest = [*lines, rest], b""
        self._unfinished[child.name] = rest
        for line in lines:
            say(child.name, line.decode(errors="replace").rstrip())
        return True

    def _drain(self, child: Child) -> None:
        """Show what a child that has ended still left in its pipe."""
        if child.process.stdout is None or child.process.stdout.closed:
            return
        while self._read_once(child):
            pass
        self._forget(child)

    def _forget(self, child: Child) -> None:
        assert child.process.stdout is not None
        if child.process.stdout.closed:
            return
        rest = self._unfinished.pop(child.name, b"")
        if rest:
            say(child.name, rest.decode(errors="replace").rstrip())
        self._selector.unregister(child.process.stdout)
        child.process.stdout.close()
