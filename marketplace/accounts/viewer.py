"""Who looks at a page, with which browser, and for which organisation they act."""

from allauth.account.adapter import get_adapter
from django.http import HttpRequest

from marketplace.accounts.models import Membership
from marketplace.accounts.operations.devices import Visit
from marketplace.accounts.queries import membership_for

# Where the session keeps the organisation that the viewer chose.
ORGANISATION_KEY = "organisation_id"
CACHED = "_viewer_membership"


def viewer_membership(request: HttpRequest) -> Membership | None:
    """Return the membership the viewer acts under; asked of the database once per request."""
    if not hasattr(request, CACHED):
        setattr(request, CACHED, _ask(request))
    found = getattr(request, CACHED)
    assert found is None or isinstance(found, Membership)
    return found


def visit_of(request: HttpRequest) -> Visit:
    """Return what the request tells of its browser."""
    assert request.user.pk is not None
    return Visit(
        user_id=request.user.pk,
        session_key=str(request.session.session_key),
        ip_address=get_adapter().get_client_ip(request),
        user_agent=request.headers.get("User-Agent", ""),
    )


def _ask(request: HttpRequest) -> Membership | None:
    if not request.user.is_authenticated:
        return None
    chosen = request.session.get(ORGANISATION_KEY)
    return membership_for(
        user_id=request.user.pk, organisation_id=chosen if isinstance(chosen, int) else None
    )
