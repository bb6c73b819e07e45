"""An embedded PostgreSQL cluster on a Unix socket.

The cluster has two roles: ``market_owner`` owns the database and migrates it (a superuser here,
because tests reset append-only tables under ``session_replication_role`` and create databases);
``market_app`` is what the site runs as, and owns nothing. A production cluster gives the owner
no superuser rights: see ``docs/operations/running.md``.
"""

import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import psycopg

from config.stack.accounts import Account, make_private_folder
from config.stack.binaries import postgres_folder
from config.stack.children import Child, Launch, start_child, stop_child
from config.stack.errors import StackError
from config.stack.folders import check_socket_path

OWNER_ROLE = "market_owner"
APP_ROLE = "market_app"
DATABASE = "market"
PORT = 5432
START_SECONDS = 60
POLL_SECONDS = 0.05
# Sixteen web threads, two workers, and every parallel test database's connections.
MAX_CONNECTIONS = 200
# The order of text must be the same on every machine: no library of the system, no ICU.
INITDB_OPTIONS = (
    "--encoding=UTF8",
    "--locale=C",
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
    "--auth=trust",
    "--no-instructions",
)
FAST_AND_LOSSY = ("fsync=off", "synchronous_commit=off", "full_page_writes=off")
SERVER_ENVIRONMENT = {"LC_ALL": "C.UTF-8", "TZ": "UTC", "PATH": "/usr/bin:/bin"}


@dataclass(frozen=True, slots=True)
class Cluster:
    """A cluster's folder; ``keeps_data`` False trades safety for speed, for tests."""

    folder: Path
    keeps_data: bool
    account: Account | None

    @property
    def data(self) -> Path:
        return self.folder / "pgdata"

    @property
    def sockets(self) -> Path:
        return self.folder / "pg"

    def url(self, *, role: str, database: str = DATABASE) -> str:
        return f"postgresql://{role}@/{database}?host={self.sockets}"


def start_cluster(
    cluster: Cluster,
    *,
    kept_descriptors: tuple[int, ...] = (),
    pause: Callable[[float], None] = time.sleep,
) -> Child:
    """Create the cluster when it is new, start it, and return once it takes connections.

    ``pause`` waits for some seconds between two looks; it may raise to give up.
    """
    programs = postgres_folder(account=cluster.account)
    make_private_folder(cluster.sockets, owner=cluster.account)
    check_socket_path(cluster.sockets / f".s.PGSQL.{PORT}.lock")
    if not (cluster.data / "PG_VERSION").exists():
        _create(cluster, programs=programs)
    with log_path(cluster).open("ab") as log:
        child = start_child(
            Launch(
                name="postgres",
                command=_server_command(cluster, programs=programs),
                environment=SERVER_ENVIRONMENT,
                folder=cluster.folder,
                account=cluster.account,
                stop_signal=signal.SIGINT,
                output=log,
                kept_descriptors=kept_descriptors,
            )
        )
    try:
        _wait_for_connections(cluster, child=child, pause=pause)
        _ensure_roles(cluster)
    except BaseException:
        stop_child(child)
        raise
    return child


def log_path(cluster: Cluster) -> Path:
    return cluster.folder / "postgres.log"


def _create(cluster: Cluster, *, programs: Path) -> None:
    make_private_folder(cluster.data, owner=cluster.account)
    sync = () if cluster.keeps_data else ("--no-sync",)
    account = cluster.account
    done = subprocess.run(
        [
            str(programs / "initdb"),
            *INITDB_OPTIONS,
            *sync,
            f"--username={OWNER_ROLE}",
            f"--pgdata={cluster.data}",
        ],
        env=SERVER_ENVIRONMENT,
        cwd=cluster.folder,
        capture_output=True,
        text=True,
        check=False,
        user=None if account is None else account.uid,
        group=None if account is None else account.gid,
        extra_groups=None if account is None else [],
    )
    if done.returncode != 0:
        raise StackError(f"PostgreSQL could not create its data folder: {done.stderr.strip()}")


def _server_command(cluster: Cluster, *, programs: Path) -> list[str]:
    settings = [
        f"unix_socket_directories={cluster.sockets}",
        "listen_addresses=",
        f"max_connections={MAX_CONNECTIONS}",
        "timezone=UTC",
        "log_timezone=UTC",
        "log_min_messages=warning",
        *(() if cluster.keeps_data else FAST_AND_LOSSY),
    ]
    options = [part for setting in settings for part in ("-c", setting)]
    return [str(programs / "postgres"), "-D", str(cluster.data), *options]


def _wait_for_connections(
    cluster: Cluster, *, child: Child, pause: Callable[[float], None]
) -> None:
    deadline = time.monotonic() + START_SECONDS
    url = cluster.url(role=OWNER_ROLE, database="postgres")
    while True:
        try:
            psycopg.connect(url, connect_timeout=5).close()
        except psycopg.OperationalError as error:
            if not child.is_running():
                raise StackError(
                    f"PostgreSQL {child.how_it_ended()}. {_last_words(cluster)}"
                ) from None
            if time.monotonic() > deadline:
                raise StackError(
                    f"PostgreSQL did not answer in {START_SECONDS} s: {error}"
                ) from error
            pause(POLL_SECONDS)
        else:
            return


def _last_words(cluster: Cluster) -> str:
    lines = log_path(cluster).read_text(errors="replace").splitlines()
    return " / ".join(lines[-5:])


def _ensure_roles(cluster: Cluster) -> None:
    url = cluster.url(role=OWNER_ROLE, database="postgres")
    with psycopg.connect(url, autocommit=True) as connection:
        if not _exists(connection, "SELECT 1 FROM pg_roles WHERE rolname = %s", APP_ROLE):
            connection.execute(f"CREATE ROLE {APP_ROLE} LOGIN")
        if not _exists(connection, "SELECT 1 FROM pg_database WHERE datname = %s", DATABASE):
            connection.execute(f"CREATE DATABASE {DATABASE} OWNER {OWNER_ROLE}")


def _exists(connection: psycopg.Connection, query: str, name: str) -> bool:
    return connection.execute(query, [name]).fetchone() is not None
