"""The gateway against the double: what billing asks of Stripe, and what it hears when that fails."""

import hashlib
import hmac
import json
from datetime import UTC, datetime, timedelta
from time import time
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from pytest_django import Settings

from billing.gateways import stripe as gateway
from billing.gateways.stripe_double.webhooks import sign
from tests.stripe_double_fixture import (
    CARD_AUTHENTICATED,
    CARD_DECLINED,
    CARD_SUCCESS,
    DoubleHandle,
)


def open_page(**changes: Any) -> gateway.CheckoutSession:
    form: dict[str, Any] = {
        "topup_id": 17,
        "organisation_id": 4,
        "amount_minor": 2_000,
        "currency": "EUR",
        "locale": "en",
        "success_url": "http://testserver/back?session={CHECKOUT_SESSION_ID}",
        "cancel_url": "http://testserver/wallets",
        "customer_email": "ada@example.com",
        "idempotency_key": "topup:17",
    }
    return gateway.create_checkout_session(**(form | changes))


def paid_intent(double: DoubleHandle, card: str = CARD_SUCCESS) -> gateway.PaymentIntent:
    session = open_page()
    double.pay(session.id, card)
    intent_id = gateway.retrieve_checkout_session(session_id=session.id).payment_intent_id
    assert intent_id is not None
    return gateway.retrieve_payment_intent(payment_intent_id=intent_id)


class TestCheckoutSession:
    def test_opens_a_page_for_one_top_up(self, stripe_double: DoubleHandle) -> None:
        session = open_page()

        assert session == gateway.CheckoutSession(
            id=session.id,
            url=f"{stripe_double.url}/c/pay/{session.id}",
            status="open",
            payment_status="unpaid",
            amount_minor=2_000,
            currency="EUR",
            client_reference_id="17",
            payment_intent_id=None,
        )

    def test_asks_for_three_d_secure_on_every_card(self, stripe_double: DoubleHandle) -> None:
        open_page()

        (session,) = stripe_double.objects("checkout_sessions")
        assert session["payment_method_options"] == {"card": {"request_three_d_secure": "any"}}
        assert session["allowed_payment_method_types"] == ["card"]

    def test_speaks_the_customers_language(self, stripe_double: DoubleHandle) -> None:
        session = open_page(locale="fr")

        assert '<html lang="fr">' in stripe_double.visit(f"/c/pay/{session.id}").html

    def test_the_same_key_finds_the_same_page(self, stripe_double: DoubleHandle) -> None:
        first = open_page()

        assert open_page() == first
        assert len(stripe_double.objects("checkout_sessions")) == 1

    def test_the_same_key_for_another_amount_is_refused(self, stripe_double: DoubleHandle) -> None:
        open_page()

        with pytest.raises(gateway.GatewayRefused) as refused:
            open_page(amount_minor=2_001)

        assert refused.value.code == "idempotency_error"

    def test_an_amount_below_stripes_minimum_is_refused(self, stripe_double: DoubleHandle) -> None:
        with pytest.raises(gateway.GatewayRefused) as refused:
            open_page(amount_minor=49)

        assert refused.value.code == "amount_too_small"
        assert stripe_double.objects("checkout_sessions") == []

    def test_can_be_closed_before_it_is_paid(self, stripe_double: DoubleHandle) -> None:
        session = open_page()

        closed = gateway.expire_checkout_session(session_id=session.id, idempotency_key="expire:17")

        assert (closed.status, closed.url) == ("expired", None)

    def test_an_unknown_one_is_refused(self, stripe_double: DoubleHandle) -> None:
        with pytest.raises(gateway.GatewayRefused) as refused:
            gateway.retrieve_checkout_session(session_id="cs_test_nobody")

        assert refused.value.code == "resource_missing"


class TestPayment:
    @pytest.mark.parametrize("card", [CARD_SUCCESS, CARD_AUTHENTICATED])
    def test_a_paid_top_up_names_its_amount_and_our_ids(
        self, stripe_double: DoubleHandle, card: str
    ) -> None:
        intent = paid_intent(stripe_double, card)

        assert (intent.status, intent.amount_received_minor, intent.currency) == (
            "succeeded",
            2_000,
            "EUR",
        )
        assert intent.metadata == {"topup_id": "17", "organisation_id": "4"}

    def test_a_declined_card_has_paid_nothing(self, stripe_double: DoubleHandle) -> None:
        intent = paid_intent(stripe_double, CARD_DECLINED)

        assert (intent.status, intent.amount_received_minor) == ("requires_payment_method", 0)

    def test_the_charge_tells_fee_and_card(self, stripe_double: DoubleHandle) -> None:
        intent = paid_intent(stripe_double)

        charge = gateway.retrieve_charge(charge_id=intent.latest_charge_id or "")

        assert (charge.amount_minor, charge.fee_minor, charge.currency) == (2_000, 55, "EUR")
        assert charge.payment_intent_id == intent.id
        assert charge.card_fingerprint is not None
        assert charge.is_disputed is False

    def test_the_fee_may_come_later(self, stripe_double: DoubleHandle) -> None:
        stripe_double.hold_back_fees()
        charge_id = paid_intent(stripe_double).latest_charge_id or ""

        early = gateway.retrieve_charge(charge_id=charge_id)
        stripe_double.settle_fee(charge_id)
        late = gateway.retrieve_charge(charge_id=charge_id)

        assert (early.fee_minor, early.balance_transaction_id) == (None, None)
        assert late.fee_minor == 55


class TestRefund:
    def test_sends_money_back(self, stripe_double: DoubleHandle) -> None:
        intent = paid_intent(stripe_double)

        refund = gateway.create_refund(
            payment_intent_id=intent.id, amount_minor=500, refund_id=3, idempotency_key="refund:3"
        )

        assert (refund.status, refund.amount_minor, refund.currency) == ("succeeded", 500, "EUR")
        assert refund.metadata == {"refund_id": "3"}
        assert gateway.retrieve_refund(refund_id=refund.id) == refund

    def test_the_same_key_sends_it_once(self, stripe_double: DoubleHandle) -> None:
        intent = paid_intent(stripe_double)
        for _again in range(2):
            gateway.create_refund(
                payment_intent_id=intent.id,
                amount_minor=500,
                refund_id=3,
                idempotency_key="refund:3",
            )

        assert stripe_double.objects("charges")[0]["amount_refunded"] == 500

    def test_more_than_what_is_left_is_refused(self, stripe_double: DoubleHandle) -> None:
        intent = paid_intent(stripe_double)

        with pytest.raises(gateway.GatewayRefused, match="greater than unrefunded amount"):
            gateway.create_refund(
                payment_intent_id=intent.id,
                amount_minor=2_001,
                refund_id=3,
                idempotency_key="refund:3",
            )

        assert stripe_double.objects("refunds") == []


class TestUnavailable:
    def test_a_lost_reply_is_asked_for_again_with_the_same_key(
        self, stripe_double: DoubleHandle
    ) -> None:
        stripe_double.break_api("lost_reply")

        open_page()

        assert len(stripe_double.objects("checkout_sessions")) == 1

    def test_a_server_error_leaves_the_outcome_open(self, stripe_double: DoubleHandle) -> None:
        stripe_double.break_api("error")

        with pytest.raises(gateway.GatewayUnavailable):
            open_page()

    def test_a_stopped_partner_is_unavailable(
        self, stripe_double: DoubleHandle, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(gateway, "NETWORK_RETRIES", 0)
        gateway._client_for.cache_clear()
        stripe_double.stop()

        with pytest.raises(gateway.GatewayUnavailable, match="APIConnectionError"):
            open_page()

    def test_a_wrong_key_is_the_operators_fault_not_the_customers(
        self, stripe_double: DoubleHandle, settings: Settings
    ) -> None:
        settings.STRIPE_SECRET_KEY = "sk_test_other"

        with pytest.raises(gateway.GatewayUnavailable):
            open_page()

    def test_a_live_key_never_leaves_for_another_address(
        self, stripe_double: DoubleHandle, settings: Settings
    ) -> None:
        settings.STRIPE_SECRET_KEY = "sk_live_x"

        with pytest.raises(ImproperlyConfigured):
            open_page()

    def test_without_a_key_nothing_is_asked(
        self, stripe_double: DoubleHandle, settings: Settings
    ) -> None:
        settings.STRIPE_SECRET_KEY = ""

        with pytest.raises(ImproperlyConfigured):
            open_page()


class TestEvents:
    def test_lists_what_happened_since_oldest_first(self, stripe_double: DoubleHandle) -> None:
        before = datetime.fromtimestamp(int(time()) - 60, tz=UTC)
        intent = paid_intent(stripe_double)

        events = gateway.list_events(since=before)

        assert [event.type for event in events] == [
            "payment_intent.created",
            "charge.succeeded",
            "payment_intent.succeeded",
            "checkout.session.completed",
        ]
        assert events[2].object_id == intent.id
        assert gateway.list_events(since=before + timedelta(minutes=5)) == []

    def test_reads_more_than_one_page(
        self, stripe_double: DoubleHandle, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(gateway, "PAGE_SIZE", 2)
        paid_intent(stripe_double)

        assert len(gateway.list_events(since=datetime.fromtimestamp(0, tz=UTC))) == 4


class TestWebhook:
    def test_a_signed_event_is_believed(self, stripe_double: DoubleHandle) -> None:
        session = open_page()
        stripe_double.pay(session.id)
        (announced,) = stripe_double.events("checkout.session.completed")
        signed = stripe_double.signed_webhook(announced["id"])

        event = gateway.verify_webhook(payload=signed.body, signature=signed.signature)

        assert (event.id, event.type) == (announced["id"], "checkout.session.completed")
        assert event.object_id == session.id
        assert event.livemode is False
        assert event.payload == announced
        assert json.dumps(event.payload)

    def test_a_changed_body_is_not(self, stripe_double: DoubleHandle) -> None:
        signed = some_webhook(stripe_double)

        with pytest.raises(gateway.SignatureInvalid):
            gateway.verify_webhook(
                payload=signed.body.replace(b"2000", b"9000"), signature=signed.signature
            )

    @pytest.mark.parametrize("signature", ["", "t=1", "v1=abc", "t=x,v1=y", "\x00"])
    def test_a_broken_signature_is_not(self, stripe_double: DoubleHandle, signature: str) -> None:
        body = some_webhook(stripe_double).body

        with pytest.raises(gateway.SignatureInvalid):
            gateway.verify_webhook(payload=body, signature=signature)

    def test_an_old_signature_is_not(self, stripe_double: DoubleHandle) -> None:
        paid_intent(stripe_double)
        event_id = stripe_double.events()[-1]["id"]
        signed = stripe_double.signed_webhook(event_id, at=int(time()) - 301)

        with pytest.raises(gateway.SignatureInvalid):
            gateway.verify_webhook(payload=signed.body, signature=signed.signature)

    @pytest.mark.parametrize("body", [b"", b"\xff", b"[]", b"null", b"1", b'{"object": "event"}'])
    def test_a_signed_body_that_is_no_event_is_not(
        self, stripe_double: DoubleHandle, body: bytes
    ) -> None:
        signature = signature_of(body, secret=stripe_double.webhook_secret)

        with pytest.raises(gateway.SignatureInvalid):
            gateway.verify_webhook(payload=body, signature=signature)

    def test_test_money_is_refused_on_a_live_site(
        self, stripe_double: DoubleHandle, settings: Settings
    ) -> None:
        signed = some_webhook(stripe_double)
        settings.STRIPE_LIVEMODE = True

        with pytest.raises(gateway.LivemodeMismatch):
            gateway.verify_webhook(payload=signed.body, signature=signed.signature)

    def test_without_a_secret_nobody_is_believed(
        self, stripe_double: DoubleHandle, settings: Settings
    ) -> None:
        signed = some_webhook(stripe_double)
        settings.STRIPE_WEBHOOK_SECRET = ""

        with pytest.raises(gateway.SignatureInvalid):
            gateway.verify_webhook(payload=signed.body, signature=signed.signature)

    def test_an_event_of_an_unknown_shape_is_kept(self, stripe_double: DoubleHandle) -> None:
        document = stripe_double_event(stripe_double) | {"data": {"surprise": 1}}
        signed = sign(event=document, secret=stripe_double.webhook_secret, now=int(time()))

        event = gateway.verify_webhook(payload=signed.body, signature=signed.signature)

        assert (event.id, event.object_id) == (document["id"], "")


class TestOrigin:
    def test_is_the_doubles_own(self, stripe_double: DoubleHandle) -> None:
        session = open_page()

        assert gateway.checkout_origin() == stripe_double.url
        assert (session.url or "").startswith(f"{gateway.checkout_origin()}/")

    def test_is_stripes_without_a_double(self, settings: Settings) -> None:
        settings.STRIPE_API_BASE = None

        assert gateway.checkout_origin() == "https://checkout.stripe.com"


def stripe_double_event(double: DoubleHandle) -> dict[str, Any]:
    paid_intent(double)
    return double.events()[-1]


def some_webhook(double: DoubleHandle) -> Any:
    return double.signed_webhook(stripe_double_event(double)["id"])


def signature_of(body: bytes, *, secret: str) -> str:

    now = int(time())
    digest = hmac.new(secret.encode(), f"{now}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={now},v1={digest}"
