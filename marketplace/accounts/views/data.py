"""A person's own data: a copy of it, and the end of the account."""

from allauth.account.internal.flows.reauthentication import is_reauthentication_required
from django.contrib import messages
from django.contrib.auth import logout
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _

from marketplace.accounts.forms import ClosureForm
from marketplace.accounts.http import (
    SignedInRequest,
    client_now,
    confirmed,
    confirmed_to_read,
    form_page,
    signed_in,
)
from marketplace.accounts.operations.closing import CannotClose, close_account, obstacles_of
from marketplace.accounts.operations.export import export_data
from marketplace.accounts.rate_limits import Limit, count_act


@form_page
@signed_in
@confirmed_to_read
def export(request: SignedInRequest) -> HttpResponse:
    """Explain what the copy holds, and give it.

    A file is no page to come back to after a password: who has to prove who they are does so
    first, and then presses the button again.
    """
    if request.method == "POST":
        if is_reauthentication_required(request, app=""):
            return redirect(f"{reverse('accounts:export')}?confirm=1")
        count_act(limit=Limit.EXPORT, who=request.user.pk)
        return _file(request)
    is_confirmed = "confirm" in request.GET
    return render(request, "accounts/export.html", {"is_confirmed": is_confirmed})


@form_page
@signed_in
@confirmed
def close(request: SignedInRequest) -> HttpResponse:
    """Say what stands against closing, or close when the address is typed."""
    found = obstacles_of(user_id=request.user.pk)
    form = ClosureForm(request.POST or None, address=request.user.email)
    if request.method == "POST" and not found and form.is_valid():
        try:
            close_account(user_id=request.user.pk, now=client_now())
        except CannotClose as refusal:
            found = refusal.obstacles
        else:
            logout(request)
            messages.success(request, _("Your account is closed. We have sent you a last mail."))
            return redirect("catalog:home")
    context = {"form": form, "obstacles": found}
    return render(request, "accounts/close.html", context)


def _file(request: SignedInRequest) -> HttpResponse:
    now = client_now()
    answer = HttpResponse(export_data(user=request.user, now=now), content_type="application/zip")
    answer["Content-Disposition"] = f'attachment; filename="my-data-{now:%Y-%m-%d}.zip"'
    return answer
