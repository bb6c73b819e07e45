"""What is answered when a request cannot be served: a page to people, a problem to programs."""

from http import HTTPStatus

from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import render
from django.views import defaults

# Where programs ask: they get no page.
FOR_PROGRAMS = ("/api/", "/webhooks/")


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponseBase:
    return refusal_page(request, HTTPStatus.BAD_REQUEST)


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponseBase:
    if request.path.startswith(FOR_PROGRAMS):
        return _problem(HTTPStatus.NOT_FOUND)
    return defaults.page_not_found(request, exception)


def refusal_page(request: HttpRequest, status: HTTPStatus) -> HttpResponse:
    """Say that the request is malformed or too large; the page needs no session and no database."""
    if request.path.startswith(FOR_PROGRAMS):
        return _problem(status)
    is_too_large = status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE
    return render(request, "400.html", {"is_too_large": is_too_large}, status=status)


def _problem(status: HTTPStatus) -> JsonResponse:
    body = {"type": "about:blank", "title": status.phrase, "status": int(status)}
    return JsonResponse(body, status=status, content_type="application/problem+json")
