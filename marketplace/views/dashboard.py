"""The customer's dashboard: what runs, what waits, what is left, what to do first."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from billing.models import BillingProfile
from billing.queries import wallets_of
from marketplace.accounts.http import SignedInRequest, signed_in
from marketplace.accounts.models import SshKey
from marketplace.queries.intentions import intentions_of
from marketplace.queries.orders import open_orders_of, orders_of
from marketplace.queries.rentals import live_rentals_of

# The dashboard shows this many of each; the lists show all.
GLANCE = 6


@require_safe
@signed_in
def dashboard(request: SignedInRequest) -> HttpResponse:
    organisation_id = request.organisation.pk
    wallets = wallets_of(organisation_id=organisation_id)
    context = {
        "wallets": wallets,
        "rentals": live_rentals_of(organisation_id=organisation_id)[:GLANCE],
        "orders": open_orders_of(organisation_id=organisation_id)[:GLANCE],
        "intentions": intentions_of(organisation_id=organisation_id)[:GLANCE],
        "steps": {
            "has_profile": BillingProfile.objects.filter(organisation_id=organisation_id).exists(),
            "has_money": any(wallet.posted_minor for wallet in wallets),
            "has_key": SshKey.objects.filter(user_id=request.user.pk).exists(),
            "has_order": orders_of(organisation_id=organisation_id).exists(),
        },
    }
    return render(request, "marketplace/dashboard.html", context)
