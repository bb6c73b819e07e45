"""Addresses to come back to, taken from forms and queries."""

from django.http import HttpRequest
from django.utils.http import url_has_allowed_host_and_scheme


def safe_next(request: HttpRequest, address: str | None) -> str:
    """Return an address within this site, or nothing: a form must not lead to strangers.

    It is a whole path: Django would take a bare word for the name of a page.
    """
    if not (address and address.startswith("/")):
        return ""
    if url_has_allowed_host_and_scheme(
        address, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    ):
        return address
    return ""
