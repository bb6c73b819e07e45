"""Which mails a person gets."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from marketplace.accounts.forms import NotificationsForm
from marketplace.accounts.http import SignedInRequest, client_now, form_page, signed_in
from marketplace.accounts.operations.notifications import choose_mails, notification_settings


@form_page
@signed_in
def notifications(request: SignedInRequest) -> HttpResponse:
    """Show and change which mails are sent."""
    chosen = notification_settings(user_id=request.user.pk)
    form = NotificationsForm(request.POST or None, chosen=chosen)
    if request.method == "POST" and form.is_valid():
        choose_mails(
            user_id=request.user.pk,
            switched_off=form.switched_off,
            low_balance_hours=form.cleaned_data["low_balance_hours"],
            low_balance_minor=form.low_balance_minor,
            now=client_now(),
        )
        messages.success(request, _("Your choice of mails is saved."))
        return redirect("accounts:notifications")
    return render(request, "accounts/notifications.html", {"form": form})
