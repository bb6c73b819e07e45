"""Sellers: companies that apply, and that staff verify, suspend or reject."""

from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from marketplace.accounts.models import Organisation
from marketplace.accounts.operations.audit import record_act
from marketplace.models import Seller, Server
from marketplace.operations.refusals import Refusal
from marketplace.operations.servers import tell_exchange

MAX_NOTE_LENGTH = 300


class SellerRefused(Refusal):
    """The application, or staff's decision on it, cannot be taken."""


@transaction.atomic
def apply_as_seller(*, organisation_id: int, actor_id: int, now: datetime) -> Seller:
    """Ask to sell hours. Safe to repeat; a rejected organisation applies again.

    Raises
    ------
    SellerRefused
        The organisation is a person: sellers are companies.
    """
    organisation = Organisation.objects.get(pk=organisation_id)
    if organisation.kind != Organisation.Kind.COMPANY:
        raise SellerRefused(
            "organisation",
            _("Sellers are companies: create a company organisation, then apply with it."),
        )
    seller, is_new = Seller.objects.get_or_create(
        organisation_id=organisation_id, defaults={"applied_at": now}
    )
    is_again = seller.state == Seller.State.REJECTED
    if is_again:
        seller.state, seller.applied_at, seller.note = Seller.State.APPLIED, now, ""
        seller.save(update_fields=["state", "applied_at", "note"])
    if is_new or is_again:
        _record(seller, action="seller.apply", actor_id=actor_id, now=now)
    return seller


@transaction.atomic
def verify_seller(*, seller_id: int, staff_id: int, now: datetime) -> Seller:
    """Let a seller sell, for the first time or again after a suspension. Safe to repeat."""
    seller = Seller.objects.select_related("organisation").get(pk=seller_id)
    if seller.state == Seller.State.VERIFIED:
        return seller
    was_suspended = seller.state == Seller.State.SUSPENDED
    seller.state, seller.note = Seller.State.VERIFIED, ""
    seller.verified_at = seller.verified_at or now
    seller.save(update_fields=["state", "note", "verified_at"])
    if was_suspended:
        _tell_exchange_of_servers(seller, staff_id=staff_id, now=now)
    _record(seller, action="seller.verify", actor_id=staff_id, now=now)
    return seller


@transaction.atomic
def reject_seller(*, seller_id: int, reason: str, staff_id: int, now: datetime) -> Seller:
    """Turn an application down, with a note that the seller reads.

    Raises
    ------
    SellerRefused
        The seller is verified or suspended already, or the reason is missing or too long.
    """
    seller = Seller.objects.get(pk=seller_id)
    if seller.state not in {Seller.State.APPLIED, Seller.State.REJECTED}:
        raise SellerRefused("state", _("Only an application can be rejected: suspend the seller."))
    if not reason.strip():
        raise SellerRefused("reason", _("Write the reason: the seller reads it."))
    _set_state(seller, state=Seller.State.REJECTED, note=reason)
    _record(seller, action="seller.reject", actor_id=staff_id, now=now)
    return seller


@transaction.atomic
def suspend_seller(*, seller_id: int, staff_id: int, now: datetime, reason: str = "") -> Seller:
    """Stop a seller's sales. Offers stay listed and sell nothing; sold rentals go on.

    Raises
    ------
    SellerRefused
        The seller was never verified, or the reason is too long.
    """
    seller = Seller.objects.get(pk=seller_id)
    if seller.state == Seller.State.SUSPENDED:
        return seller
    if seller.state != Seller.State.VERIFIED:
        raise SellerRefused("state", _("Only a verified seller can be suspended: reject it."))
    _set_state(seller, state=Seller.State.SUSPENDED, note=reason)
    _tell_exchange_of_servers(seller, staff_id=staff_id, now=now)
    _record(seller, action="seller.suspend", actor_id=staff_id, now=now)
    return seller


@transaction.atomic
def allow_delivery_by_hand(*, seller_id: int, staff_id: int, now: datetime) -> Seller:
    """Let a seller hand machines over without the agent. Safe to repeat."""
    seller = Seller.objects.get(pk=seller_id)
    if seller.delivers_by_hand:
        return seller
    seller.delivers_by_hand = True
    seller.save(update_fields=["delivers_by_hand"])
    _record(seller, action="seller.allow_by_hand", actor_id=staff_id, now=now)
    return seller


def _set_state(seller: Seller, *, state: Seller.State, note: str) -> None:
    if len(note) > MAX_NOTE_LENGTH:
        raise SellerRefused("reason", _("Shorten the reason to 300 characters."))
    seller.state, seller.note = state, note
    seller.save(update_fields=["state", "note"])


def _tell_exchange_of_servers(seller: Seller, *, staff_id: int, now: datetime) -> None:
    for server in Server.objects.filter(organisation_id=seller.organisation_id).order_by("pk"):
        tell_exchange(server=server, seller=seller, actor_id=staff_id, now=now)


def _record(seller: Seller, *, action: str, actor_id: int, now: datetime) -> None:
    record_act(
        actor_id=actor_id,
        organisation_id=seller.organisation_id,
        action=action,
        object_type="seller",
        object_id=seller.pk,
        now=now,
    )
