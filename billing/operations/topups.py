"""Top-ups: money paid by card becomes a wallet's balance, once.

The row comes first, then the call to the provider outside any transaction, then the result. A
top-up is paid only when the provider's own objects, read again, say so with our amount, currency
and number; the webhook, the page after payment and the sweep all end in `apply_checkout`.
"""

import logging
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext

from billing.gateways import stripe as gateway
from billing.locks import lock_top_up
from billing.models import BillingProfile, Journal, TopUp, TopUpGate
from billing.operations.journals import Act, KeyReused, open_ledger, write_journals
from billing.operations.taxes import BillingProfileMissing
from billing.posting import AccountKind, AccountRef, top_up_legs
from marketplace.accounts.models import User
from marketplace.accounts.operations.audit import record_act

__all__ = ["BillingProfileMissing", "KeyReused"]

logger = logging.getLogger(__name__)

UNSETTLED = (TopUp.State.CREATED, TopUp.State.REDIRECTED, TopUp.State.PROCESSING)
# The provider's page closes after a day. A row that never got one is given up a little later.
PAGE_LIFE = timedelta(hours=25)


class TopUpsClosed(Exception):
    """Wallets take no money now: the market has not opened."""

    def __init__(self, reason: str = "") -> None:
        super().__init__(reason)
        self.reason = reason


class AmountOutOfBounds(Exception):
    """A top-up is smaller or larger than we take."""


class PaymentPageUnavailable(Exception):
    """The provider did not give a payment page. The same key may be tried again."""


class UnknownCheckout(Exception):
    """A payment session that belongs to none of our top-ups."""


class PaymentMismatch(Exception):
    """The provider's payment differs from our top-up: nothing is credited, an operator must look."""


@dataclass(frozen=True, slots=True)
class Payment:
    """What the provider says of a session, read just now."""

    session: gateway.CheckoutSession
    intent: gateway.PaymentIntent | None

    @property
    def is_paid(self) -> bool:
        return (
            self.session.payment_status == "paid"
            and self.intent is not None
            and self.intent.status == "succeeded"
        )

    @property
    def has_failed(self) -> bool:
        """Complete without money, and the bank has said no: an ordinary decline stays open."""
        return (
            self.session.status == "complete"
            and self.intent is not None
            and self.intent.status in {"requires_payment_method", "canceled"}
        )


def set_gate(*, is_open: bool, now: datetime, reason: str = "") -> None:
    """Open or close wallets for money; the market's state decides."""
    TopUpGate.objects.update_or_create(
        id=1, defaults={"is_open": is_open, "reason": reason, "changed_at": now}
    )


def check_gate() -> None:
    """Raise `TopUpsClosed` unless wallets take money; closed when nobody has said anything."""
    gate = TopUpGate.objects.filter(id=1).first()
    if gate is None or not gate.is_open:
        raise TopUpsClosed(gate.reason if gate else "")


def start_top_up(  # noqa: PLR0913 - who, what and how to answer
    *,
    organisation_id: int,
    user_id: int,
    currency: str,
    amount_minor: int,
    key: str,
    locale: str,
    now: datetime,
) -> TopUp:
    """Create a top-up and its payment page; the same key gives the same top-up.

    Raises
    ------
    TopUpsClosed, AmountOutOfBounds, BillingProfileMissing
        Nothing was created.
    KeyReused
        The key stands for another amount or currency.
    PaymentPageUnavailable
        The row stands, without a page.
    """
    check_gate()
    if not settings.TOP_UP_MIN_MINOR <= amount_minor <= settings.TOP_UP_MAX_MINOR:
        raise AmountOutOfBounds
    if not BillingProfile.objects.filter(organisation_id=organisation_id).exists():
        raise BillingProfileMissing(organisation_id)
    top_up = _created(
        TopUp(
            organisation_id=organisation_id,
            user_id=user_id,
            currency=currency,
            amount_minor=amount_minor,
            idempotency_key=key,
            created_at=now,
        )
    )
    if top_up.state != TopUp.State.CREATED:
        return top_up
    return _opened(top_up, session=_new_page(top_up, locale=locale, now=now))


@transaction.atomic
def _created(wanted: TopUp) -> TopUp:
    """Return the row of this key, writing it when it is new."""
    row, is_new = TopUp.objects.get_or_create(
        organisation_id=wanted.organisation_id,
        idempotency_key=wanted.idempotency_key,
        defaults={
            "user_id": wanted.user_id,
            "currency": wanted.currency,
            "amount_minor": wanted.amount_minor,
            "created_at": wanted.created_at,
        },
    )
    if (row.currency, row.amount_minor) != (wanted.currency, wanted.amount_minor):
        raise KeyReused(wanted.idempotency_key)
    if is_new:
        _audit(row, "top_up.started", actor_id=row.user_id, now=row.created_at)
    return row


def _new_page(top_up: TopUp, *, locale: str, now: datetime) -> gateway.CheckoutSession:
    email = User.objects.values_list("email", flat=True).get(pk=top_up.user_id)
    with translation.override(locale):
        status_url = settings.PUBLIC_URL + reverse("billing:top_up_status", args=[top_up.pk])
        description = gettext("Top-up of the %(currency)s wallet") % {"currency": top_up.currency}
    try:
        return gateway.create_checkout_session(
            topup_id=top_up.pk,
            organisation_id=top_up.organisation_id,
            amount_minor=top_up.amount_minor,
            currency=top_up.currency,
            locale=locale,
            success_url=status_url,
            cancel_url=f"{status_url}?left=1",
            customer_email=email,
            idempotency_key=f"topup:{top_up.pk}",
            description=description,
        )
    except gateway.GatewayRefused as refusal:
        logger.exception("the provider refuses a payment page", extra={"top_up": top_up.pk})
        _fail(top_up, failure=refusal.code, now=now)
        raise PaymentPageUnavailable from refusal
    except gateway.GatewayUnavailable as failure:
        raise PaymentPageUnavailable from failure


@transaction.atomic
def _opened(top_up: TopUp, *, session: gateway.CheckoutSession) -> TopUp:
    """Store the page's address, unless a webhook was faster and the top-up has moved on."""
    row = _locked(top_up.pk)
    row.checkout_session_id = session.id
    row.checkout_url = session.url or ""
    if row.state == TopUp.State.CREATED:
        row.state = TopUp.State.REDIRECTED
    row.save(update_fields=["checkout_session_id", "checkout_url", "state"])
    return row


@transaction.atomic
def _fail(top_up: TopUp, *, failure: str, now: datetime) -> None:
    row = _locked(top_up.pk)
    if row.state == TopUp.State.CREATED:
        row.state, row.failure, row.settled_at = TopUp.State.FAILED, failure[:200], now
        row.save(update_fields=["state", "failure", "settled_at"])


def apply_checkout(*, session_id: str, now: datetime) -> TopUp:
    """Read a payment session again and bring its top-up to the state it shows. Safe to repeat.

    Raises
    ------
    UnknownCheckout
        The session is none of ours.
    PaymentMismatch
        Amount, currency or number differ; nothing was credited.
    GatewayUnavailable, GatewayRefused
        The provider could not be asked; nothing has changed.
    """
    session = gateway.retrieve_checkout_session(session_id=session_id)
    intent = None
    if session.payment_intent_id is not None:
        intent = gateway.retrieve_payment_intent(payment_intent_id=session.payment_intent_id)
    return _apply(Payment(session, intent), now=now)


@transaction.atomic
def _apply(payment: Payment, *, now: datetime) -> TopUp:
    top_up = _top_up_of(payment.session)
    if top_up.state == TopUp.State.PAID:
        return top_up
    _check_same(top_up, payment)
    top_up.checkout_session_id = payment.session.id
    top_up.checked_at = now
    if payment.is_paid:
        _credit(top_up, payment, now=now)
    elif payment.session.status == "expired":
        _settle(top_up, TopUp.State.EXPIRED, now=now)
    elif payment.has_failed:
        _settle(top_up, TopUp.State.FAILED, now=now)
    elif payment.session.status == "complete":
        top_up.state = TopUp.State.PROCESSING
    elif top_up.state == TopUp.State.CREATED:
        top_up.state = TopUp.State.REDIRECTED
    top_up.save()
    return top_up


def _top_up_of(session: gateway.CheckoutSession) -> TopUp:
    """Return our row, locked, by the number that we gave the session."""
    number = session.client_reference_id or ""
    # A number of ours is ASCII digits and fits the column.
    if not (number.isascii() and number.isdigit() and len(number) < 19):  # noqa: PLR2004
        raise UnknownCheckout(session.id)
    top_up = lock_top_up(top_up_id=int(number))
    if top_up is None:
        raise UnknownCheckout(session.id)
    return top_up


def _check_same(top_up: TopUp, payment: Payment) -> None:
    session, intent = payment.session, payment.intent
    is_ours = top_up.checkout_session_id in {None, session.id}
    is_same = (session.amount_minor, session.currency) == (top_up.amount_minor, top_up.currency)
    if payment.is_paid and intent is not None:
        is_same = is_same and intent.metadata.get("topup_id") == str(top_up.pk)
        received = (intent.amount_received_minor, intent.currency)
        is_same = is_same and received == (top_up.amount_minor, top_up.currency)
    if not (is_ours and is_same):
        logger.error("a payment differs from its top-up", extra={"top_up": top_up.pk})
        raise PaymentMismatch(session.id)


def _credit(top_up: TopUp, payment: Payment, *, now: datetime) -> None:
    """Post the money: what the customer owes first, the rest to the wallet."""
    currency, owner_id = top_up.currency, top_up.organisation_id
    debt = AccountRef(AccountKind.RECEIVABLE, currency, owner_id)
    wallet = AccountRef(AccountKind.WALLET, currency, owner_id)
    ledger = open_ledger(refs=[debt, wallet, AccountRef(AccountKind.STRIPE_CLEARING, currency)])
    act = _top_up_act(top_up, owed_minor=max(0, -ledger.balance_minor(debt)), now=now)
    journals = write_journals(acts=[act], ledger=ledger)
    top_up.payment_intent_id = payment.session.payment_intent_id
    top_up.journal_id = journals[act.key]
    _settle(top_up, TopUp.State.PAID, now=now)
    _audit(top_up, "top_up.paid", actor_id=None, now=now)


def _top_up_act(top_up: TopUp, *, owed_minor: int, now: datetime) -> Act:
    return Act(
        key=f"topup:{top_up.pk}",
        kind=Journal.Kind.TOP_UP,
        source_type="top_up",
        source_id=top_up.pk,
        occurred_at=now,
        legs=top_up_legs(
            organisation_id=top_up.organisation_id,
            currency=top_up.currency,
            amount_minor=top_up.amount_minor,
            owed_minor=owed_minor,
        ),
    )


def _settle(top_up: TopUp, state: TopUp.State, *, now: datetime) -> None:
    top_up.state, top_up.settled_at = state, now


def _locked(top_up_id: int) -> TopUp:
    row = lock_top_up(top_up_id=top_up_id)
    assert row is not None
    return row


def give_up_pageless(*, now: datetime) -> int:
    """Expire top-ups that never got a payment page; return how many. Nobody could have paid them."""
    return TopUp.objects.filter(
        state=TopUp.State.CREATED, checkout_session_id__isnull=True, created_at__lt=now - PAGE_LIFE
    ).update(state=TopUp.State.EXPIRED, settled_at=now)


def _audit(top_up: TopUp, action: str, *, actor_id: int | None, now: datetime) -> None:
    record_act(
        actor_id=actor_id,
        organisation_id=top_up.organisation_id,
        action=action,
        object_type="top_up",
        object_id=top_up.pk,
        details={"amount_minor": top_up.amount_minor, "currency": top_up.currency},
        now=now,
    )
