"""The demo's rented machine: an SSH server on this machine that lets the right customers in.

It accepts a public key while a rental delivered to this address is open and belongs to that key,
as a real seller's machine would. Behind the door there is no shell: a few words are answered with
printed text, nothing is run, no port or file is passed through.
"""

import argparse
import asyncio
import logging
import signal
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import asyncssh

from config.stack.console import say
from config.stack.ports import LOOPBACK

LOGIN_SECONDS = 20
# A visitor's terminal that went away is noticed after three silent minutes.
KEEPALIVE_SECONDS = 60
# A typed line; nothing that we answer needs more.
LINE_BYTES = 4_096
NOT_FOUND_EXIT = 127
GUEST = "guest"


@dataclass(frozen=True, slots=True)
class Guest:
    """A customer with an open rental here: what the machine shows them."""

    card: str
    gpus: int
    memory_gb: int


FindGuest = Callable[[str], Awaitable[Guest | None]]


class Door(asyncssh.SSHServer):
    """Asks for a public key, and for nothing else."""

    def __init__(self, find_guest: FindGuest) -> None:
        self._find_guest = find_guest
        self._connection: asyncssh.SSHServerConnection | None = None

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        self._connection = conn

    def begin_auth(self, username: str) -> bool:
        return True

    def public_key_auth_supported(self) -> bool:
        return True

    async def validate_public_key(self, username: str, key: asyncssh.SSHKey) -> bool:
        guest = await self._find_guest(key.get_fingerprint())
        if guest is None or self._connection is None:
            return False
        self._connection.set_extra_info(**{GUEST: guest})
        return True


async def serve(*, port: int, host_key: Path, find_guest: FindGuest) -> asyncssh.SSHAcceptor:
    """Listen on this machine's ``port``."""
    return await asyncssh.listen(
        LOOPBACK,
        port,
        server_factory=lambda: Door(find_guest),
        server_host_keys=[str(host_key)],
        process_factory=talk,
        login_timeout=LOGIN_SECONDS,
        keepalive_interval=KEEPALIVE_SECONDS,
        agent_forwarding=False,
        x11_forwarding=False,
        server_version="gpubourse_demo",
    )


async def talk(process: asyncssh.SSHServerProcess[str]) -> None:
    """Answer one command, or a conversation until ``exit``."""
    guest: Guest = process.get_extra_info(GUEST)
    try:
        if process.command is not None:
            text, code = answer(process.command.strip(), guest=guest)
            process.stdout.write(text)
            process.exit(code)
            return
        process.stdout.write(banner(guest))
        await _converse(process, guest)
        process.exit(0)
    except (asyncssh.BreakReceived, asyncssh.TerminalSizeChanged, BrokenPipeError):
        process.exit(0)


async def _converse(process: asyncssh.SSHServerProcess[str], guest: Guest) -> None:
    while True:
        process.stdout.write("$ ")
        line = (await process.stdin.readline())[:LINE_BYTES]
        if not line or line.strip() in {"exit", "logout"}:
            return
        text, _ = answer(line.strip(), guest=guest)
        process.stdout.write(text)


def banner(guest: Guest) -> str:
    cards = "card" if guest.gpus == 1 else "cards"
    return (
        f"Demo machine with {guest.gpus} {guest.card} {cards}.\n"
        "Nothing here is real: try nvidia-smi, hostname, whoami, help, exit.\n"
    )


def answer(line: str, *, guest: Guest) -> tuple[str, int]:
    """Return the text for one typed line, and its exit code."""
    word = line.split(maxsplit=1)[0] if line.split() else ""
    answers: dict[str, Callable[[], str]] = {
        "": str,
        "nvidia-smi": lambda: gpu_table(guest),
        "hostname": lambda: "demo-machine\n",
        "whoami": lambda: "guest\n",
        "help": lambda: banner(guest),
        "exit": str,
        "true": str,
    }
    if word in answers:
        return answers[word](), 0
    return f"{word}: command not found\n", NOT_FOUND_EXIT


def gpu_table(guest: Guest) -> str:
    """Return a table of the rented cards, in the shape people know."""
    edge = "+-----+--------------------------+----------------------+\n"
    head = "| GPU | Name                     | Memory usage         |\n"
    memory_mib = guest.memory_gb * 10**9 // 2**20
    rows = [
        f"| {number:>3} | {guest.card[:24]:<24} | {f'0 MiB / {memory_mib} MiB':<20} |\n"
        for number in range(guest.gpus)
    ]
    return edge + head + edge + "".join(rows) + edge


async def _serve_until_stopped(*, port: int, host_key: Path, find_guest: FindGuest) -> None:
    acceptor = await serve(port=port, host_key=host_key, find_guest=find_guest)
    stopped = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    await stopped.wait()
    acceptor.close()


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m config.stack.ssh_server", description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--host-key", type=Path, required=True)
    options = parser.parse_args(arguments)
    # Imported late: it loads the whole site, which the tests of the door do without.
    from config.stack.ssh_guests import guest_finder  # noqa: PLC0415 -- see above

    # Each visit would otherwise be told in a dozen lines, with addresses.
    asyncssh.set_log_level(logging.WARNING)
    try:
        asyncio.run(
            _serve_until_stopped(
                port=options.port, host_key=options.host_key, find_guest=guest_finder(options.port)
            )
        )
    except OSError as error:
        say("ssh", f"cannot listen on port {options.port}: {error.strerror}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
