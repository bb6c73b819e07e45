"""A small HTTP server that takes webhooks, answers as told and remembers them."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Receiver:
    """What came in. ``statuses`` are the answers to give, one after the other; then 200.

    A ``gate`` holds every request until as many are inside as it says.
    """

    def __init__(self) -> None:
        self.url = ""
        self.statuses: list[int] = []
        self.bodies: list[bytes] = []
        self.signatures: list[str] = []
        self._lock = threading.Lock()
        self.gate: threading.Barrier | None = None

    @property
    def events(self) -> list[dict[str, Any]]:
        return [json.loads(body) for body in self.bodies]

    @property
    def types(self) -> list[str]:
        return [event["type"] for event in self.events]

    def take(self, *, body: bytes, signature: str) -> int:
        with self._lock:
            self.bodies.append(body)
            self.signatures.append(signature)
            status = self.statuses.pop(0) if self.statuses else 200
        if self.gate is not None:
            self.gate.wait(timeout=10)
        return status


@contextmanager
def running_receiver() -> Iterator[Receiver]:
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            status = receiver.take(body=body, signature=self.headers["Stripe-Signature"])
            self.send_response(status)
            self.end_headers()

        def log_message(self, *args: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        request_queue_size = 64

    server = Server(("127.0.0.1", 0), Handler)
    receiver.url = f"http://127.0.0.1:{server.server_port}/webhooks/stripe/"
    thread = threading.Thread(target=lambda: server.serve_forever(poll_interval=0.05), daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        server.server_close()
