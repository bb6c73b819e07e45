"""What the machine-readable description says of our tokens."""

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]  # it registers its subclasses so
    """A token in the header, after the word ``Token``."""

    target_class = "marketplace.accounts.api.authentication.TokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, str]:
        return {
            "type": "apiKey",
            "in": "header",
            "name": "Authorization",
            "description": "The word Token, a space, and a token of yours.",
        }
