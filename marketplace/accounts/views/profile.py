"""What a person says about themselves."""

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import override

from marketplace.accounts.forms import ProfileForm
from marketplace.accounts.http import SignedInRequest, client_now, form_page, signed_in
from marketplace.accounts.models import User
from marketplace.accounts.operations.people import update_profile

YEAR_SECONDS = 365 * 24 * 3600


@form_page
@signed_in
def profile(request: SignedInRequest) -> HttpResponse:
    """Show and change name, language and time zone."""
    # A copy: a refused form must not change the person whom the page's head greets.
    person = User.objects.get(pk=request.user.pk)
    form = ProfileForm(request.POST or None, instance=person)
    if request.method != "POST" or not form.is_valid():
        return render(request, "accounts/profile.html", {"form": form})
    update_profile(
        user=person,
        name=form.cleaned_data["name"],
        language=form.cleaned_data["language"],
        time_zone=form.cleaned_data["time_zone"],
        now=client_now(),
    )
    return _go_on_in(person.language, request)


def _go_on_in(language: str, request: SignedInRequest) -> HttpResponse:
    with override(language):
        messages.success(request, _("Your profile is saved."))
        response = redirect(reverse("accounts:profile"))
    response.set_cookie(
        settings.LANGUAGE_COOKIE_NAME,
        language,
        max_age=YEAR_SECONDS,
        secure=settings.SESSION_COOKIE_SECURE,
        samesite="Lax",
    )
    return response
