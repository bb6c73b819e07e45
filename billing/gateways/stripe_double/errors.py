"""Failures of the API, in the JSON that Stripe answers with."""

from http import HTTPStatus
from typing import Any


class ApiError(Exception):
    """One error answer. ``is_recorded`` says whether an idempotency key replays it."""

    def __init__(
        self,
        message: str,
        *,
        status: int = HTTPStatus.BAD_REQUEST,
        kind: str = "invalid_request_error",
        code: str | None = None,
        param: str | None = None,
        is_recorded: bool = True,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status = int(status)
        self.kind = kind
        self.code = code
        self.param = param
        self.is_recorded = is_recorded

    def body(self) -> dict[str, Any]:
        """Return Stripe's error document; absent fields are left out, as Stripe does."""
        details = {"code": self.code, "param": self.param}
        present = {name: value for name, value in details.items() if value is not None}
        return {"error": {"message": self.message, "type": self.kind, **present}}


def resource_missing(*, noun: str, object_id: str, param: str = "id") -> ApiError:
    """Return the 404 for an identifier nobody has."""
    return ApiError(
        f"No such {noun}: '{object_id}'",
        status=HTTPStatus.NOT_FOUND,
        code="resource_missing",
        param=param,
    )


def bad_parameter(message: str, *, param: str, code: str | None = None) -> ApiError:
    """Return the 400 for a parameter that failed validation; such answers are never replayed."""
    return ApiError(message, param=param, code=code, is_recorded=False)


def parameter_missing(param: str) -> ApiError:
    """Return the 400 for a required parameter that was not sent."""
    return bad_parameter(f"Missing required param: {param}.", param=param, code="parameter_missing")
