"""A demo with two small members instead of the site, for the supervisor's tests.

Run as a program. The page answers as the real one does; the worker only waits.
"""

import http.server
import socket
import sys
from collections.abc import Sequence

from config.stack.console import say
from config.stack.demo import run_demo
from config.stack.demo_parts import Addresses, Parts, page_answers
from config.stack.errors import StackError
from config.stack.supervisor import Member


class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_request(self, *_: object) -> None:
        """Stay silent."""


def serve_page(descriptor: int) -> None:
    server = http.server.ThreadingHTTPServer(("", 0), Page, bind_and_activate=False)
    server.socket.close()
    server.socket = socket.socket(fileno=descriptor)
    server.serve_forever()


def members(addresses: Addresses) -> Sequence[Member]:
    page = [sys.executable, __file__, "page", str(addresses.web_descriptors[0])]
    return [
        Member(
            name="web",
            command=page,
            is_ready=lambda: page_answers(addresses.web_port),
            kept_descriptors=addresses.web_descriptors,
        ),
        # A child of its own: what the supervisor starts may start more.
        Member(name="worker", command=["bash", "-c", "echo worker $$; sleep 600 & wait"]),
    ]


def main() -> int:
    if sys.argv[1:2] == ["page"]:
        serve_page(int(sys.argv[2]))
    try:
        return run_demo(parts=Parts(preparations=(), members=members, announcement=None))
    except StackError as error:
        say("stack", str(error))
        return 1


if __name__ == "__main__":
    sys.exit(main())
