"""What views of signed-in people share: who asks, for which organisation, and when."""

from collections.abc import Callable
from datetime import datetime
from functools import wraps
from typing import Concatenate, ParamSpec, cast
from urllib.parse import urlencode, urlsplit

from allauth.account.decorators import reauthentication_required
from django.contrib.auth.views import redirect_to_login
from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from marketplace.accounts.clock import now
from marketplace.accounts.models import Membership, Organisation, User
from marketplace.accounts.queries import terms_to_accept
from marketplace.accounts.viewer import viewer_membership

P = ParamSpec("P")

# A page that is read and whose form is sent back to it.
form_page = require_http_methods(["GET", "HEAD", "POST"])


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


def having_accepted_terms(view: View[P]) -> View[P]:
    """Ask who has not accepted the terms in force to do so first; then lead back to the page.

    Stands under a guard that lets people in: for acts by which money moves.
    """

    @wraps(view)
    def asked(request: SignedInRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        if terms_to_accept(user_id=request.user.pk):
            query = urlencode({"next": request.get_full_path()})
            return redirect(f"{reverse('accounts:accept_terms')}?{query}")
        return view(request, *args, **kwargs)

    return asked


def confirmed(view: View[P]) -> View[P]:
    """Ask who sends the form to prove again that it is them; then what was sent goes on.

    Stands under `signed_in`: for acts with which somebody at a forgotten screen could do harm.
    """
    guard = reauthentication_required(enabled=lambda request: request.method == "POST")
    return cast("View[P]", guard(view))


def confirmed_to_read(view: View[P]) -> View[P]:
    """Ask who opens the page with ``confirm`` in its address to prove again that it is them."""
    guard = reauthentication_required(
        enabled=lambda request: request.method == "GET" and "confirm" in request.GET
    )
    return cast("View[P]", guard(view))


def _guarded(view: View[P], *, right: Callable[[Membership], bool]) -> AnyView[P]:
    @never_cache
    @wraps(view)
    def guarded(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        if not request.user.is_authenticated:
            return _to_sign_in(request)
        membership = viewer_membership(request)
        if membership is None or not right(membership):
            raise Http404
        viewer = cast("SignedInRequest", request)
        viewer.membership, viewer.organisation = membership, membership.organisation
        return view(viewer, *args, **kwargs)

    return guarded


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


def _to_sign_in(request: HttpRequest) -> HttpResponseBase:
    """Lead through sign-in to where the visitor was.

    What was posted is lost, and the address of a button alone answers no reader: who pressed one
    comes back to the page that it stood on.
    """
    page = request.get_full_path() if request.method in {"GET", "HEAD"} else _page_before(request)
    if not page:
        return redirect("account_login")
    return redirect_to_login(page, reverse("account_login"))


def _page_before(request: HttpRequest) -> str:
    """Return the path of the page of ours that the request came from, or nothing."""
    address = request.headers.get("Referer", "")
    if not url_has_allowed_host_and_scheme(address, allowed_hosts={request.get_host()}):
        return ""
    parts = urlsplit(address)
    return f"{parts.path}?{parts.query}" if parts.query else parts.path
