"""Refunds, fees and customers through Stripe's own SDK."""

from typing import Any

import pytest
import stripe

from tests.stripe_double_fixture import CARD_REFUND_PENDING, CARD_SUCCESS, DoubleHandle
from tests.unit.stripe_double.orders import open_session


def paid_intent_id(client: Any, double: DoubleHandle, card: str = CARD_SUCCESS) -> str:
    session = open_session(client)
    double.pay(session.id, card)
    intent_id = client.v1.checkout.sessions.retrieve(session.id).payment_intent
    assert isinstance(intent_id, str)
    return intent_id


class TestRefund:
    def test_gives_part_back_and_leaves_the_rest(self, client: Any, double: DoubleHandle) -> None:
        intent_id = paid_intent_id(client, double)

        refund = client.v1.refunds.create({"payment_intent": intent_id, "amount": 500})

        assert (refund.status, refund.amount, refund.currency) == ("succeeded", 500, "eur")
        (charge,) = double.objects("charges")
        assert (charge["amount_refunded"], charge["refunded"]) == (500, False)
        assert [e["type"] for e in double.events()[-2:]] == ["refund.created", "charge.refunded"]

    def test_gives_all_that_is_left_without_an_amount(
        self, client: Any, double: DoubleHandle
    ) -> None:
        intent_id = paid_intent_id(client, double)
        client.v1.refunds.create({"payment_intent": intent_id, "amount": 500})

        refund = client.v1.refunds.create({"payment_intent": intent_id})

        assert refund.amount == 1_500
        assert double.objects("charges")[0]["refunded"] is True

    def test_never_gives_more_than_what_is_left(self, client: Any, double: DoubleHandle) -> None:
        intent_id = paid_intent_id(client, double)
        client.v1.refunds.create({"payment_intent": intent_id, "amount": 1_500})

        with pytest.raises(stripe.InvalidRequestError, match=r"unrefunded amount.*\(5.00 EUR\)"):
            client.v1.refunds.create({"payment_intent": intent_id, "amount": 501})

        assert double.objects("charges")[0]["amount_refunded"] == 1_500
        assert len(double.objects("refunds")) == 1

    def test_refuses_a_charge_that_is_wholly_refunded(
        self, client: Any, double: DoubleHandle
    ) -> None:
        intent_id = paid_intent_id(client, double)
        client.v1.refunds.create({"payment_intent": intent_id})

        with pytest.raises(stripe.InvalidRequestError) as refused:
            client.v1.refunds.create({"payment_intent": intent_id})

        assert refused.value.code == "charge_already_refunded"

    def test_refuses_a_payment_that_nobody_made(self, client: Any, double: DoubleHandle) -> None:
        session = open_session(client)
        double.pay(session.id, "4000 0000 0000 0002")
        (intent,) = double.objects("payment_intents")

        with pytest.raises(stripe.InvalidRequestError, match="does not have a successful charge"):
            client.v1.refunds.create({"payment_intent": intent["id"]})

    @pytest.mark.parametrize("amount", [0, -1])
    def test_refuses_nothing_and_less(self, client: Any, double: DoubleHandle, amount: int) -> None:
        intent_id = paid_intent_id(client, double)

        with pytest.raises(stripe.InvalidRequestError):
            client.v1.refunds.create({"payment_intent": intent_id, "amount": amount})

        assert double.objects("refunds") == []

    def test_a_refund_that_fails_later_returns_to_the_charge(
        self, client: Any, double: DoubleHandle
    ) -> None:
        intent_id = paid_intent_id(client, double, CARD_REFUND_PENDING)
        refund = client.v1.refunds.create({"payment_intent": intent_id, "amount": 500})

        double.settle_refund(refund.id, is_successful=False)

        assert refund.status == "pending"
        assert client.v1.refunds.retrieve(refund.id).status == "failed"
        assert double.objects("charges")[0]["amount_refunded"] == 0
        assert double.events()[-1]["type"] == "refund.failed"


class TestFees:
    def test_a_late_fee_comes_with_its_own_event(self, client: Any, double: DoubleHandle) -> None:
        double.hold_back_fees()
        paid_intent_id(client, double)
        (charge,) = client.v1.charges.list().data

        double.settle_fee(charge.id)

        assert charge.balance_transaction is None
        after = client.v1.charges.retrieve(charge.id, {"expand": ["balance_transaction"]})
        assert after.balance_transaction.fee == 55
        assert double.events()[-1]["type"] == "charge.updated"

    def test_balance_lines_add_up(self, client: Any, double: DoubleHandle) -> None:
        intent_id = paid_intent_id(client, double)
        client.v1.refunds.create({"payment_intent": intent_id, "amount": 500})

        lines = client.v1.balance_transactions.list().data

        assert [(line.type, line.amount, line.fee, line.net) for line in lines] == [
            ("refund", -500, 0, -500),
            ("charge", 2_000, 55, 1_945),
        ]


class TestCustomers:
    def test_a_customer_can_be_kept_and_used(self, client: Any, double: DoubleHandle) -> None:
        customer = client.v1.customers.create({"email": "ada@example.com", "name": "Ada"})

        session = open_session(client, customer=customer.id, customer_email=None)

        assert client.v1.customers.retrieve(customer.id).email == "ada@example.com"
        assert session.customer == customer.id
        assert double.events()[-1]["type"] == "customer.created"

    def test_an_unknown_customer_is_missing(self, client: Any) -> None:
        with pytest.raises(stripe.InvalidRequestError) as missing:
            client.v1.customers.retrieve("cus_nobody")

        assert (missing.value.code, missing.value.http_status) == ("resource_missing", 404)
