"""What is answered when a request cannot be served: a page to people, a problem to programs."""

import logging
import secrets
from http import HTTPStatus

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import Resolver404, resolve
from django.utils.translation import get_language

from catalog.calculator.own_model import too_big
from catalog.sizing_words import plain_problem_text, problem_text
from config.lost_pages import ways_on

logger = logging.getLogger(__name__)

# Where programs ask: they get no page.
FOR_PROGRAMS = ("/api/", "/webhooks/")
FOR_JOBS = "/api/v1/sizing/"
REFERENCE_BYTES = 5
LAST_RESORT = "<!doctype html><title>500</title><h1>500</h1><p>{reference}</p>"


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponseBase:
    return refusal_page(request, HTTPStatus.BAD_REQUEST)


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponseBase:
    if request.path.startswith(FOR_PROGRAMS):
        return _problem(HTTPStatus.FORBIDDEN)
    return render(request, "403.html", status=HTTPStatus.FORBIDDEN)


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponseBase:
    """Say that there is no such page, and what may have been meant."""
    if request.path.startswith(FOR_PROGRAMS):
        return _problem(HTTPStatus.NOT_FOUND)
    language = get_language() or settings.LANGUAGE_CODE
    context = {"lost": ways_on(path=request.path, language=language)}
    return render(request, "404.html", context, status=HTTPStatus.NOT_FOUND)


def server_error(request: HttpRequest) -> HttpResponseBase:
    """Say that we failed, with a reference that stands in our log. Asks no database and no session."""
    reference = secrets.token_hex(REFERENCE_BYTES)
    request.failure_reference = reference  # type: ignore[attr-defined]  # read by our log
    if request.path.startswith(FOR_PROGRAMS):
        return _problem(HTTPStatus.INTERNAL_SERVER_ERROR, reference=reference)
    return HttpResponse(_failure_page(reference), status=HTTPStatus.INTERNAL_SERVER_ERROR)


def _failure_page(reference: str) -> str:
    context = {"reference": reference, "SITE_NAME": settings.SITE_NAME}
    try:
        return render_to_string("500.html", context)
    # The outermost edge: whatever broke the page of the failure, its reader gets an answer.
    except Exception:
        logger.exception("The page of a failure could not be made.")
        return LAST_RESORT.format(reference=reference)


def method_page(request: HttpRequest, refused: HttpResponseBase) -> HttpResponse:
    """Say that this address is not used so; the methods that it knows stay in the header."""
    answer = render(request, "405.html", status=HTTPStatus.METHOD_NOT_ALLOWED)
    answer["Allow"] = refused.headers.get("Allow", "")
    return answer


def refusal_page(request: HttpRequest, status: HTTPStatus) -> HttpResponse:
    """Say that the request is malformed or too large; the page needs no session and no database."""
    is_too_large = status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE
    if request.path.startswith(FOR_PROGRAMS):
        is_config = is_too_large and request.path.startswith(FOR_JOBS)
        return _problem(status, **(_too_big_config() if is_config else {}))
    context = {
        "is_too_large": is_too_large,
        "sentence": problem_text(too_big()) if is_too_large and _is_calculator(request) else "",
        "SITE_NAME": settings.SITE_NAME,
    }
    return HttpResponse(render_to_string("400.html", context), status=status)


def _too_big_config() -> dict[str, str]:
    """Say of a body with a job what makes it large: only a configuration can."""
    error = too_big()
    detail = plain_problem_text(error)
    return {"field": error.field, "problem": error.problem, "detail": detail}


def _is_calculator(request: HttpRequest) -> bool:
    """Tell whether a request sends a model's configuration, the one file that people send us."""
    try:
        return resolve(request.path_info).view_name == "catalog:calculator"
    except Resolver404:
        return False


def _problem(status: HTTPStatus, **details: str) -> JsonResponse:
    body = {"type": "about:blank", "title": status.phrase, "status": int(status)} | details
    return JsonResponse(body, status=status, content_type="application/problem+json")
