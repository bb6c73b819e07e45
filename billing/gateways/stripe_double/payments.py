"""What can happen to a payment: paid, declined, sent to the bank, expired, refunded.

Each act runs inside ``store.changing()`` and announces the events that Stripe would send, in the
order in which Stripe makes them.
"""

import copy
from dataclasses import dataclass
from enum import StrEnum

from billing.gateways.stripe_double import objects
from billing.gateways.stripe_double.cards import CARDS, Card
from billing.gateways.stripe_double.errors import ApiError
from billing.gateways.stripe_double.store import Document, Store, new_id

# Stripe's published price for a European card: 1.5 % and 25 minor units, half up.
FEE_BPS = 150
FEE_FIXED_MINOR = 25

_NO_REQUEST: Document = {"id": None, "idempotency_key": None}


class Outcome(StrEnum):
    """How one submission of the hosted page ended."""

    PAID = "paid"
    DECLINED = "declined"
    NEEDS_AUTHENTICATION = "needs_authentication"


@dataclass(frozen=True, kw_only=True)
class Act:
    """Who acts on what, and when. ``request`` names the API call that events belong to."""

    store: Store
    now: int
    has_webhook: bool = False
    are_fees_late: bool = False
    request: Document | None = None

    def announce(self, kind: str, document: Document) -> None:
        """Send out an event about an object as it is now."""
        snapshot = copy.deepcopy(objects.public(document))
        event = objects.event(
            now=self.now,
            kind=kind,
            snapshot=snapshot,
            request=self.request or _NO_REQUEST,
            pending=1 if self.has_webhook else 0,
        )
        self.store.announce(event)


def submit_card(*, act: Act, session: Document, card: Card, billing: Document) -> Outcome:
    """Try a card on an open session, as a customer does who presses the pay button."""
    intent = _intent_of(act=act, session=session)
    intent["payment_method"] = new_id("pm")
    # A number that is no test card may be somebody's real one: it is never kept.
    intent["_card_number"] = card.number if card.number in CARDS else ""
    intent["_billing"] = billing
    intent["last_payment_error"] = None
    session["customer_details"] = _customer_details(billing)
    if card.needs_authentication:
        return _ask_for_authentication(act=act, session=session, intent=intent)
    if card.decline_code is not None:
        return _decline(act=act, session=session, intent=intent, card=card)
    return _succeed(act=act, session=session, intent=intent, card=card)


def answer_authentication(*, act: Act, session: Document, is_authenticated: bool) -> Outcome:
    """Close the bank's question with the customer's answer."""
    intent = act.store.find("payment_intents", session["payment_intent"])
    assert intent is not None
    assert intent["status"] == "requires_action"
    intent["next_action"] = None
    card = CARDS[intent["_card_number"]]
    if is_authenticated:
        return _succeed(act=act, session=session, intent=intent, card=card)
    return _fail_authentication(act=act, session=session, intent=intent)


def expire(*, act: Act, session: Document) -> None:
    """Close an open session for ever, with its intent."""
    session.update(status="expired", url=None)
    act.store.save("checkout_sessions", session)
    intent = act.store.find("payment_intents", session["payment_intent"] or "")
    if intent is not None:
        intent.update(
            status="canceled",
            canceled_at=act.now,
            cancellation_reason="expired",
            next_action=None,
        )
        act.store.save("payment_intents", intent)
        act.announce("payment_intent.canceled", intent)
    act.announce("checkout.session.expired", session)


def expire_due(*, act: Act) -> None:
    """Expire every open session whose time is up."""
    for session in act.store.newest_first("checkout_sessions"):
        if session["status"] == "open" and session["expires_at"] <= act.now:
            expire(act=act, session=session)


def refund(*, act: Act, charge: Document, amount: int | None, fields: Document) -> Document:
    """Give back ``amount`` minor units of a charge, or all that is left of it."""
    left = charge["amount_captured"] - charge["amount_refunded"]
    _check_refundable(charge=charge, amount=amount, left=left)
    document = objects.refund(
        now=act.now,
        amount=left if amount is None else amount,
        charge_document=charge,
        fields=fields,
    )
    document["status"] = CARDS[charge["_card_number"]].refund_status
    _book_refund(act=act, charge=charge, document=document)
    act.store.save("refunds", document)
    act.announce("refund.created", document)
    act.announce("charge.refunded", charge)
    return document


def settle_refund(*, act: Act, document: Document, is_successful: bool) -> None:
    """Bring a refund to its end; a failed one returns its money to the charge."""
    document["status"] = "succeeded" if is_successful else "failed"
    act.store.save("refunds", document)
    if is_successful:
        act.announce("refund.updated", document)
        return
    document["failure_reason"] = "lost_or_stolen_card"
    charge = act.store.find("charges", document["charge"])
    assert charge is not None
    charge["amount_refunded"] -= document["amount"]
    charge["refunded"] = False
    act.store.save("charges", charge)
    back = objects.balance_transaction(
        now=act.now, amount=document["amount"], fee=0, source=document, kind="refund_failure"
    )
    act.store.save("balance_transactions", back)
    document["failure_balance_transaction"] = back["id"]
    act.announce("refund.failed", document)


def settle_fee(*, act: Act, charge: Document) -> Document:
    """Write the balance line of a charge whose fee came late."""
    line = _charge_line(act=act, charge=charge)
    act.announce("charge.updated", charge)
    return line


def _intent_of(*, act: Act, session: Document) -> Document:
    intent = act.store.find("payment_intents", session["payment_intent"] or "")
    if intent is None:
        intent = objects.payment_intent(now=act.now, session=session)
        session["payment_intent"] = intent["id"]
        act.store.save("checkout_sessions", session)
        act.announce("payment_intent.created", intent)
    return act.store.save("payment_intents", intent)


def _succeed(*, act: Act, session: Document, intent: Document, card: Card) -> Outcome:
    charge = objects.charge(
        now=act.now, intent=intent, card=card, billing=intent["_billing"], is_paid=True
    )
    charge["_card_number"] = card.number
    act.store.save("charges", charge)
    if not act.are_fees_late:
        _charge_line(act=act, charge=charge)
    intent.update(status="succeeded", amount_received=intent["amount"], latest_charge=charge["id"])
    act.store.save("payment_intents", intent)
    session.update(status="complete", payment_status="paid", url=None)
    act.store.save("checkout_sessions", session)
    act.announce("charge.succeeded", charge)
    act.announce("payment_intent.succeeded", intent)
    act.announce("checkout.session.completed", session)
    return Outcome.PAID


def _decline(*, act: Act, session: Document, intent: Document, card: Card) -> Outcome:
    charge = objects.charge(
        now=act.now, intent=intent, card=card, billing=intent["_billing"], is_paid=False
    )
    act.store.save("charges", charge)
    intent.update(
        status="requires_payment_method",
        latest_charge=charge["id"],
        payment_method=None,
        last_payment_error={
            "charge": charge["id"],
            "code": "card_declined",
            "decline_code": card.decline_code,
            "message": card.decline_message,
            "type": "card_error",
        },
    )
    act.store.save("payment_intents", intent)
    act.store.save("checkout_sessions", session)
    act.announce("charge.failed", charge)
    act.announce("payment_intent.payment_failed", intent)
    return Outcome.DECLINED


def _ask_for_authentication(*, act: Act, session: Document, intent: Document) -> Outcome:
    intent.update(
        status="requires_action",
        next_action={
            "type": "use_stripe_sdk",
            "use_stripe_sdk": {"type": "three_d_secure_redirect"},
        },
    )
    act.store.save("payment_intents", intent)
    act.store.save("checkout_sessions", session)
    act.announce("payment_intent.requires_action", intent)
    return Outcome.NEEDS_AUTHENTICATION


def _fail_authentication(*, act: Act, session: Document, intent: Document) -> Outcome:
    intent.update(
        status="requires_payment_method",
        payment_method=None,
        last_payment_error={
            "code": "payment_intent_authentication_failure",
            "message": "The provided PaymentMethod has failed authentication.",
            "type": "invalid_request_error",
        },
    )
    act.store.save("payment_intents", intent)
    act.store.save("checkout_sessions", session)
    act.announce("payment_intent.payment_failed", intent)
    return Outcome.DECLINED


def _charge_line(*, act: Act, charge: Document) -> Document:
    line = objects.balance_transaction(
        now=act.now,
        amount=charge["amount"],
        fee=fee_minor(amount_minor=charge["amount"]),
        source=charge,
        kind="charge",
    )
    act.store.save("balance_transactions", line)
    charge["balance_transaction"] = line["id"]
    act.store.save("charges", charge)
    return line


def fee_minor(*, amount_minor: int) -> int:
    """Return the processing fee of a charge, in minor units, half up."""
    return (amount_minor * FEE_BPS * 2 + 10_000) // 20_000 + FEE_FIXED_MINOR


def _customer_details(billing: Document) -> Document:
    return {
        "address": billing["address"],
        "business_name": None,
        "email": billing["email"],
        "individual_name": None,
        "name": billing["name"],
        "phone": None,
        "tax_exempt": "none",
        "tax_ids": [],
    }


def _check_refundable(*, charge: Document, amount: int | None, left: int) -> None:
    if left == 0:
        message = f"Charge {charge['id']} has already been refunded."
        raise ApiError(message, code="charge_already_refunded")
    if amount is not None and amount > left:
        currency = charge["currency"].upper()
        message = (
            f"Refund amount ({_decimal(amount)} {currency}) is greater than "
            f"unrefunded amount on charge ({_decimal(left)} {currency})"
        )
        raise ApiError(message, param="amount")


def _decimal(amount_minor: int) -> str:
    return f"{amount_minor // 100}.{amount_minor % 100:02d}"


def _book_refund(*, act: Act, charge: Document, document: Document) -> None:
    line = objects.balance_transaction(
        now=act.now, amount=-document["amount"], fee=0, source=document, kind="refund"
    )
    act.store.save("balance_transactions", line)
    document["balance_transaction"] = line["id"]
    charge["amount_refunded"] += document["amount"]
    charge["refunded"] = charge["amount_refunded"] == charge["amount_captured"]
    act.store.save("charges", charge)
