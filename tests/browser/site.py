"""The real site for browser tests: started once, with a small world, and stopped at the end.

Run as a program it is ``make demo`` with other data. It has a process of its own because the
supervisor allows no threads beside it, and a test runner has some.
"""

import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

import psycopg

from config.stack.children import PR_SET_PDEATHSIG
from config.stack.console import say
from config.stack.demo import ENVIRONMENT_FILE, LOCK_FILE, run_demo
from config.stack.demo_parts import DATA, DEMO, Addresses, Preparation
from config.stack.errors import StackError
from config.stack.folders import CHECKOUT
from config.stack.single_copy import current_holder
from config.stack.supervisor import Member

SMALL, FULL = "small", "full"
# Out of the way of a demo that runs on the same machine.
FIRST_PORT = "8400"
# Starting takes 20 s, 60 s beside other tests; living through the demo's three weeks some minutes.
START_SECONDS = {SMALL: 180, FULL: 900}
STOP_SECONDS = 40
POLL_SECONDS = 0.2
SHOWN_LINES = 60
# What a developer's shell may hold, and what this site must choose for itself.
NOT_INHERITED = frozenset(
    {"REDIS_URL", "PUBLIC_URL", "STRIPE_SECRET_KEY", "STRIPE_WEBHOOK_SECRET", "STRIPE_API_BASE"}
)


@dataclass(frozen=True, slots=True)
class Site:
    """A running site: where it answers, and where it writes what it says."""

    address: str
    log: Path

    def environment(self) -> dict[str, str]:
        """Return what every process of the site was given."""
        text = (self.log.parent / ENVIRONMENT_FILE).read_text(encoding="utf-8")
        return {str(name): str(value) for name, value in json.loads(text).items()}


@dataclass(frozen=True, slots=True)
class World(Preparation):
    """The small world, made by a script of the tests instead of management commands."""

    def line(self) -> list[str]:
        return [sys.executable, "-m", "tests.browser.world"]


def _members(addresses: Addresses) -> list[Member | Preparation]:
    """Return the demo's processes, with the catalogue and the small world for data."""
    catalogue = replace(DATA, commands=(("load_catalog",),))
    world = World("world", commands=())
    found: list[Member | Preparation] = []
    for part in DEMO.members(addresses):
        found += [catalogue, world] if part is DATA else [part]
    return found


@contextmanager
def running_site(*, world: str = SMALL) -> Iterator[Site]:
    """Start the site on a database of its own; everything is gone when the block ends.

    ``world`` is the small one of the tests, or the demo's with its three weeks of trade.
    """
    with _state_folder() as folder, _own_database("browser") as addresses:
        log = folder / "site.log"
        environment = _environment(folder) | addresses
        with log.open("wb") as output:
            process = subprocess.Popen(
                [sys.executable, "-m", "tests.browser.site", world],
                env=environment,
                cwd=CHECKOUT,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        try:
            yield Site(
                address=_wait_for_address(process, folder, log, START_SECONDS[world]), log=log
            )
        finally:
            process.terminate()
            process.wait(timeout=STOP_SECONDS)


def _environment(folder: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in NOT_INHERITED}
    return kept | {
        "STACK_STATE_DIR": str(folder),
        "STATIC_ROOT": str(folder / "static"),
        "WEB_PORT": FIRST_PORT,
        "LOG_LEVEL": "WARNING",
    }


def _wait_for_address(
    process: subprocess.Popen[bytes], folder: Path, log: Path, seconds: float
) -> str:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and process.poll() is None:
        holder = current_holder(folder / LOCK_FILE)
        if holder is not None and holder.address:
            return holder.address
        time.sleep(POLL_SECONDS)
    raise StackError(f"The site did not start:\n{last_lines(log)}")


def last_lines(log: Path) -> str:
    return "\n".join(log.read_text(errors="replace").splitlines()[-SHOWN_LINES:])


@contextmanager
def _state_folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="gpubourse-browser-", dir="/tmp"))
    # The broker's own account must walk through it.
    folder.chmod(0o711)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _own_database(suffix: str) -> Iterator[dict[str, str]]:
    """Create an empty database beside the given one; yield its addresses for both roles."""
    owner, app = os.environ["MIGRATE_DATABASE_URL"], os.environ["DATABASE_URL"]
    name = f"{urlsplit(owner).path.strip('/')}_{suffix}_{os.getpid()}"
    try:
        with psycopg.connect(owner, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        yield {
            "MIGRATE_DATABASE_URL": _with_database(owner, name),
            "DATABASE_URL": _with_database(app, name),
        }
    finally:
        with psycopg.connect(owner, autocommit=True) as connection:
            connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


def _with_database(url: str, name: str) -> str:
    return urlsplit(url)._replace(path=f"/{name}").geturl()


SMALL_WORLD = replace(DEMO, members=_members, announcement=None)
PARTS = {SMALL: SMALL_WORLD, FULL: replace(DEMO, announcement=None)}


def _end_with_the_tests() -> None:
    """Have the kernel stop us when the test run dies in any way."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0)


def main() -> int:
    _end_with_the_tests()
    try:
        return run_demo(parts=PARTS[sys.argv[1]])
    except StackError as error:
        say("stack", str(error))
        return 1


if __name__ == "__main__":
    sys.exit(main())
