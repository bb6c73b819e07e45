"""Public pages per second, against bare views of the same server: one with a query, one without.

The market holds 53 cards, 10,000 offers and 100,000 fills. The server is the site's own: gunicorn
with two processes of four threads, every middleware, persistent connections. Slices of a page
alternate with slices of the view that it is compared with, so that other work on the machine
weighs on both; the ratio is the median over the rounds. The client runs on the same machine.
"""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedReader
from statistics import median

from django.db import connection, connections

from tests.bench.pages_world import make_large_market
from tests.bench.results import Result

HOST = "127.0.0.1"
CLIENTS = 8
ROUNDS = 5
SLICE_SECONDS = 3.0
START_SECONDS = 60
NOTHING, TABLE = "/en/bare/nothing", "/en/bare/table"
PAGES = {
    "fine-tuning page": "/en/use-cases/fine-tuning/",
    "catalogue": "/en/gpus/",
    "card page": "/en/gpus/rtx-4090/",
    "market page": "/en/market/rtx-4090/",
}
# Those with a target: half the bare view with a query, and for 304 most of the one without.
REQUIRED = ("fine-tuning page", "catalogue")
OK, NOT_MODIFIED = 200, 304


@dataclass(frozen=True)
class Asked:
    """What the clients send. Who knows its page asks whether it is still the same."""

    path: str
    headers: str = ""
    knows_its_page: bool = False

    def request(self, port: int, *, etag: str = "") -> bytes:
        known = f"If-None-Match: {etag}\r\n" if etag else ""
        head = f"GET {self.path} HTTP/1.1\r\nHost: {HOST}:{port}\r\n{self.headers}{known}\r\n"
        return head.encode()


def run() -> Iterator[Result]:
    """Yield each page's rate, after the rate of the bare view that it is compared with."""
    for kind, count in make_large_market().items():
        yield Result(f"market loaded: {kind}", count, "rows")
    connections.close_all()
    with measured_server() as port:
        for name, path in PAGES.items():
            yield from compared(name, Asked(path), "bare view, 20 rows", Asked(TABLE), port=port)
        for name in REQUIRED:
            known = Asked(PAGES[name], knows_its_page=True)
            yield from compared(
                f"304 of the {name}", known, "bare view, no database", Asked(NOTHING), port=port
            )
        for name in REQUIRED:
            unkept = Asked(PAGES[name], headers="Authorization: none\r\n")
            yield from compared(
                f"{name}, rendered each time", unkept, "bare view, 20 rows", Asked(TABLE), port=port
            )


def compared(name: str, page: Asked, yard: str, bare: Asked, *, port: int) -> Iterator[Result]:
    theirs, ours, ratios = [], [], []
    for _ in range(ROUNDS):
        bare_rate = answers_per_second(bare, port=port)
        rate = answers_per_second(page, port=port)
        theirs.append(bare_rate)
        ours.append(rate)
        ratios.append(rate / bare_rate)
    yield Result(yard, round(median(theirs), 1), "requests/s")
    yield Result(name, round(median(ours), 1), "requests/s", yard, round(median(ratios), 2))


def answers_per_second(asked: Asked, *, port: int) -> float:
    """Ask from several clients at once, each on one connection, for the time of a slice."""
    with ThreadPoolExecutor(CLIENTS) as pool:
        started = time.perf_counter()
        counts = list(pool.map(lambda _: client(asked, port=port), range(CLIENTS)))
        return sum(counts) / (time.perf_counter() - started)


def client(asked: Asked, *, port: int) -> int:
    count, etag = 0, ""
    with socket.create_connection((HOST, port)) as connected:
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        answers = connected.makefile("rb")
        deadline = time.perf_counter() + SLICE_SECONDS
        while time.perf_counter() < deadline:
            connected.sendall(asked.request(port, etag=etag))
            headers = read_answer(answers)
            # As a browser does: the next question names what was answered last.
            etag = headers.get(b"etag", b"").decode() if asked.knows_its_page else ""
            count += 1
    return count


def read_answer(answers: BufferedReader) -> dict[bytes, bytes]:
    """Read one answer and its body; stop the measurement when it is neither a page nor 304."""
    first = answers.readline()
    if int(first.split()[1]) not in {OK, NOT_MODIFIED}:
        sys.exit(f"the server answered {first!r}")
    headers = {}
    while (line := answers.readline()) not in {b"\r\n", b""}:
        name, _, value = line.partition(b":")
        headers[name.lower()] = value.strip()
    answers.read(int(headers.get(b"content-length", 0)))
    return headers


@contextmanager
def measured_server() -> Iterator[int]:
    """Run the site's web server on this measurement's database; yield its port."""
    port = _free_port()
    server = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "gunicorn",
            "config.wsgi",
            "--worker-class=gthread",
            "--workers=2",
            "--threads=4",
            "--keep-alive=30",
            "--no-control-socket",
            "--log-level=warning",
            f"--bind={HOST}:{port}",
        ],
        env={
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "tests.bench.pages_settings",
            "MIGRATE_DATABASE_URL": _address(),
        },
    )
    try:
        _wait_for(port, server)
        yield port
    finally:
        server.terminate()
        server.wait(timeout=30)


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind((HOST, 0))
        return int(listener.getsockname()[1])


def _address() -> str:
    """Return the address of this measurement's database."""
    facts = connection.settings_dict
    return f"postgresql://{facts['USER']}@/{facts['NAME']}?host={facts['HOST']}"


def _wait_for(port: int, server: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and server.poll() is None:
        try:
            with socket.create_connection((HOST, port)) as connected:
                connected.sendall(Asked(NOTHING).request(port))
                read_answer(connected.makefile("rb"))
                return
        except OSError:
            time.sleep(0.2)
    sys.exit("The measured server did not start.")
