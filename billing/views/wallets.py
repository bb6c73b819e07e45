"""The overview of an organisation's wallets."""

from django.http import HttpResponse
from django.shortcuts import render

from billing.operations.topups import TopUpsClosed, check_gate
from billing.queries import billing_profile, recent_top_ups, wallets_of
from marketplace.accounts.http import SignedInRequest, paying


@paying
def wallets(request: SignedInRequest) -> HttpResponse:
    organisation_id = request.organisation.pk
    return render(
        request,
        "billing/wallets.html",
        {
            "wallets": wallets_of(organisation_id=organisation_id),
            "top_ups": recent_top_ups(organisation_id=organisation_id),
            "profile": billing_profile(organisation_id=organisation_id),
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
