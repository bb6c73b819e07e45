"""What ``make demo`` runs, in order: the one list to edit.

`PREPARATIONS` must succeed before anything else starts; `members` are the processes that run
together, each started when the one before is ready, with the loading of the data among them;
`ANNOUNCEMENT` speaks at the end.
"""

import http.client
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from config.stack.ports import LOOPBACK, accepts_connections
from config.stack.prepare import BETWEEN, SILENTLY
from config.stack.supervisor import Member

WEBHOOK_PATH = "/webhooks/stripe/"
WEB_WORKERS = 2
WEB_THREADS = 4
WORKER_PROCESSES = 2
WORKER_NAME = "demo@gpubourse"
QUEUES = "matching,billing,delivery,mail"
WEB_STOP_SECONDS = 5
WORKER_READY_SECONDS = 90


@dataclass(frozen=True, slots=True)
class Preparation:
    """Management commands that run one after the other, in one process.

    ``as_owner`` runs them as the role that owns the tables; ``names_shown`` writes each one's name.
    """

    name: str
    commands: tuple[tuple[str, ...], ...]
    as_owner: bool = False
    names_shown: bool = True

    def line(self) -> list[str]:
        words = [word for command in self.commands for word in (BETWEEN, *command)]
        shown = [] if self.names_shown else [SILENTLY]
        return [sys.executable, "-m", "config.stack.prepare", *shown, *words]


PREPARATIONS = (
    Preparation(
        "tables",
        (
            ("migrate", "--noinput", "--verbosity=0"),
            ("ensure_reference_rows",),
            ("grant_app_role",),
        ),
        as_owner=True,
    ),
    Preparation(
        "files",
        (
            ("build_messages",),
            ("build_css",),
            ("collectstatic", "--noinput", "--verbosity=0"),
        ),
    ),
)
# Customers pay and machines are checked while it loads, so both their servers run before it; the
# site itself does not, because the history begins in the past. A process of its own also speaks
# the languages that were just built.
DATA = Preparation(
    "data",
    (
        ("load_catalog",),
        # Does nothing when the demo's data is there already.
        ("load_demo",),
    ),
)
SHOW_CODE = Preparation("demo", (("demo_code",),), names_shown=False)
# What is printed once the page answers: the logins, and the admin's one-time code.
ANNOUNCEMENT = Preparation("demo", (("demo_logins",), ("demo_code",)), names_shown=False)


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where the demo's servers listen. ``double_port`` None: real payment keys were given."""

    web_port: int
    web_descriptors: tuple[int, ...]
    ssh_port: int
    double_port: int | None
    broker_url: str
    state_folder: str


def members(addresses: Addresses) -> list[Member | Preparation]:
    """Return the processes of the demo, in starting order, and what must be done between them."""
    port = addresses.double_port
    double = [] if port is None else [_payment_double(port, addresses)]
    return [
        *double,
        _ssh_server(addresses.ssh_port, state_folder=addresses.state_folder),
        DATA,
        _web(addresses),
        _worker(addresses.broker_url),
        _beat(addresses.state_folder),
        Member(name="seller", command=[sys.executable, "manage.py", "demo_seller"]),
    ]


def _module(name: str, *arguments: str) -> list[str]:
    return [sys.executable, "-m", name, *arguments]


def _payment_double(port: int, addresses: Addresses) -> Member:
    return Member(
        name="stripe",
        command=_module(
            "billing.gateways.stripe_double",
            f"--port={port}",
            f"--webhook-url=http://{LOOPBACK}:{addresses.web_port}{WEBHOOK_PATH}",
            f"--state={addresses.state_folder}/stripe_double.json",
        ),
        is_ready=lambda: accepts_connections(port),
    )


def _ssh_server(port: int, *, state_folder: str) -> Member:
    return Member(
        name="ssh",
        command=_module(
            "config.stack.ssh_server",
            "--port",
            str(port),
            "--host-key",
            f"{state_folder}/ssh_host_key",
        ),
        is_ready=lambda: accepts_connections(port),
    )


def _web(addresses: Addresses) -> Member:
    binds = [part for number in addresses.web_descriptors for part in ("--bind", f"fd://{number}")]
    return Member(
        name="web",
        command=_module(
            "gunicorn",
            "config.wsgi",
            "--worker-class=gthread",
            f"--workers={WEB_WORKERS}",
            f"--threads={WEB_THREADS}",
            f"--graceful-timeout={WEB_STOP_SECONDS}",
            "--no-control-socket",
            "--log-level=warning",
            *binds,
        ),
        is_ready=lambda: page_answers(addresses.web_port),
        kept_descriptors=addresses.web_descriptors,
    )


def _worker(broker_url: str) -> Member:
    return Member(
        name="worker",
        command=_module(
            "celery",
            "--quiet",
            "-A",
            "config.celery",
            "worker",
            f"--queues={QUEUES}",
            f"--concurrency={WORKER_PROCESSES}",
            f"--hostname={WORKER_NAME}",
            "--without-gossip",
            "--without-mingle",
            "--loglevel=warning",
        ),
        is_ready=lambda: worker_answers(broker_url),
        ready_seconds=WORKER_READY_SECONDS,
    )


def _beat(state_folder: str) -> Member:
    return Member(
        name="beat",
        command=_module(
            "celery",
            "--quiet",
            "-A",
            "config.celery",
            "beat",
            f"--schedule={state_folder}/celerybeat-schedule",
            "--pidfile=",
            "--loglevel=warning",
        ),
    )


def page_answers(port: int) -> bool:
    """Tell whether the web server says that it is ready for visitors."""
    connection = http.client.HTTPConnection(LOOPBACK, port, timeout=5)
    try:
        connection.request("GET", "/health/ready", headers={"Host": f"localhost:{port}"})
        return connection.getresponse().status == http.HTTPStatus.OK
    except OSError:
        return False
    except http.client.HTTPException:
        return False
    finally:
        connection.close()


def worker_answers(broker_url: str) -> bool:
    """Ask the worker through the broker whether it takes tasks."""
    # Imported late: the other commands of the stack must not pay for Celery's import.
    from celery import Celery  # noqa: PLC0415 -- see above

    with Celery("readiness", broker=broker_url, set_as_current=False) as app:
        return bool(app.control.ping(destination=[WORKER_NAME], timeout=0.5))


@dataclass(frozen=True, slots=True)
class Parts:
    """Everything that a run consists of, so that tests can run something smaller."""

    preparations: Sequence[Preparation]
    members: Callable[[Addresses], Sequence[Member | Preparation]]
    announcement: Preparation | None


DEMO = Parts(preparations=PREPARATIONS, members=members, announcement=ANNOUNCEMENT)
