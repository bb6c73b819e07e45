"""Who is invoiced, and where."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from billing.models import BillingProfile
from marketplace.accounts.models import Organisation
from marketplace.accounts.operations.audit import record_act


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileDetails:
    """What a customer says about itself. ``vat_id`` is normalised, or empty."""

    kind: str
    legal_name: str
    address: str
    postal_code: str
    city: str
    country: str
    vat_id: str


@transaction.atomic
def save_profile(
    *, organisation_id: int, actor_id: int, details: ProfileDetails, now: datetime
) -> BillingProfile:
    """Store the billing profile. A new country or VAT number is unchecked again.

    Orders placed before keep the tax that was frozen on them.
    """
    standing = BillingProfile.objects.filter(organisation_id=organisation_id).first()
    Organisation.objects.filter(pk=organisation_id).update(kind=details.kind)
    profile, _is_new = BillingProfile.objects.update_or_create(
        organisation_id=organisation_id,
        defaults={
            "legal_name": details.legal_name,
            "address": details.address,
            "postal_code": details.postal_code,
            "city": details.city,
            "country": details.country,
            "vat_id": details.vat_id,
            "vat_id_checked_at": _still_checked_at(standing, details),
            "updated_at": now,
        },
    )
    record_act(
        actor_id=actor_id,
        organisation_id=organisation_id,
        action="billing.profile_saved",
        object_type="billing_profile",
        object_id=profile.pk,
        details={"country": details.country, "kind": details.kind},
        now=now,
    )
    return profile


def _still_checked_at(standing: BillingProfile | None, details: ProfileDetails) -> datetime | None:
    if standing is None or not details.vat_id:
        return None
    is_same = (standing.vat_id, standing.country) == (details.vat_id, details.country)
    return standing.vat_id_checked_at if is_same else None


@transaction.atomic
def confirm_vat_ids(*, profile_ids: Collection[int], staff_id: int, now: datetime) -> int:
    """Note that the authorities know these companies' numbers; return how many were new.

    A profile without a number is passed over, and so is one that was confirmed before.
    """
    waiting = BillingProfile.objects.filter(
        pk__in=profile_ids, vat_id_checked_at__isnull=True
    ).exclude(vat_id="")
    confirmed = list(waiting.order_by("pk"))
    for profile in confirmed:
        record_act(
            actor_id=staff_id,
            organisation_id=profile.organisation_id,
            action="billing.vat_id_confirmed",
            object_type="billing_profile",
            object_id=profile.pk,
            now=now,
        )
    BillingProfile.objects.filter(pk__in=[profile.pk for profile in confirmed]).update(
        vat_id_checked_at=now
    )
    return len(confirmed)
