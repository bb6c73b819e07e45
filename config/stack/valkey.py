"""An embedded Valkey on a Unix socket: the broker and the cache of a machine without one."""

import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from config.stack.accounts import Account, make_private_folder
from config.stack.binaries import valkey_program
from config.stack.children import Child, Launch, start_child, stop_child
from config.stack.errors import StackError
from config.stack.folders import check_socket_path

START_SECONDS = 30
POLL_SECONDS = 0.05
SERVER_ENVIRONMENT = {"LC_ALL": "C.UTF-8", "TZ": "UTC", "PATH": "/usr/bin:/bin"}


@dataclass(frozen=True, slots=True)
class Broker:
    """A broker's folder; ``keeps_data`` False writes nothing to disk, for tests."""

    folder: Path
    keeps_data: bool
    account: Account | None

    @property
    def home(self) -> Path:
        return self.folder / "valkey"

    @property
    def socket(self) -> Path:
        return self.home / "valkey.sock"

    @property
    def log(self) -> Path:
        return self.folder / "valkey.log"

    def url(self) -> str:
        return f"redis+socket://{self.socket}"


def start_broker(
    broker: Broker,
    *,
    kept_descriptors: tuple[int, ...] = (),
    pause: Callable[[float], None] = time.sleep,
) -> Child:
    """Start the broker and return once it answers; ``pause`` may raise to give up."""
    program = valkey_program(account=broker.account)
    make_private_folder(broker.home, owner=broker.account)
    check_socket_path(broker.socket)
    # A socket left by a killed server would look like an answer that never comes.
    broker.socket.unlink(missing_ok=True)
    with broker.log.open("ab") as log:
        child = start_child(
            Launch(
                name="valkey",
                command=_server_command(broker, program=program),
                environment=SERVER_ENVIRONMENT,
                folder=broker.folder,
                account=broker.account,
                output=log,
                kept_descriptors=kept_descriptors,
            )
        )
    try:
        _wait_for_answer(broker, child=child, pause=pause)
    except BaseException:
        stop_child(child)
        raise
    return child


def _server_command(broker: Broker, *, program: Path) -> list[str]:
    return [
        str(program),
        *("--port", "0"),
        *("--unixsocket", str(broker.socket), "--unixsocketperm", "700"),
        *("--dir", str(broker.home)),
        *("--save", ""),
        *("--appendonly", "yes" if broker.keeps_data else "no"),
        # A full broker must refuse, never forget a message in silence.
        *("--maxmemory-policy", "noeviction"),
        *("--loglevel", "warning"),
    ]


def _wait_for_answer(broker: Broker, *, child: Child, pause: Callable[[float], None]) -> None:
    deadline = time.monotonic() + START_SECONDS
    while not _answers(broker.socket):
        if not child.is_running():
            words = broker.log.read_text(errors="replace").splitlines()[-3:]
            raise StackError(f"Valkey {child.how_it_ended()}. {' / '.join(words)}")
        if time.monotonic() > deadline:
            raise StackError(f"Valkey did not answer in {START_SECONDS} s.")
        pause(POLL_SECONDS)


def _answers(path: Path) -> bool:
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
            client.settimeout(2)
            client.connect(str(path))
            client.sendall(b"PING\r\n")
            return client.recv(64).startswith(b"+PONG")
    except OSError:
        return False
