"""The demo's sellers at work: they hand their machines over through the sellers' own operation."""

from datetime import datetime
from functools import cache

from django.conf import settings
from django.db.models import QuerySet

from config.demo.cast import EMAIL_DOMAIN, machines
from marketplace.accounts.models import Membership
from marketplace.models import Rental
from marketplace.operations.deliveries import HandOver, HandOverRefused, RentalNotFound, hand_over

USERNAME = "guest"


class NoDemoMachine(Exception):
    """The settings do not say where the demo's SSH server is."""


def demo_access() -> HandOver:
    """Return what every demo seller types: the address and key of the demo's SSH server."""
    if not (settings.DEMO_SSH_PORT and settings.DEMO_SSH_FINGERPRINT):
        raise NoDemoMachine
    return HandOver(
        host=settings.DEMO_SSH_HOST,
        port=settings.DEMO_SSH_PORT,
        username=USERNAME,
        host_key_fingerprint=settings.DEMO_SSH_FINGERPRINT,
    )


def deliver_waiting(*, now: datetime) -> int:
    """Hand over every sold machine of the demo that waits for it; return how many."""
    return sum(deliver(rental, now=now) for rental in waiting_rentals())


def waiting_rentals() -> QuerySet[Rental]:
    """Return the rentals to hand over, the most urgent first.

    Only the demo's own machines: one that a visitor adds is left for the visitor to hand over.
    """
    return (
        Rental.objects.filter(
            state__in=[Rental.State.SOLD, Rental.State.PREPARING],
            handed_over_at__isnull=True,
            ended_at__isnull=True,
            server__name__in=_machine_names(),
            server__organisation__memberships__user__email__endswith=f"@{EMAIL_DOMAIN}",
        )
        .select_related("fill")
        .distinct()
        .order_by("starts_at", "pk")
    )


def deliver(rental: Rental, *, now: datetime) -> bool:
    """Hand one machine over; say whether it was still time for it."""
    try:
        hand_over(
            rental_id=rental.pk,
            organisation_id=rental.fill.seller_id,
            actor_id=_owner_id(rental.fill.seller_id),
            access=demo_access(),
            now=now,
        )
    except (RentalNotFound, HandOverRefused):
        return False
    return True


@cache
def _machine_names() -> frozenset[str]:
    return frozenset(machine.name for machine in machines())


def _owner_id(organisation_id: int) -> int:
    owners = Membership.objects.filter(organisation_id=organisation_id, role=Membership.Role.OWNER)
    return owners.order_by("pk").values_list("user_id", flat=True)[0]
