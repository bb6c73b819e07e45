"""What views of signed-in people share: who asks, for which organisation, and when."""

from collections.abc import Callable
from datetime import datetime
from functools import wraps
from typing import Concatenate, ParamSpec, cast

from django.contrib.auth.views import redirect_to_login
from django.http import Http404, HttpRequest, HttpResponseBase
from django.urls import reverse
from django.views.decorators.cache import never_cache

from marketplace.accounts.clock import now
from marketplace.accounts.models import Membership, Organisation, User
from marketplace.accounts.viewer import viewer_membership

P = ParamSpec("P")


class SignedInRequest(HttpRequest):
    """A request of somebody who is signed in and acts for an organisation."""

    user: User
    organisation: Organisation
    membership: Membership


View = Callable[Concatenate[SignedInRequest, P], HttpResponseBase]
AnyView = Callable[Concatenate[HttpRequest, P], HttpResponseBase]


def client_now() -> datetime:
    """Return the time of this request, to be passed down as ``now``."""
    return now()


def signed_in(view: View[P]) -> AnyView[P]:
    """Let in who is signed in; send others to sign-in and back."""
    return _guarded(view, right=bool)


def trading(view: View[P]) -> AnyView[P]:
    """Let in owners and traders of the organisation; for its other members there is no such page."""
    return _guarded(view, right=lambda membership: membership.may_trade)


def paying(view: View[P]) -> AnyView[P]:
    """Let in owners and billing members; for other members there is no such page."""
    return _guarded(view, right=lambda membership: membership.may_pay)


def owning(view: View[P]) -> AnyView[P]:
    """Let in owners of the organisation; for its other members there is no such page."""
    return _guarded(view, right=lambda membership: membership.role == Membership.Role.OWNER)


def _guarded(view: View[P], *, right: Callable[[Membership], bool]) -> AnyView[P]:
    @never_cache
    @wraps(view)
    def guarded(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        if not request.user.is_authenticated:
            return redirect_to_login(request.get_full_path(), reverse("account_login"))
        membership = viewer_membership(request)
        if membership is None or not right(membership):
            raise Http404
        viewer = cast("SignedInRequest", request)
        viewer.membership, viewer.organisation = membership, membership.organisation
        return view(viewer, *args, **kwargs)

    return guarded
