"""Bids: preview, place and cancel a customer's order. The exchange answers with its next batch."""

from dataclasses import asdict
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from billing.money import hold_minor
from billing.operations.holds import InsufficientFunds, place_hold
from billing.operations.taxes import BillingProfileMissing, tax_for
from billing.tax import TaxDecision
from marketplace.accounts.operations.audit import record_act
from marketplace.locks import lock_organisation
from marketplace.models import Bid, Command
from marketplace.operations.bid_checks import (
    BidOrder,
    OrderRefused,
    check_placing,
    check_ssh_key,
    check_terms,
)
from marketplace.operations.bid_previews import BidPreview, draft_bid, preview_bid
from marketplace.operations.commands import (
    KeyReused,
    earlier_command,
    fingerprint_of,
    submit_command,
)

__all__ = [
    "BidOrder",
    "BidPreview",
    "InsufficientFunds",
    "KeyReused",
    "OrderRefused",
    "cancel_bid",
    "place_bid",
    "preview_bid",
]

MAX_KEY_LENGTH = 64


@transaction.atomic
def place_bid(*, order: BidOrder, actor_id: int, key: str, now: datetime) -> Bid:
    """Hold what the order could cost at most, and hand it to the exchange.

    Safe to repeat: the same key with the same order gives back the same bid.

    Raises
    ------
    OrderRefused
        Names the field and the way out; nothing is placed or held.
    KeyReused
        The key came with another order.
    InsufficientFunds
        The wallet's free balance is smaller than the hold; says what is missing.
    """
    if not 1 <= len(key) <= MAX_KEY_LENGTH:
        raise OrderRefused("idempotency_key", _("Give a key of 1 to 64 characters."))
    organisation = lock_organisation(organisation_id=order.organisation_id)
    fingerprint = fingerprint_of({"act": "place_bid"} | asdict(order))
    earlier = earlier_command(organisation_id=organisation.pk, key=key, fingerprint=fingerprint)
    if earlier is not None:
        assert earlier.bid is not None
        return earlier.bid
    gpu_model = check_terms(order)
    check_placing(organisation=organisation, gpu_model_id=gpu_model.pk)
    if order.limit_price_micro is None:
        raise OrderRefused("limit_price", _("Give the price that you accept."))
    ssh_public_key = check_ssh_key(order)
    bid = draft_bid(order, gpu_model=gpu_model, now=now)
    bid.placed_by_id, bid.ssh_public_key = actor_id, ssh_public_key
    _store_and_hold(bid, now=now)
    submit_command(
        kind=Command.Kind.PLACE_BID,
        organisation_id=organisation.pk,
        actor_id=actor_id,
        bid_id=bid.pk,
        key=key,
        fingerprint=fingerprint,
        now=now,
    )
    _record(bid, action="bid.place", actor_id=actor_id, now=now)
    return bid


@transaction.atomic
def cancel_bid(*, bid_id: int, organisation_id: int, actor_id: int, now: datetime) -> Bid:
    """Ask the exchange to take a waiting bid back; its hold is freed with the next batch.

    A fill that was numbered before wins. Safe to repeat while the bid is open. A bid of another
    organisation does not exist here.

    Raises
    ------
    OrderRefused
        The order is filled or closed already.
    """
    bid = Bid.objects.get(pk=bid_id, organisation_id=organisation_id)
    if not bid.is_open:
        raise OrderRefused("bid", _("This order is not open any more: see its page."))
    waiting = Command.objects.filter(bid=bid, kind=Command.Kind.CANCEL_BID, sequence__isnull=True)
    if not waiting.exists():
        submit_command(
            kind=Command.Kind.CANCEL_BID,
            organisation_id=organisation_id,
            actor_id=actor_id,
            bid_id=bid.pk,
            now=now,
        )
        _record(bid, action="bid.cancel", actor_id=actor_id, now=now)
    return bid


def _store_and_hold(bid: Bid, *, now: datetime) -> None:
    tax = _tax(organisation_id=bid.organisation_id, now=now)
    bid.vat_bps, bid.vat_country, bid.vat_rule = tax.rate_bps, tax.country, tax.rule
    bid.save(force_insert=True)
    place_hold(
        organisation_id=bid.organisation_id,
        currency=bid.currency,
        amount_minor=hold_minor(
            price_micro=bid.limit_price_micro,
            gpus=bid.gpus,
            hours=bid.hours,
            vat_bps=bid.vat_bps,
        ),
        purpose=bid.hold_purpose,
        now=now,
    )


def _tax(*, organisation_id: int, now: datetime) -> TaxDecision:
    try:
        return tax_for(organisation_id=organisation_id, on=now.date())
    except BillingProfileMissing as error:
        raise OrderRefused(
            "billing_profile", _("Say first where you are: your country decides the tax.")
        ) from error


def _record(bid: Bid, *, action: str, actor_id: int, now: datetime) -> None:
    record_act(
        actor_id=actor_id,
        organisation_id=bid.organisation_id,
        action=action,
        object_type="bid",
        object_id=bid.pk,
        now=now,
    )
