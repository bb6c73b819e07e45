"""Finding ports, and keeping the ones that other things remember.

The web server gets its listening sockets from here, already bound, so nobody can take the port
between the choice and the start. The demo's other servers get a number, remembered between runs:
running rentals hold the SSH server's address, and open payment pages the payment double's.
"""

import contextlib
import errno
import json
import socket
from pathlib import Path

from config.stack.errors import StackError

FIRST_WEB_PORT = 8000
LOOPBACK = "127.0.0.1"
LOOPBACK_6 = "::1"
BACKLOG = 512


def bind_web_port(*, first: int, last: int) -> list[socket.socket]:
    """Return listening sockets on the first port from ``first`` that is free on this machine.

    One socket, or two where the machine has IPv6: browsers may resolve ``localhost`` to either.
    """
    for port in range(first, last + 1):
        sockets = _bind_both(port)
        if sockets:
            return sockets
    raise StackError(f"No free port from {first} to {last}. Free one, or set WEB_PORT.")


def _bind_both(port: int) -> list[socket.socket]:
    sockets: list[socket.socket] = []
    for family, address in ((socket.AF_INET, LOOPBACK), (socket.AF_INET6, LOOPBACK_6)):
        try:
            sockets.append(_listen(family, address, port))
        except OSError as error:
            if family == socket.AF_INET6 and error.errno != errno.EADDRINUSE:
                continue
            for opened in sockets:
                opened.close()
            return []
    return sockets


def _listen(family: socket.AddressFamily, address: str, port: int) -> socket.socket:
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        listener.bind((address, port))
        listener.listen(BACKLOG)
    except OSError:
        listener.close()
        raise
    return listener


def remembered_port(*, name: str, file: Path) -> int:
    """Return the port that ``name`` had in an earlier run when it is free, else a new one."""
    ports = _read(file)
    port = ports.get(name, 0)
    if not (port and _is_free(port)):
        port = _any_free_port()
        file.write_text(json.dumps({**ports, name: port}), encoding="utf-8")
    return port


def _read(file: Path) -> dict[str, int]:
    with contextlib.suppress(OSError, ValueError):
        ports = json.loads(file.read_text(encoding="utf-8"))
        if isinstance(ports, dict):
            return {str(name): int(port) for name, port in ports.items()}
    return {}


def _is_free(port: int) -> bool:
    try:
        _listen(socket.AF_INET, LOOPBACK, port).close()
    except OSError:
        return False
    return True


def _any_free_port() -> int:
    with _listen(socket.AF_INET, LOOPBACK, 0) as listener:
        port: int = listener.getsockname()[1]
        return port


def accepts_connections(port: int) -> bool:
    """Tell whether something on this machine answers on ``port``."""
    try:
        socket.create_connection((LOOPBACK, port), timeout=1).close()
    except OSError:
        return False
    return True
