"""The double's objects have the fields of the SDK's version of the API, no more and no fewer."""

from typing import Any

import pytest
import stripe
from stripe._api_version import _ApiVersion

from billing.gateways.stripe_double.config import API_VERSION
from tests.stripe_double_fixture import DoubleHandle
from tests.unit.stripe_double.orders import open_session

# Stripe sends these only when a caller asks for them to be expanded.
ON_REQUEST = {
    stripe.checkout.Session: {"line_items"},
    stripe.Charge: {"refunds"},
    stripe.Customer: {
        "cash_balance",
        "deleted",
        "invoice_credit_balance",
        "sources",
        "subscriptions",
        "tax",
        "tax_ids",
    },
}


def test_the_double_speaks_the_version_of_the_sdk() -> None:
    assert _ApiVersion.CURRENT == API_VERSION


@pytest.mark.parametrize(
    ("kind", "collection"),
    [
        (stripe.checkout.Session, "checkout_sessions"),
        (stripe.PaymentIntent, "payment_intents"),
        (stripe.Charge, "charges"),
        (stripe.BalanceTransaction, "balance_transactions"),
        (stripe.Refund, "refunds"),
        (stripe.Customer, "customers"),
        (stripe.Event, "events"),
    ],
)
def test_every_object_has_the_fields_of_its_class(
    client: Any, double: DoubleHandle, kind: Any, collection: str
) -> None:
    client.v1.customers.create({"email": "ada@example.com"})
    double.pay(open_session(client).id)
    client.v1.refunds.create({"charge": double.objects("charges")[0]["id"], "amount": 100})
    fields = {name for name, kind_ in kind.__annotations__.items() if "ClassVar" not in str(kind_)}

    for found in double.objects(collection):
        assert set(found) == fields - ON_REQUEST.get(kind, set())
