"""A small HTTP server that takes webhooks, answers as told and remembers them."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Receiver:
    """What came in. ``statuses`` are the answers to give, one after the other; then 200."""

    def __init__(self) -> None:
        self.url = ""
        self.statuses: list[int] = []
        self.bodies: list[bytes] = []
        self.signatures: list[str] = []
        self.most_at_once = 0
        self._lock = threading.Lock()
        self._open = 0
        self.wait_for: threading.Event | None = None

    @property
    def events(self) -> list[dict[str, Any]]:
        return [json.loads(body) for body in self.bodies]

    @property
    def types(self) -> list[str]:
        return [event["type"] for event in self.events]

    def take(self, *, body: bytes, signature: str) -> int:
        with self._lock:
            self._open += 1
            self.most_at_once = max(self.most_at_once, self._open)
            self.bodies.append(body)
            self.signatures.append(signature)
            status = self.statuses.pop(0) if self.statuses else 200
        if self.wait_for is not None:
            self.wait_for.wait(timeout=5)
        with self._lock:
            self._open -= 1
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

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    receiver.url = f"http://127.0.0.1:{server.server_port}/webhooks/stripe/"
    thread = threading.Thread(target=lambda: server.serve_forever(poll_interval=0.05), daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        server.server_close()
