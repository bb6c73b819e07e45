"""``make demo``: the whole site on this machine, from an empty state to an answering page."""

import contextlib
import json
import os
import secrets
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from config.stack.console import say
from config.stack.demo_parts import DEMO, SHOW_CODE, Addresses, Parts, Preparation
from config.stack.errors import StackError, StopRequested
from config.stack.folders import CHECKOUT, state_folder, state_folder_path
from config.stack.guardian import guardian
from config.stack.ports import FIRST_WEB_PORT, LOOPBACK, bind_web_port, remembered_port
from config.stack.servers import running_servers
from config.stack.single_copy import Holder, current_holder, only_copy, write_holder
from config.stack.ssh_keys import ensure_host_key
from config.stack.supervisor import Step, Supervisor

LOCK_FILE = "lock"
ENVIRONMENT_FILE = "environment.json"
SECRET_BYTES = 48
# As far as a person would still look for the page.
PORTS_TRIED = 100
LAST_FIRST_PORT = 65_536 - PORTS_TRIED


def run_demo(*, parts: Parts = DEMO) -> int:
    """Run ``parts`` until Ctrl-C (exit code 0) or until one of them fails (`StackError`)."""
    folder = state_folder()
    with (
        only_copy(folder / LOCK_FILE) as lock,
        guardian(kept_descriptors=(lock,)) as guard,
    ):
        supervisor = Supervisor(
            environment=base_environment(folder),
            folder=CHECKOUT,
            guardian=guard,
            kept_descriptors=(lock,),
        )
        try:
            with supervisor.stopping_on_signals():
                _run_everything(supervisor, parts=parts, folder=folder, lock=lock)
        except StopRequested:
            say("stack", "stopped")
    return 0


def _run_everything(supervisor: Supervisor, *, parts: Parts, folder: Path, lock: int) -> None:
    with (
        _web_sockets() as (web_port, descriptors),
        running_servers(
            folder=folder,
            environment=supervisor.environment,
            keeps_data=True,
            kept_descriptors=(lock,),
            pause=supervisor.pause,
        ) as (servers, server_addresses),
    ):
        for server in servers:
            supervisor.adopt(server)
        supervisor.environment.update(server_addresses)
        addresses = _choose_addresses(
            supervisor.environment, folder=folder, web_port=web_port, descriptors=descriptors
        )
        _add_addresses(supervisor.environment, addresses)
        _keep_environment(supervisor.environment, folder=folder)
        try:
            _start(supervisor, parts=parts, addresses=addresses)
            _announce(supervisor, parts=parts, lock=lock)
            supervisor.watch()
        finally:
            say("stack", "stopping")
            supervisor.stop_all()


def _start(supervisor: Supervisor, *, parts: Parts, addresses: Addresses) -> None:
    for part in (*parts.preparations, *parts.members(addresses)):
        if isinstance(part, Preparation):
            supervisor.run_step(_step(part, environment=supervisor.environment))
        else:
            say("stack", f"starting: {part.name}")
            supervisor.start(part)


def _step(preparation: Preparation, *, environment: Mapping[str, str]) -> Step:
    owner = {"DATABASE_URL": environment["MIGRATE_DATABASE_URL"]} if preparation.as_owner else {}
    return Step(name=preparation.name, command=preparation.line(), environment=owner)


def _announce(supervisor: Supervisor, *, parts: Parts, lock: int) -> None:
    address = supervisor.environment["PUBLIC_URL"]
    write_holder(lock, Holder(pid=os.getpid(), address=address))
    say("demo", "")
    if parts.announcement is not None:
        supervisor.run_step(_step(parts.announcement, environment=supervisor.environment))
    say("demo", "")
    say("demo", f"The site answers at {address}")
    say("demo", "Another one-time code: make demo-code. Start over: make demo-reset. Stop: Ctrl-C.")


@contextlib.contextmanager
def _web_sockets() -> Iterator[tuple[int, tuple[int, ...]]]:
    first = _first_web_port()
    listeners = bind_web_port(first=first, last=first + PORTS_TRIED - 1)
    try:
        port: int = listeners[0].getsockname()[1]
        if port != first:
            say("stack", f"port {first} is taken, using {port}")
        yield port, tuple(listener.fileno() for listener in listeners)
    finally:
        for listener in listeners:
            listener.close()


def _first_web_port() -> int:
    text = os.environ.get("WEB_PORT", str(FIRST_WEB_PORT))
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= LAST_FIRST_PORT:
        raise StackError(f"WEB_PORT must be a port number, not {text!r}.")
    return int(text)


def base_environment(folder: Path) -> dict[str, str]:
    """Return what every part of the demo gets; what the caller has set wins where it may."""
    environment = {
        "SECRET_KEY": _kept_secret(folder / "secret_key"),
        "ALLOWED_HOSTS": "localhost,127.0.0.1,[::1]",
        "STATIC_ROOT": str(folder / "static"),
        # Several processes serve the metrics page; they share their counts in this folder.
        "PROMETHEUS_MULTIPROC_DIR": str(_emptied(folder / "metrics")),
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "config.settings.dev",
        "PYTHONUNBUFFERED": "1",
    }
    if os.geteuid() == 0:
        # Messages are JSON, never pickles: what Celery warns root about cannot happen here.
        environment["PYTHONWARNINGS"] = "ignore:You're running the worker with superuser"
    return environment


def _emptied(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return folder


def _choose_addresses(
    environment: Mapping[str, str], *, folder: Path, web_port: int, descriptors: tuple[int, ...]
) -> Addresses:
    ports = folder / "ports.json"
    has_keys = bool(environment.get("STRIPE_SECRET_KEY"))
    return Addresses(
        web_port=web_port,
        web_descriptors=descriptors,
        ssh_port=remembered_port(name="ssh", file=ports),
        double_port=None if has_keys else remembered_port(name="stripe", file=ports),
        broker_url=environment["REDIS_URL"],
        state_folder=str(folder),
    )


def _add_addresses(environment: dict[str, str], addresses: Addresses) -> None:
    environment.setdefault("PUBLIC_URL", f"http://localhost:{addresses.web_port}")
    environment["DEMO_SSH_HOST"] = LOOPBACK
    environment["DEMO_SSH_PORT"] = str(addresses.ssh_port)
    environment["DEMO_SSH_FINGERPRINT"] = ensure_host_key(
        Path(addresses.state_folder) / "ssh_host_key"
    )
    if addresses.double_port is not None:
        double = f"http://{LOOPBACK}:{addresses.double_port}"
        environment["STRIPE_API_BASE"] = double
        environment["STRIPE_SECRET_KEY"] = "sk_test_double"  # noqa: S105 -- the double takes any
        environment["STRIPE_WEBHOOK_SECRET"] = "whsec_double"  # noqa: S105 -- shared with the double


def _kept_secret(file: Path) -> str:
    """Return the demo's own secret key, the same in every run so that sessions last."""
    if not file.exists():
        _write_private(file, secrets.token_urlsafe(SECRET_BYTES))
    return file.read_text(encoding="utf-8")


def _keep_environment(environment: Mapping[str, str], *, folder: Path) -> None:
    """Note the environment, for commands that are run beside the demo."""
    _write_private(folder / ENVIRONMENT_FILE, json.dumps(dict(environment)))


def _write_private(file: Path, content: str) -> None:
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
        stream.write(content)


def run_beside_demo(command: Sequence[str]) -> int:
    """Run a command in the environment of the running demo; return its exit code."""
    folder = state_folder()
    if current_holder(folder / LOCK_FILE) is None:
        raise StackError("The demo is not running. Start it with `make demo`.")
    environment = json.loads((folder / ENVIRONMENT_FILE).read_text(encoding="utf-8"))
    done = subprocess.run(list(command), env=environment, cwd=CHECKOUT, check=False)
    return done.returncode if done.returncode >= 0 else 128 - done.returncode


def show_code() -> int:
    return run_beside_demo(SHOW_CODE.line())


def reset_demo() -> int:
    """Remove everything the demo keeps; a database or broker of your own is left alone."""
    folder = state_folder_path()
    if not folder.exists():
        say("stack", "there is nothing to reset")
        return 0
    with only_copy(state_folder() / LOCK_FILE):
        shutil.rmtree(folder)
    say("stack", f"removed {folder}")
    return 0
