"""What a request must be before any page looks at it: small, and text where text is meant."""

from collections.abc import Callable
from http import HTTPStatus
from urllib.parse import unquote_to_bytes

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.request import UnreadablePostError
from django.utils.translation import get_language_from_path

from config.errors import method_page, refusal_page

FORM = "application/x-www-form-urlencoded"
NUL = "\0"


class ReadableRequestMiddleware:
    """Refuse bodies that are too large before they are read, and bytes that are no text.

    Django would put a question mark in place of broken characters and store that; PostgreSQL
    refuses a NUL in any text, wherever a page passes it on.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        status = _refusal(request)
        return refusal_page(request, status) if status else self.get_response(request)


class MethodPageMiddleware:
    """Give people a page where an address refuses their method with an empty answer."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        answer = self.get_response(request)
        is_bare = answer.status_code == HTTPStatus.METHOD_NOT_ALLOWED and not answer.content
        is_page = get_language_from_path(request.path) is not None
        return method_page(request, answer) if is_bare and is_page else answer


def _refusal(request: HttpRequest) -> HTTPStatus | None:
    if _length_bytes(request) > settings.DATA_UPLOAD_MAX_MEMORY_SIZE:
        return HTTPStatus.REQUEST_ENTITY_TOO_LARGE
    try:
        body = request.body if request.content_type == FORM else b""
    except UnreadablePostError:
        # The sender went away; nobody reads the answer.
        return HTTPStatus.BAD_REQUEST
    query = str(request.META.get("QUERY_STRING", "")).encode("latin-1", "replace")
    if not (_is_text(query) and _is_text(body)) or any(
        NUL in value for value in request.COOKIES.values()
    ):
        return HTTPStatus.BAD_REQUEST
    return None


def _length_bytes(request: HttpRequest) -> int:
    """Return the body's announced length; without one, a server of ours reads no body."""
    announced = str(request.META.get("CONTENT_LENGTH") or "0")
    return int(announced) if announced.isascii() and announced.isdigit() else 0


def _is_text(encoded: bytes) -> bool:
    try:
        return NUL not in unquote_to_bytes(encoded).decode()
    except UnicodeDecodeError:
        return False
