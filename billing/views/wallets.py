"""The overview of an organisation's wallets."""

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import get_language
from django.views.decorators.http import require_safe

from billing.countries import country_name
from billing.operations.topups import TopUpsClosed, check_gate
from billing.queries import billing_profile, recent_top_ups, wallets_of
from marketplace.accounts.http import SignedInRequest, paying


@require_safe
@paying
def wallets(request: SignedInRequest) -> HttpResponse:
    organisation_id = request.organisation.pk
    profile = billing_profile(organisation_id=organisation_id)
    language = get_language() or "en"
    return render(
        request,
        "billing/wallets.html",
        {
            "wallets": wallets_of(organisation_id=organisation_id),
            "top_ups": recent_top_ups(organisation_id=organisation_id),
            "profile": profile,
            "country": country_name(profile.country, language=language) if profile else "",
            "is_open": takes_money(),
        },
    )


def takes_money() -> bool:
    """Tell whether wallets take money now."""
    try:
        check_gate()
    except TopUpsClosed:
        return False
    return True
