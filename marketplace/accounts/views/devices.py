"""The browsers that a person is signed in with."""

from allauth.usersessions.models import UserSession
from django.contrib import messages
from django.contrib.auth import logout
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST, require_safe

from marketplace.accounts.http import SignedInRequest, client_now, signed_in
from marketplace.accounts.operations.devices import (
    devices_of,
    end_device,
    end_other_devices,
    note_device,
)
from marketplace.accounts.user_agents import device_of
from marketplace.accounts.viewer import visit_of


@require_safe
@signed_in
def devices(request: SignedInRequest) -> HttpResponse:
    """List the browsers, this one marked."""
    now = client_now()
    note_device(visit=visit_of(request), now=now)
    rows = [
        {
            "pk": row.pk,
            "words": _words(row),
            "created_at": row.created_at,
            "last_seen_at": row.last_seen_at,
            "is_this_one": row.session_key == request.session.session_key,
        }
        for row in devices_of(user=request.user, now=now)
    ]
    return render(request, "accounts/devices.html", {"devices": rows, "now": now})


@require_POST
@signed_in
def end(request: SignedInRequest, pk: int) -> HttpResponse:
    """Sign one of the viewer's browsers out; this one too, when it is chosen."""
    try:
        ended = end_device(device_id=pk, user_id=request.user.pk, now=client_now())
    except UserSession.DoesNotExist as error:
        raise Http404 from error
    if ended == request.session.session_key:
        logout(request)
        return redirect("account_login")
    messages.success(request, _("That browser is signed out."))
    return redirect("accounts:devices")


@require_POST
@signed_in
def end_others(request: SignedInRequest) -> HttpResponse:
    """Sign out everywhere but here."""
    key = request.session.session_key or ""
    ended = end_other_devices(user_id=request.user.pk, session_key=key, now=client_now())
    messages.success(
        request,
        ngettext(
            "%(count)s other browser is signed out.",
            "%(count)s other browsers are signed out.",
            ended,
        )
        % {"count": ended},
    )
    return redirect("accounts:devices")


def _words(row: UserSession) -> str:
    device = device_of(row.user_agent)
    if device.browser and device.system:
        return _("%(browser)s on %(system)s") % {
            "browser": device.browser,
            "system": device.system,
        }
    return device.browser or device.system or _("Unknown browser")
