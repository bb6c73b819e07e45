"""The supervisor as a person meets it: real processes, a real database and broker, real signals."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("small_demo.py")
CHECKOUT = PROGRAM.parents[2]
START_SECONDS = 60
STOP_SECONDS = 30

# Starts and stops whole servers: kept on one process, away from the rest of the load.
pytestmark = pytest.mark.xdist_group("stack")


@pytest.fixture
def state() -> Iterator[Path]:
    # A short path: sockets live below it.
    folder = Path(tempfile.mkdtemp(prefix="gb-test-", dir="/tmp"))
    folder.chmod(0o711)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


class Demo:
    """A running small demo and what it has printed."""

    def __init__(self, state: Path, *, port: int) -> None:
        environment = {
            name: value
            for name, value in os.environ.items()
            if name not in {"DATABASE_URL", "MIGRATE_DATABASE_URL", "REDIS_URL", "PUBLIC_URL"}
        }
        self.state = state
        self.output = state / "output.txt"
        with self.output.open("wb") as stream:
            self.process = subprocess.Popen(
                [sys.executable, str(PROGRAM)],
                env={
                    **environment,
                    "STACK_STATE_DIR": str(state / "s"),
                    "WEB_PORT": str(port),
                    "PYTHONPATH": str(CHECKOUT),
                },
                stdout=stream,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def text(self) -> str:
        return self.output.read_text(errors="replace")

    def wait_for(self, words: str) -> str:
        deadline = time.monotonic() + START_SECONDS
        while words not in self.text():
            assert self.process.poll() is None, self.text()
            assert time.monotonic() < deadline, self.text()
            time.sleep(0.1)
        return self.text()

    def wait_for_end(self) -> int:
        return self.process.wait(timeout=STOP_SECONDS)

    def address(self) -> str:
        match = re.search(r"The site answers at (\S+)", self.wait_for("The site answers at"))
        assert match is not None
        return match[1]

    def worker_pid(self) -> int:
        match = re.search(r"worker +\| worker (\d+)", self.wait_for("| worker "))
        assert match is not None
        return int(match[1])


@contextmanager
def running_demo(state: Path, *, port: int) -> Iterator[Demo]:
    demo = Demo(state, port=port)
    try:
        yield demo
    finally:
        if demo.process.poll() is None:
            demo.process.terminate()
            demo.process.wait(timeout=STOP_SECONDS)


@pytest.fixture
def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def processes_of(state: Path) -> list[str]:
    """Return the commands of all processes that were given this state folder."""
    mark = f"STACK_STATE_DIR={state}/s".encode()
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            command = (folder / "cmdline").read_bytes()
            if mark in (folder / "environ").read_bytes() or str(state).encode() in command:
                found.append(command.replace(b"\0", b" ").decode(errors="replace"))
        except OSError:
            continue
    return found


def wait_until_nothing_is_left(state: Path) -> None:
    deadline = time.monotonic() + STOP_SECONDS
    while processes_of(state):
        assert time.monotonic() < deadline, processes_of(state)
        time.sleep(0.1)


class TestStart:
    def test_answers_with_a_database_and_a_broker_behind_it(self, state: Path, free_port: int):
        with running_demo(state, port=free_port) as demo:
            address = demo.address()

            with urllib.request.urlopen(f"{address}/", timeout=10) as page:
                assert page.read() == b"ok"
            assert address == f"http://localhost:{free_port}"
            commands = " ".join(processes_of(state))
            assert "pgdata" in commands
            assert "valkey-server" in commands

    def test_moves_from_a_taken_port_and_says_so(self, state: Path):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            with running_demo(state, port=port) as demo:
                address = demo.address()

        assert address != f"http://localhost:{port}"
        assert f"port {port} is taken, using" in demo.text()

    def test_refuses_a_second_copy_and_names_the_first(self, state: Path, free_port: int):
        with running_demo(state, port=free_port) as first:
            address = first.address()
            (state / "second").mkdir()
            (state / "second" / "s").symlink_to(state / "s")

            with running_demo(state / "second", port=free_port) as second:
                assert second.wait_for_end() == 1

            assert f"already running at {address} (process {first.process.pid})" in second.text()
            assert first.process.poll() is None


class TestEnd:
    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
    def test_stops_everything_on_a_signal(
        self, state: Path, free_port: int, number: signal.Signals
    ):
        with running_demo(state, port=free_port) as demo:
            demo.address()

            demo.process.send_signal(number)

            assert demo.wait_for_end() == 0
            assert processes_of(state) == []
            assert demo.text().rstrip().endswith("stopped")

    def test_leaves_nothing_after_its_own_kill_and_starts_again(self, state: Path, free_port: int):
        with running_demo(state, port=free_port) as demo:
            demo.address()

            demo.process.kill()

            demo.wait_for_end()
        with running_demo(state, port=free_port) as again:
            assert again.address() == f"http://localhost:{free_port}"
        wait_until_nothing_is_left(state)

    def test_stops_everything_when_a_member_is_killed(self, state: Path, free_port: int):
        with running_demo(state, port=free_port) as demo:
            demo.address()

            os.kill(demo.worker_pid(), signal.SIGKILL)

            assert demo.wait_for_end() == 1
            assert processes_of(state) == []
            assert "worker was killed by SIGKILL: stopping everything." in demo.text()

    def test_stops_everything_when_the_database_is_killed(self, state: Path, free_port: int):
        with running_demo(state, port=free_port) as demo:
            demo.address()
            postmaster = int((state / "s" / "pgdata" / "postmaster.pid").read_text().split()[0])

            os.kill(postmaster, signal.SIGKILL)

            assert demo.wait_for_end() == 1
            wait_until_nothing_is_left(state)
            assert "postgres was killed by SIGKILL: stopping everything." in demo.text()
