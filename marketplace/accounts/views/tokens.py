"""API tokens of a person."""

from datetime import timedelta

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from marketplace.accounts.forms import TokenForm
from marketplace.accounts.http import SignedInRequest, client_now, confirmed, form_page, signed_in
from marketplace.accounts.models import ApiToken
from marketplace.accounts.operations.tokens import (
    TOKENS_MAX,
    TooManyTokens,
    create_token,
    revoke_token,
)
from marketplace.accounts.queries import tokens_of


@form_page
@signed_in
@confirmed
def tokens(request: SignedInRequest) -> HttpResponse:
    """List the tokens, and make one: its text is on this answer and nowhere else."""
    form = TokenForm(request.POST or None, may_trade=request.membership.may_trade)
    text = ""
    if request.method == "POST" and form.is_valid():
        text = _made(form, request)
    context = {
        # A fresh form below a token that was made: the same name twice helps nobody.
        "form": TokenForm(may_trade=request.membership.may_trade) if text else form,
        "token_text": text,
        "tokens": tokens_of(user_id=request.user.pk),
        "now": client_now(),
        "api_address": f"{settings.PUBLIC_URL.rstrip('/')}/api/v1/me/",
    }
    return render(request, "accounts/tokens.html", context)


@require_POST
@signed_in
def revoke(request: SignedInRequest, pk: int) -> HttpResponse:
    """Revoke one of the viewer's tokens."""
    try:
        revoke_token(token_id=pk, user_id=request.user.pk, now=client_now())
    except ApiToken.DoesNotExist as error:
        raise Http404 from error
    messages.success(request, _("The token is revoked: it opens nothing any more."))
    return redirect("accounts:tokens")


def _made(form: TokenForm, request: SignedInRequest) -> str:
    """Return the text of the new token, or nothing and why at the form."""
    days = int(form.cleaned_data["days"])
    try:
        _token, text = create_token(
            membership=request.membership,
            name=form.cleaned_data["name"],
            scopes=form.cleaned_data["scopes"],
            lifetime=timedelta(days=days) if days else None,
            now=client_now(),
        )
    except TooManyTokens:
        form.add_error(
            None, _("You have %(count)s tokens. Revoke one first.") % {"count": TOKENS_MAX}
        )
        return ""
    return text
