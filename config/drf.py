"""How the API answers an error: `application/problem+json` with a code for each field."""

from rest_framework import exceptions
from rest_framework.response import Response
from rest_framework.views import exception_handler


def problem_response(exc: Exception, context: dict[str, object]) -> Response | None:
    """Turn a refusal into a problem document; anything unexpected stays a 500."""
    response = exception_handler(exc, context)
    if response is None:
        return None
    response.data = {
        "type": "about:blank",
        "title": str(getattr(exc, "default_detail", "")) or response.status_text,
        "status": response.status_code,
        "code": getattr(exc, "default_code", "error"),
    } | _details(exc)
    response.content_type = "application/problem+json"
    return response


def _details(exc: Exception) -> dict[str, object]:
    if isinstance(exc, exceptions.ValidationError):
        return {"errors": exc.get_full_details()}
    if isinstance(exc, exceptions.APIException):
        return {"detail": exc.detail}
    return {}
