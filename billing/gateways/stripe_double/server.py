"""The HTTP server around the double."""

import logging
import threading
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

from billing.gateways.stripe_double.api import answer_api
from billing.gateways.stripe_double.config import DoubleConfig
from billing.gateways.stripe_double.errors import ApiError
from billing.gateways.stripe_double.hooks import answer_hook
from billing.gateways.stripe_double.hosted import answer_page
from billing.gateways.stripe_double.parts import Parts, build_parts
from billing.gateways.stripe_double.web import Reply, Request, json_reply

logger = logging.getLogger(__name__)

# Our largest honest request is about two kilobytes.
BODY_BYTES_AT_MOST = 64 * 1024

# A connection that says nothing for this long is closed, so that its thread ends.
IDLE_SECONDS = 60

# How long a stop may take: hundreds of tests start and stop a double.
STOP_SECONDS = 0.05


class StripeDouble:
    """A running double. ``url`` is its address once it is built; ``start`` makes it answer."""

    def __init__(self, config: DoubleConfig) -> None:
        self.parts = build_parts(config)
        self._server = _Server((config.host, config.port), _Handler)
        self._server.parts = self.parts
        self._thread = threading.Thread(target=self._answer, name="double", daemon=True)
        host = f"[{config.host}]" if ":" in config.host else config.host
        self.url = f"http://{host}:{self._server.server_port}"

    def start(self) -> None:
        """Answer from now on, in threads of our own."""
        self.parts.sender.start()
        self._thread.start()

    def stop(self) -> None:
        """Stop answering and sending; close the journal."""
        self._server.shutdown()
        self._server.server_close()
        self.parts.sender.stop()
        self.parts.store.close()

    def _answer(self) -> None:
        self._server.serve_forever(poll_interval=STOP_SECONDS)

    def wait(self) -> None:
        """Block until somebody stops the double."""
        self._thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    # The default of five lets a burst of calls wait a second for its next try to connect.
    request_queue_size = 128
    parts: Parts


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "StripeDouble"
    sys_version = ""
    timeout = IDLE_SECONDS
    # One write per answer: head and body apart would wait for each other (Nagle).
    wbufsize = -1
    server: _Server

    def do_GET(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - named by http.server
        """Keep quiet: addresses hold session ids, and tests read standard output."""

    def _serve(self) -> None:
        try:
            reply = self._reply()
        except ApiError as refused:
            self.close_connection = True
            reply = json_reply(refused.body(), status=refused.status)
        except Exception:
            logger.exception("the double failed on a request")
            error = ApiError("The double has a bug.", kind="api_error")
            reply = json_reply(error.body(), status=HTTPStatus.INTERNAL_SERVER_ERROR)
        self._send(reply)

    def _reply(self) -> Reply:
        parts = urlsplit(self.path)
        request = Request(
            method=self.command,
            path=parts.path,
            query=parts.query,
            body=self._body(),
            headers={name.lower(): value for name, value in self.headers.items()},
        )
        if parts.path.startswith("/v1/"):
            return answer_api(parts=self.server.parts, request=request)
        if parts.path.startswith("/_double/"):
            return answer_hook(parts=self.server.parts, request=request)
        return answer_page(parts=self.server.parts, request=request)

    def _body(self) -> str:
        length = self.headers.get("Content-Length", "0")
        if not length.isascii() or not length.isdigit():
            raise ApiError("Invalid Content-Length.")
        if int(length) > BODY_BYTES_AT_MOST:
            raise ApiError("The body is too large.", status=HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        try:
            return self.rfile.read(int(length)).decode()
        except UnicodeDecodeError as broken:
            raise ApiError("Invalid request: the body is not UTF-8.") from broken

    def _send(self, reply: Reply) -> None:
        if reply.is_lost:
            self.close_connection = True
            return
        self.send_response(reply.status)
        self.send_header("Content-Type", reply.content_type)
        self.send_header("Content-Length", str(len(reply.body)))
        for name, value in reply.headers.items():
            self.send_header(name, value)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(reply.body)
