"""Checkout through Stripe's own SDK and through the hosted page."""

import time
from typing import Any

import pytest
import stripe

from tests.stripe_double_fixture import (
    CARD_AUTHENTICATED,
    CARD_AUTHENTICATED_ALWAYS,
    CARD_DECLINED,
    CARD_SUCCESS,
    CARD_WITHOUT_FUNDS,
    DoubleHandle,
    running_double,
)
from tests.unit.stripe_double.orders import line, open_session, sdk_client, session_form


class TestOpening:
    def test_gives_an_open_unpaid_session_without_a_payment(
        self, client: Any, double: DoubleHandle
    ) -> None:
        session = open_session(client)

        assert session.id.startswith("cs_test_")
        assert session.url == f"{double.url}/c/pay/{session.id}"
        assert (session.status, session.payment_status) == ("open", "unpaid")
        assert (session.amount_total, session.currency) == (2_000, "eur")
        assert session.client_reference_id == "17"
        assert session.metadata.to_dict() == {"topup_id": "17"}
        assert session.payment_intent is None
        assert session.livemode is False
        assert double.events() == []

    def test_remembers_a_wish_for_strong_authentication(self, client: Any) -> None:
        session = open_session(
            client, payment_method_options={"card": {"request_three_d_secure": "any"}}
        )

        assert session.payment_method_options.card.request_three_d_secure == "any"

    @pytest.mark.parametrize(
        ("changes", "param", "code"),
        [
            ({"success_url": None}, "success_url", "parameter_missing"),
            ({"success_url": "shop.test"}, "success_url", "url_invalid"),
            ({"cancel_url": "javascript:alert(1)"}, "cancel_url", "url_invalid"),
            ({"mode": None}, "mode", "parameter_missing"),
            ({"mode": "setup"}, "mode", None),
            ({"line_items": None}, "line_items", "parameter_missing"),
            ({"line_items": line(amount_minor=49)}, "line_items", "amount_too_small"),
            ({"line_items": line(amount_minor=100_000_000)}, "line_items", "amount_too_large"),
            ({"customer_email": "nobody"}, "customer_email", "email_invalid"),
            ({"customer": "cus_missing", "customer_email": None}, "customer", "resource_missing"),
            ({"expires_at": 1}, "expires_at", None),
            ({"locale": "de"}, "locale", None),
            ({"payment_method_types": ["card"]}, "payment_method_types", "parameter_unknown"),
            ({"metadata": {"k": "v" * 501}}, "metadata[k]", None),
        ],
    )
    def test_refuses_what_stripe_refuses_and_keeps_nothing(
        self,
        client: Any,
        double: DoubleHandle,
        changes: dict[str, object],
        param: str,
        code: str | None,
    ) -> None:
        with pytest.raises(stripe.InvalidRequestError) as refused:
            client.v1.checkout.sessions.create(session_form(**changes))

        assert (refused.value.param, refused.value.code) == (param, code)
        assert double.objects("checkout_sessions") == []

    def test_refuses_a_fraction_of_a_cent(self, client: Any) -> None:
        items = line(amount_minor=2_000)
        items[0]["price_data"]["unit_amount"] = "20.5"

        with pytest.raises(stripe.InvalidRequestError) as refused:
            open_session(client, line_items=items)

        assert refused.value.code == "parameter_invalid_integer"

    def test_refuses_two_currencies_on_one_page(self, client: Any) -> None:
        items = line(amount_minor=1_000) + line(amount_minor=1_000, currency="usd")

        with pytest.raises(stripe.InvalidRequestError, match="same currency"):
            open_session(client, line_items=items)


class TestPaying:
    def test_a_good_card_pays_and_sends_the_customer_back(
        self, client: Any, double: DoubleHandle
    ) -> None:
        session = open_session(client)

        page = double.pay(session.id, CARD_SUCCESS)

        assert page.redirect_url == f"http://shop.test/back?session={session.id}"
        paid = client.v1.checkout.sessions.retrieve(session.id, {"expand": ["payment_intent"]})
        assert (paid.status, paid.payment_status, paid.url) == ("complete", "paid", None)
        intent = paid.payment_intent
        assert isinstance(intent, stripe.PaymentIntent)
        assert (intent.status, intent.amount_received, intent.currency) == (
            "succeeded",
            2_000,
            "eur",
        )
        assert intent.metadata.to_dict() == {"topup_id": "17"}
        assert paid.customer_details.email == "ada@example.com"

    def test_announces_a_payment_in_stripes_order(self, client: Any, double: DoubleHandle) -> None:
        session = open_session(client)

        double.pay(session.id)

        assert [event["type"] for event in double.events()] == [
            "payment_intent.created",
            "charge.succeeded",
            "payment_intent.succeeded",
            "checkout.session.completed",
        ]

    def test_the_charge_carries_its_fee(self, client: Any, double: DoubleHandle) -> None:
        session = open_session(client)
        double.pay(session.id)

        (charge,) = client.v1.charges.list({"expand": ["data.balance_transaction"]}).data

        assert charge.balance_transaction.fee == 55
        assert charge.balance_transaction.net == 1_945
        assert charge.payment_method_details.card.last4 == "4242"

    def test_a_declined_card_leaves_the_page_open_and_says_so(
        self, client: Any, double: DoubleHandle
    ) -> None:
        session = open_session(client)

        page = double.pay(session.id, CARD_DECLINED)

        assert page.redirect_url is None
        assert page.alert == "The payment was not made Your card was declined. Try another card."
        after = client.v1.checkout.sessions.retrieve(session.id, {"expand": ["payment_intent"]})
        assert (after.status, after.payment_status) == ("open", "unpaid")
        assert after.payment_intent.status == "requires_payment_method"
        assert after.payment_intent.amount_received == 0
        assert after.payment_intent.last_payment_error.decline_code == "generic_decline"
        assert [charge["status"] for charge in double.objects("charges")] == ["failed"]

    def test_another_card_pays_after_a_decline_with_the_same_intent(
        self, client: Any, double: DoubleHandle
    ) -> None:
        session = open_session(client)
        double.pay(session.id, CARD_WITHOUT_FUNDS)

        page = double.pay(session.id, CARD_SUCCESS)

        assert page.redirect_url is not None
        assert [intent["status"] for intent in double.objects("payment_intents")] == ["succeeded"]
        assert [charge["status"] for charge in double.objects("charges")] == [
            "failed",
            "succeeded",
        ]

    @pytest.mark.parametrize("card", [CARD_AUTHENTICATED, CARD_AUTHENTICATED_ALWAYS])
    def test_the_bank_asks_before_such_a_card_pays(
        self, client: Any, double: DoubleHandle, card: str
    ) -> None:
        session = open_session(client)

        waiting = double.pay(session.id, card, authenticate=None)

        assert "Your bank asks who you are" in waiting.html
        (intent,) = double.objects("payment_intents")
        assert (intent["status"], intent["amount_received"]) == ("requires_action", 0)
        done = double.submit(waiting, {"outcome": "authenticate"})
        assert done.redirect_url == f"http://shop.test/back?session={session.id}"
        assert double.objects("payment_intents")[0]["status"] == "succeeded"

    def test_a_failed_authentication_charges_nothing(
        self, client: Any, double: DoubleHandle
    ) -> None:
        session = open_session(client)

        page = double.pay(session.id, CARD_AUTHENTICATED, authenticate=False)

        assert "Your bank could not authenticate you" in page.alert
        assert double.objects("charges") == []
        assert double.events()[-1]["type"] == "payment_intent.payment_failed"
        assert client.v1.checkout.sessions.retrieve(session.id).status == "open"

    def test_paying_twice_charges_once(self, client: Any, double: DoubleHandle) -> None:
        session = open_session(client)
        form = double.visit(f"/c/pay/{session.id}")
        fields = {"card_number": CARD_SUCCESS, "expiry": "12/34", "cvc": "123", "name": "Ada"}
        double.submit(form, fields)

        again = double.submit(form, fields)

        assert again.redirect_url == f"http://shop.test/back?session={session.id}"
        assert len(double.objects("charges")) == 1


class TestExpiring:
    def test_an_expired_session_cannot_be_paid(self, client: Any, double: DoubleHandle) -> None:
        session = open_session(client)
        form = double.visit(f"/c/pay/{session.id}")

        expired = client.v1.checkout.sessions.expire(session.id)

        assert (expired.status, expired.url) == ("expired", None)
        fields = {"card_number": CARD_SUCCESS, "expiry": "12/34", "cvc": "123", "name": "Ada"}
        assert double.submit(form, fields).status == 410
        assert double.objects("charges") == []
        assert [event["type"] for event in double.events()] == ["checkout.session.expired"]

    def test_a_paid_session_cannot_be_expired(self, client: Any, double: DoubleHandle) -> None:
        session = open_session(client)
        double.pay(session.id)

        with pytest.raises(stripe.InvalidRequestError, match="status of complete"):
            client.v1.checkout.sessions.expire(session.id)

    def test_a_session_expires_by_itself_when_its_time_is_up(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        now = int(time.time())
        with running_double() as double:
            client = sdk_client(double)
            session = open_session(client, expires_at=now + 1_860)
            monkeypatch.setattr(
                "billing.gateways.stripe_double.parts.time.time", lambda: now + 1_860
            )

            after = client.v1.checkout.sessions.retrieve(session.id)

        assert after.status == "expired"

    def test_the_abandoned_payment_is_cancelled_with_its_session(
        self, client: Any, double: DoubleHandle
    ) -> None:
        session = open_session(client)
        double.pay(session.id, CARD_DECLINED)

        client.v1.checkout.sessions.expire(session.id)

        (intent,) = client.v1.payment_intents.list().data
        assert (intent.status, intent.cancellation_reason) == ("canceled", "expired")
