"""Requests and replies as plain values, so that the pages and the API know no socket."""

import json
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Request:
    """One HTTP request. Header names are lower-case."""

    method: str
    path: str
    query: str
    body: str
    headers: dict[str, str]

    @property
    def origin(self) -> str:
        """Return the address the caller used, which is where its browser will find us too."""
        return f"http://{self.headers.get('host', 'localhost')}"


@dataclass(frozen=True, kw_only=True)
class Reply:
    """One HTTP answer. ``is_lost`` closes the connection instead of sending it."""

    status: int = HTTPStatus.OK
    body: bytes = b""
    content_type: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)
    is_lost: bool = False


def json_reply(document: Any, *, status: int = HTTPStatus.OK, **headers: str) -> Reply:
    """Return a JSON answer; header names are given with underscores."""
    named = {name.replace("_", "-").title(): value for name, value in headers.items()}
    body = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
    return Reply(status=status, body=body.encode(), headers=named)


def redirect(location: str) -> Reply:
    """Return a 303, after which a browser's reload repeats nothing."""
    headers = {"Location": location, "Cache-Control": "no-store"}
    return Reply(status=HTTPStatus.SEE_OTHER, headers=headers, content_type="text/plain")
