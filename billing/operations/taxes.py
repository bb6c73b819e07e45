"""The tax of an organisation's purchases."""

from datetime import date

from django.conf import settings

from billing.models import BillingProfile
from billing.tax import TaxDecision, TaxStatus, decide
from marketplace.accounts.models import Organisation


class BillingProfileMissing(Exception):
    """An organisation has not said yet where it is, so its tax is unknown."""

    def __init__(self, organisation_id: int) -> None:
        super().__init__(str(organisation_id))
        self.organisation_id = organisation_id


def tax_for(*, organisation_id: int, on: date) -> TaxDecision:
    """Return the tax on what the organisation buys that day.

    Raises
    ------
    BillingProfileMissing
        It has no billing profile.
    """
    profile = (
        BillingProfile.objects.select_related("organisation")
        .filter(organisation_id=organisation_id)
        .first()
    )
    if profile is None:
        raise BillingProfileMissing(organisation_id)
    customer = TaxStatus(
        country=profile.country,
        is_business=profile.organisation.kind == Organisation.Kind.COMPANY,
        has_checked_vat_id=bool(profile.vat_id) and profile.vat_id_checked_at is not None,
    )
    return decide(customer=customer, merchant_country=settings.MERCHANT_COUNTRY, on=on)
