"""The billing profile: asked before the first top-up, changed at any time."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from billing.forms import ProfileForm
from billing.operations.profiles import save_profile
from billing.queries import billing_profile
from marketplace.accounts.http import SignedInRequest, client_now, form_page, paying, safe_next


@form_page
@paying
def profile(request: SignedInRequest) -> HttpResponse:
    standing = billing_profile(organisation_id=request.organisation.pk)
    following = safe_next(request, request.POST.get("next") or request.GET.get("next"))
    initial = ProfileForm.initial_of(request.organisation, standing)
    form = ProfileForm(request.POST or None, initial=initial)
    if request.method == "POST" and form.is_valid():
        save_profile(
            organisation_id=request.organisation.pk,
            actor_id=request.user.pk,
            details=form.details(),
            now=client_now(),
        )
        messages.success(request, _("Your billing profile is saved."))
        return redirect(following or "billing:wallets")
    return render(
        request,
        "billing/profile.html",
        {"form": form, "profile": standing, "next": following},
        status=422 if form.is_bound else 200,
    )
