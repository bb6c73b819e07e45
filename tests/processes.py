"""Real threads and processes for tests: start them together, stop one in the middle, kill it."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Barrier
from urllib.parse import urlsplit, urlunsplit

from django.db import connection, connections

PAUSE_LOCK = 4_242
WAIT_SECONDS = 60


def at_once(acts: Sequence[Callable[[], object]]) -> list[object]:
    """Run the acts in threads that start together; return answers or exceptions in their order."""
    barrier = Barrier(len(acts))

    def run(act: Callable[[], object]) -> object:
        try:
            barrier.wait(WAIT_SECONDS)
            return act()
        except Exception as error:
            return error
        finally:
            connections.close_all()

    with ThreadPoolExecutor(max_workers=len(acts)) as pool:
        return list(pool.map(run, acts))


@contextmanager
def pausing_inserts(table: str) -> Iterator[None]:
    """Make everybody else's inserts into a table wait until the block ends."""
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE FUNCTION test_pause() RETURNS trigger LANGUAGE plpgsql AS $$"
            f" BEGIN PERFORM pg_advisory_xact_lock({PAUSE_LOCK}); RETURN NULL; END $$"
        )
        cursor.execute(
            f"CREATE TRIGGER test_pause AFTER INSERT ON {table}"
            " FOR EACH STATEMENT EXECUTE FUNCTION test_pause()"
        )
        cursor.execute(f"SELECT pg_advisory_lock({PAUSE_LOCK})")
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT pg_advisory_unlock({PAUSE_LOCK})")
            cursor.execute(f"DROP TRIGGER test_pause ON {table}")
            cursor.execute("DROP FUNCTION test_pause()")


def kill_while_paused(code: str) -> None:
    """Run Python code on the test database until it waits at the pause, then kill it with -9."""
    process = subprocess.Popen(
        [sys.executable, "-c", f"import django; django.setup()\n{code}"],
        env=os.environ | {"MIGRATE_DATABASE_URL": _test_database_url()},
    )
    try:
        _wait_for_pause(process)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait(WAIT_SECONDS)


def _test_database_url() -> str:
    parts = urlsplit(os.environ["MIGRATE_DATABASE_URL"])
    return urlunsplit(parts._replace(path=f"/{connection.settings_dict['NAME']}"))


def _wait_for_pause(process: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < deadline:
        assert process.poll() is None, "the process ended before it came to the pause"
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT count(*) FROM pg_locks"
                " WHERE locktype = 'advisory' AND objid = %s AND NOT granted",
                [PAUSE_LOCK],
            )
            if cursor.fetchone() == (1,):
                return
        time.sleep(0.05)
    raise AssertionError("the process never came to the pause")
