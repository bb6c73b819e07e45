"""Who looks at a page, and for which organisation they act."""

from django.http import HttpRequest

from marketplace.accounts.models import Membership
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


def _ask(request: HttpRequest) -> Membership | None:
    if not request.user.is_authenticated:
        return None
    chosen = request.session.get(ORGANISATION_KEY)
    return membership_for(
        user_id=request.user.pk, organisation_id=chosen if isinstance(chosen, int) else None
    )
