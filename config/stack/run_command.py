"""``run -- COMMAND``: give a command throw-away servers, and its exit code to the caller."""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import FrameType

from config.stack.children import Child, end_with_parent
from config.stack.console import say
from config.stack.servers import running_servers
from config.stack.throwaway import throwaway_folder

NOT_FOUND_EXIT = 127


def run_command(
    *, command: Sequence[str], kept_folder: Path | None = None, writes_safely: bool = False
) -> int:
    """Run ``command`` beside an embedded database and broker; return its exit code.

    The data lasts as long as the command, unless ``kept_folder`` names a folder to keep it in.
    Without ``writes_safely`` the servers trade the safety of that data for speed.
    """
    with (
        _folder(kept_folder) as (folder, descriptors),
        running_servers(
            folder=folder,
            environment=os.environ,
            keeps_data=writes_safely,
            kept_descriptors=descriptors,
        ) as (children, addresses),
    ):
        code = _run(command, environment={**os.environ, **addresses})
        _report_dead_servers(children)
        return code


@contextlib.contextmanager
def _folder(kept: Path | None) -> Iterator[tuple[Path, tuple[int, ...]]]:
    """Yield the folder, and the descriptors that its servers must inherit."""
    if kept is None:
        with throwaway_folder() as (folder, lock):
            yield folder, (lock,)
        return
    kept.mkdir(parents=True, exist_ok=True)
    kept.chmod(0o711)
    yield kept, ()


def _run(command: Sequence[str], *, environment: Mapping[str, str]) -> int:
    """Run in our own process group, so that Ctrl-C reaches the command as it would alone."""
    with _signals_held() as forward_to:
        try:
            process = subprocess.Popen(
                list(command),
                env=dict(environment),
                preexec_fn=end_with_parent(signal.SIGTERM),  # noqa: PLW1509 -- we have one thread
            )
        except (FileNotFoundError, PermissionError) as error:
            say("stack", f"cannot run {command[0]}: {error.strerror}")
            return NOT_FOUND_EXIT
        forward_to.append(process)
        code = process.wait()
    return code if code >= 0 else 128 - code


@contextlib.contextmanager
def _signals_held() -> Iterator[list[subprocess.Popen[bytes]]]:
    """While the command runs: leave Ctrl-C to it, and pass a termination on to it."""
    processes: list[subprocess.Popen[bytes]] = []

    def pass_on(number: int, _frame: FrameType | None) -> None:
        if not processes:
            sys.exit(128 + number)
        processes[0].send_signal(number)

    def leave_to_command(number: int, _frame: FrameType | None) -> None:
        if not processes:
            sys.exit(128 + number)

    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    signal.signal(signal.SIGINT, leave_to_command)
    signal.signal(signal.SIGTERM, pass_on)
    try:
        yield processes
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _report_dead_servers(children: Sequence[Child]) -> None:
    for child in children:
        if not child.is_running():
            say("stack", f"{child.name} {child.how_it_ended()} while the command was running")
