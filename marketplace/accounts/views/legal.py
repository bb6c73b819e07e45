"""Legal texts, and the consent to them."""

from datetime import date

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from marketplace.accounts.forms import AcceptTermsForm
from marketplace.accounts.http import (
    SignedInRequest,
    client_now,
    form_page,
    safe_next,
    signed_in,
)
from marketplace.accounts.markdown import headings
from marketplace.accounts.markdown import render as render_markdown
from marketplace.accounts.merchant import fill_in, missing_identity
from marketplace.accounts.models import Language, LegalKey, LegalText
from marketplace.accounts.operations.legal import TermsChanged, accept_terms
from marketplace.accounts.queries import acceptances_of, legal_versions, terms_to_accept


@require_safe
def legal(request: HttpRequest, key: str) -> HttpResponse:
    """Show a text in its version in force, or in an earlier one that the address names."""
    language, versions = _versions(key)
    if not versions:
        raise Http404
    asked = request.GET.get("version", "")
    text = _chosen(versions, asked) or versions[0]
    body = fill_in(text.body, language=language)
    context = {
        "text": text,
        "in_force": versions[0],
        "versions": versions,
        "is_version_unknown": bool(asked) and _chosen(versions, asked) is None,
        "is_other_language": language != get_language(),
        "body": render_markdown(body),
        "headings": headings(body),
        "missing": missing_identity(),
        "texts": LegalKey.choices,
    }
    return render(request, "accounts/legal.html", context)


@form_page
@signed_in
def accept(request: SignedInRequest) -> HttpResponse:
    """Ask for consent to what is in force, and lead back; or show what was accepted."""
    asked = terms_to_accept(user_id=request.user.pk)
    following = safe_next(request, request.POST.get("next") or request.GET.get("next"))
    form = AcceptTermsForm(request.POST or None, asked=asked)
    if request.method == "POST" and form.is_valid() and _accepted(form, request):
        messages.success(request, _("Thank you. You have accepted the terms in force."))
        return redirect(following or "accounts:accept_terms")
    context = {
        "form": form,
        "asked": [(LegalKey(key).label, key, version) for key, version in asked.items()],
        "following": following,
        "acceptances": acceptances_of(user_id=request.user.pk),
    }
    return render(request, "accounts/accept_terms.html", context)


def _versions(key: str) -> tuple[str, list[LegalText]]:
    """Return the language of the page and its versions; another language when there is none."""
    page_language = get_language() or Language.ENGLISH
    for language in (page_language, *Language.values):
        versions = legal_versions(key=key, language=language)
        if versions:
            return language, versions
    return page_language, []


def _chosen(versions: list[LegalText], asked: str) -> LegalText | None:
    try:
        version = date.fromisoformat(asked)
    except ValueError:
        return None
    return next((text for text in versions if text.version == version), None)


def _accepted(form: AcceptTermsForm, request: SignedInRequest) -> bool:
    try:
        accept_terms(
            user_id=request.user.pk,
            shown=form.shown,
            language=get_language() or Language.ENGLISH,
            now=client_now(),
        )
    except TermsChanged:
        form.add_error(None, _("A newer version came into force meanwhile. Read it, please."))
    return form.is_valid()
