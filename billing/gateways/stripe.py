"""Stripe, as this site uses it. The only module that imports ``stripe``.

Every function answers with our own types. Amounts are minor units; currency codes are upper-case
on our side (``EUR``) and lower-case on Stripe's. Calls that change something take their
idempotency key from the caller, who stored it before calling: the same key may be sent again
after any failure and does the work once.

Failures come in three kinds. ``GatewayUnavailable``: nobody knows whether it happened; try again
with the same key. ``GatewayRefused``: Stripe said no, and will say no again. ``SignatureInvalid``:
a webhook is not Stripe's, or not for this site.
"""

import json
import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from itertools import islice
from typing import Any, Literal
from urllib.parse import urlsplit

import stripe
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from stripe.params.checkout import SessionCreateParams, SessionCreateParamsLineItem

logger = logging.getLogger(__name__)

CONNECT_TIMEOUT_SECONDS = 5.0
# Stripe answers most calls within a second; its slowest card calls take some ten.
READ_TIMEOUT_SECONDS = 20.0
# With the SDK's pauses of half a second and more, a short outage stays invisible to customers.
NETWORK_RETRIES = 2

# Stripe refuses signatures older than this, so that a recorded webhook cannot be played later.
SIGNATURE_AGE_SECONDS = 300

# Stripe's own bound for one page of a list.
PAGE_SIZE = 100
# Three days of events of a busy month. A sweep that needs more asks again from the last one.
EVENTS_AT_MOST = 10_000

HOSTED_PAGE_ORIGIN = "https://checkout.stripe.com"

# Far longer than any id of Stripe's.
EVENT_ID_LENGTH = 120
# What reading a signed body that is no event may raise.
NO_EVENT = (ValueError, AttributeError, TypeError, OverflowError)

LIVE_KEY_PREFIXES = ("sk_live_", "rk_live_")


class GatewayUnavailable(Exception):
    """Stripe could not be asked, or did not say what it did. Try again with the same key."""


class GatewayRefused(Exception):
    """Stripe refused, for good. ``code`` is its word, ``message`` its sentence for developers."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message


class SignatureInvalid(Exception):
    """A webhook was not signed by Stripe for this site, or too long ago."""


class LivemodeMismatch(SignatureInvalid):
    """A signed event of the other mode: test money on a live site, or the reverse."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckoutSession:
    """A hosted payment page. ``url`` is None once it is complete or expired.

    ``status`` is open, complete or expired; ``payment_status`` is unpaid, paid or
    no_payment_required. ``payment_intent_id`` is None until the customer first submits a card.
    """

    id: str
    url: str | None
    status: str
    payment_status: str
    amount_minor: int
    currency: str
    client_reference_id: str | None
    payment_intent_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PaymentIntent:
    """A payment. Paid means that ``status`` is succeeded; ``metadata`` holds our own ids."""

    id: str
    status: str
    amount_received_minor: int
    currency: str
    metadata: Mapping[str, str]
    latest_charge_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """One successful or failed attempt on a card.

    ``fee_minor`` is None while Stripe has not written the balance line yet: ask again later.
    ``card_fingerprint`` is the same for the same card, or None.
    """

    id: str
    amount_minor: int
    amount_refunded_minor: int
    currency: str
    payment_intent_id: str | None
    is_disputed: bool
    card_fingerprint: str | None
    balance_transaction_id: str | None
    fee_minor: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Refund:
    """Money on its way back to a card: pending, succeeded, failed, canceled or requires_action."""

    id: str
    status: str
    amount_minor: int
    currency: str
    payment_intent_id: str | None
    metadata: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that Stripe says has happened. It is a reason to look, never a proof.

    ``object_id`` is empty for an event whose shape we do not know; ``payload`` is all of it.
    """

    id: str
    type: str
    object_id: str
    created: datetime
    livemode: bool
    payload: dict[str, Any]


def create_checkout_session(  # noqa: PLR0913 - each is a field of one outside form
    *,
    topup_id: int,
    organisation_id: int,
    amount_minor: int,
    currency: str,
    locale: str,
    success_url: str,
    cancel_url: str,
    customer_email: str,
    idempotency_key: str,
    description: str = "",
) -> CheckoutSession:
    """Open a hosted page for one top-up and return it.

    ``success_url`` may contain ``{CHECKOUT_SESSION_ID}``. ``locale`` is ``en`` or ``fr``.
    ``description`` is the line that the customer reads on the page.

    Raises
    ------
    GatewayRefused
        An amount below Stripe's minimum, an address or an e-mail that Stripe does not take.
    GatewayUnavailable
        No answer. The same key finds the session again.
    """
    metadata = {"topup_id": str(topup_id), "organisation_id": str(organisation_id)}
    line = _one_line(
        amount_minor=amount_minor, currency=currency, name=description or settings.SITE_NAME
    )
    form: SessionCreateParams = {
        "mode": "payment",
        "line_items": [line],
        "allowed_payment_method_types": ["card"],
        "payment_method_options": {"card": {"request_three_d_secure": "any"}},
        "payment_intent_data": {"metadata": metadata},
        "metadata": metadata,
        "client_reference_id": str(topup_id),
        "customer_email": customer_email,
        "locale": _page_locale(locale),
        "success_url": success_url,
        "cancel_url": cancel_url,
    }
    with _translated_failures():
        return _to_checkout_session(
            _client().v1.checkout.sessions.create(form, {"idempotency_key": idempotency_key})
        )


def retrieve_checkout_session(*, session_id: str) -> CheckoutSession:
    """Return a session as it is now."""
    with _translated_failures():
        return _to_checkout_session(_client().v1.checkout.sessions.retrieve(session_id))


def expire_checkout_session(*, session_id: str, idempotency_key: str) -> CheckoutSession:
    """Close an open session, so that nobody can pay it any more.

    Raises
    ------
    GatewayRefused
        The session is complete or expired already: retrieve it.
    """
    with _translated_failures():
        return _to_checkout_session(
            _client().v1.checkout.sessions.expire(
                session_id, {}, {"idempotency_key": idempotency_key}
            )
        )


def retrieve_payment_intent(*, payment_intent_id: str) -> PaymentIntent:
    """Return a payment as it is now."""
    with _translated_failures():
        intent = _client().v1.payment_intents.retrieve(payment_intent_id)
        return PaymentIntent(
            id=intent.id,
            status=intent.status,
            amount_received_minor=intent.amount_received,
            currency=intent.currency.upper(),
            metadata=_words(intent.metadata),
            latest_charge_id=_id_of(intent.latest_charge),
        )


def retrieve_charge(*, charge_id: str) -> Charge:
    """Return a charge as it is now, with Stripe's fee when that is known."""
    with _translated_failures():
        charge = _client().v1.charges.retrieve(charge_id, {"expand": ["balance_transaction"]})
        return _to_charge(charge)


def create_refund(
    *,
    payment_intent_id: str,
    amount_minor: int,
    refund_id: int,
    idempotency_key: str,
) -> Refund:
    """Send ``amount_minor`` of a payment back to its card.

    Raises
    ------
    GatewayRefused
        More than what is left of the payment, or a payment that never succeeded.
    GatewayUnavailable
        No answer. The refund may exist: send the same key again.
    """
    with _translated_failures():
        refund = _client().v1.refunds.create(
            {
                "payment_intent": payment_intent_id,
                "amount": amount_minor,
                "reason": "requested_by_customer",
                "metadata": {"refund_id": str(refund_id)},
            },
            {"idempotency_key": idempotency_key},
        )
        return _to_refund(refund)


def retrieve_refund(*, refund_id: str) -> Refund:
    """Return a refund as it is now; ``refund_id`` is Stripe's."""
    with _translated_failures():
        return _to_refund(_client().v1.refunds.retrieve(refund_id))


def list_events(*, since: datetime) -> list[Event]:
    """Return the events created at or after ``since``, oldest first.

    ``since`` is compared with Stripe's clock. Stripe keeps events for 30 days.
    """
    with _translated_failures():
        pages = _client().v1.events.list(
            {"created": {"gte": int(since.timestamp())}, "limit": PAGE_SIZE}
        )
        newest_first = list(islice(pages.auto_paging_iter(), EVENTS_AT_MOST + 1))
    if len(newest_first) > EVENTS_AT_MOST:
        logger.error("more events than one sweep reads: the oldest wait for a shorter interval")
    return [_to_event(event) for event in reversed(newest_first[:EVENTS_AT_MOST])]


def verify_webhook(*, payload: bytes, signature: str) -> Event:
    """Return the event in a webhook's body, after checking who signed it and for which mode.

    Raises
    ------
    SignatureInvalid
        Wrong, old or missing signature, or a body that is no event.
    LivemodeMismatch
        Rightly signed, for the other mode.
    """
    if not settings.STRIPE_WEBHOOK_SECRET:
        # Anybody could sign with an empty secret.
        raise SignatureInvalid("no secret is set")
    try:
        signed = _client().construct_event(
            payload, signature, settings.STRIPE_WEBHOOK_SECRET, SIGNATURE_AGE_SECONDS
        )
        event = _to_event(signed)
        _check_shape(event.payload)
    except (stripe.SignatureVerificationError, *NO_EVENT) as broken:
        raise SignatureInvalid(type(broken).__name__) from broken
    if event.livemode != settings.STRIPE_LIVEMODE:
        raise LivemodeMismatch(event.id)
    return event


def checkout_origin() -> str:
    """Return the origin of the hosted page, for the Content-Security-Policy of the top-up form."""
    if not settings.STRIPE_API_BASE:
        return HOSTED_PAGE_ORIGIN
    parts = urlsplit(settings.STRIPE_API_BASE)
    return f"{parts.scheme}://{parts.netloc}"


def _client() -> stripe.StripeClient:
    return _client_for(settings.STRIPE_SECRET_KEY, settings.STRIPE_API_BASE or "")


# Two settings are in use at most: one per process, and the double's beside it in tests.
@lru_cache(maxsize=4)
def _client_for(api_key: str, api_base: str) -> stripe.StripeClient:
    if not api_key:
        raise ImproperlyConfigured("STRIPE_SECRET_KEY is empty: no payment can be taken.")
    timeouts_seconds = (CONNECT_TIMEOUT_SECONDS, READ_TIMEOUT_SECONDS)
    if not api_base:
        return stripe.StripeClient(
            api_key,
            max_network_retries=NETWORK_RETRIES,
            http_client=stripe.RequestsClient(timeout=timeouts_seconds),
        )
    if api_key.startswith(LIVE_KEY_PREFIXES):
        raise ImproperlyConfigured("STRIPE_API_BASE is not Stripe: it must not see a live key.")
    return stripe.StripeClient(
        api_key,
        base_addresses={"api": api_base.rstrip("/")},
        max_network_retries=NETWORK_RETRIES,
        # The double is on this machine: a proxy of the environment would not find it.
        http_client=stripe.RequestsClient(
            timeout=timeouts_seconds, proxy={"http": None, "https": None}
        ),
    )


@contextmanager
def _translated_failures() -> Iterator[None]:
    try:
        yield
    except (stripe.AuthenticationError, stripe.PermissionError) as refused:
        # The operator's keys are wrong. No customer's payment has failed because of that.
        logger.error("Stripe does not accept our key", extra={"request_id": refused.request_id})  # noqa: TRY400 - the trace would say nothing more
        raise GatewayUnavailable("key") from refused
    except (stripe.InvalidRequestError, stripe.CardError, stripe.IdempotencyError) as refused:
        raise _to_refusal(refused) from refused
    except stripe.StripeError as failed:
        raise GatewayUnavailable(type(failed).__name__) from failed


def _to_refusal(refused: stripe.StripeError) -> GatewayRefused:
    kind = refused.error.type if refused.error is not None else None
    code = refused.code or kind or "refused"
    return GatewayRefused(code, refused.user_message or "")


def _one_line(*, amount_minor: int, currency: str, name: str) -> SessionCreateParamsLineItem:
    return {
        "quantity": 1,
        "price_data": {
            "currency": currency.lower(),
            "unit_amount": amount_minor,
            "product_data": {"name": name},
        },
    }


def _page_locale(locale: str) -> Literal["en", "fr"]:
    return "fr" if locale.lower().startswith("fr") else "en"


def _to_checkout_session(session: stripe.checkout.Session) -> CheckoutSession:
    return CheckoutSession(
        id=session.id,
        url=session.url,
        status=session.status or "",
        payment_status=session.payment_status,
        amount_minor=session.amount_total or 0,
        currency=(session.currency or "").upper(),
        client_reference_id=session.client_reference_id,
        payment_intent_id=_id_of(session.payment_intent),
    )


def _to_charge(charge: stripe.Charge) -> Charge:
    line = charge.balance_transaction
    details = charge.payment_method_details
    card = details.card if details is not None else None
    return Charge(
        id=charge.id,
        amount_minor=charge.amount,
        amount_refunded_minor=charge.amount_refunded,
        currency=charge.currency.upper(),
        payment_intent_id=_id_of(charge.payment_intent),
        is_disputed=charge.disputed,
        card_fingerprint=(card.fingerprint or None) if card is not None else None,
        balance_transaction_id=_id_of(line),
        fee_minor=line.fee if isinstance(line, stripe.BalanceTransaction) else None,
    )


def _to_refund(refund: stripe.Refund) -> Refund:
    return Refund(
        id=refund.id,
        status=refund.status or "",
        amount_minor=refund.amount,
        currency=refund.currency.upper(),
        payment_intent_id=_id_of(refund.payment_intent),
        metadata=_words(refund.metadata),
    )


def _to_event(event: stripe.Event) -> Event:
    payload: dict[str, Any] = event.to_dict(for_json=True)
    return Event(
        id=event.id,
        type=event.type,
        object_id=_object_id(payload),
        created=datetime.fromtimestamp(event.created, tz=UTC),
        livemode=event.livemode,
        payload=payload,
    )


def _check_shape(payload: dict[str, Any]) -> None:
    """Refuse what our table cannot keep, before anybody is told that it was kept."""
    number, kind = payload["id"], payload["type"]
    if not (isinstance(number, str) and isinstance(kind, str)):
        raise TypeError("id or type is no text")
    if len(number) > EVENT_ID_LENGTH or r"\u0000" in json.dumps(payload):
        raise ValueError("too long, or no text")


def _object_id(payload: dict[str, Any]) -> str:
    data = payload.get("data")
    subject = data.get("object") if isinstance(data, dict) else None
    return str(subject.get("id", "")) if isinstance(subject, dict) else ""


def _id_of(reference: Any) -> str | None:
    """Return the id of something that Stripe gives as an id or, expanded, as an object."""
    if reference is None or isinstance(reference, str):
        return reference
    return str(reference.id)


def _words(metadata: Any) -> dict[str, str]:
    return dict(metadata.to_dict()) if metadata is not None else {}
