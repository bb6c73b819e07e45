"""SSH keys of a person."""

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from marketplace.accounts.forms import SshKeyForm
from marketplace.accounts.http import SignedInRequest, client_now, form_page, signed_in
from marketplace.accounts.models import SshKey
from marketplace.accounts.operations.keys import (
    KeyAlreadyAdded,
    TooManyKeys,
    add_ssh_key,
    remove_ssh_key,
)
from marketplace.accounts.queries import keys_of


@form_page
@signed_in
def keys(request: SignedInRequest) -> HttpResponse:
    """List the keys, and add one."""
    form = SshKeyForm(request.POST or None)
    if request.method == "POST" and form.is_valid() and _added(form, request):
        messages.success(request, _("The key is added. Choose it when you order."))
        return redirect("accounts:keys")
    return render(
        request, "accounts/keys.html", {"form": form, "keys": keys_of(user_id=request.user.pk)}
    )


@require_POST
@signed_in
def remove_key(request: SignedInRequest, pk: int) -> HttpResponse:
    """Remove one of the viewer's keys."""
    try:
        remove_ssh_key(key_id=pk, user_id=request.user.pk, now=client_now())
    except SshKey.DoesNotExist as error:
        raise Http404 from error
    messages.success(request, _("The key is removed. Running rentals keep accepting it."))
    return redirect("accounts:keys")


def _added(form: SshKeyForm, request: SignedInRequest) -> bool:
    try:
        add_ssh_key(
            user_id=request.user.pk,
            name=form.cleaned_data["name"],
            public_key=form.cleaned_data["public_key"],
            now=client_now(),
        )
    except KeyAlreadyAdded:
        form.add_error("public_key", _("You have added this key already."))
    except TooManyKeys:
        form.add_error(None, _("You have 50 keys. Remove one that you no longer use."))
    return form.is_valid()
