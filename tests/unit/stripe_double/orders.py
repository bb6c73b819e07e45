"""What a shop would ask of Stripe, for the tests of the double."""

from typing import Any

import stripe

from tests.stripe_double_fixture import DoubleHandle

SUCCESS_URL = "http://shop.test/back?session={CHECKOUT_SESSION_ID}"
CANCEL_URL = "http://shop.test/cancelled"


def session_form(**changes: Any) -> dict[str, Any]:
    """Return what opens a page for 20.00 euros; a change to None leaves a field out."""
    form: dict[str, Any] = {
        "mode": "payment",
        "line_items": [
            {
                "quantity": 1,
                "price_data": {
                    "currency": "eur",
                    "unit_amount": 2_000,
                    "product_data": {"name": "Wallet top-up"},
                },
            }
        ],
        "success_url": SUCCESS_URL,
        "cancel_url": CANCEL_URL,
        "client_reference_id": "17",
        "customer_email": "ada@example.com",
        "locale": "en",
        "metadata": {"topup_id": "17"},
        "payment_intent_data": {"metadata": {"topup_id": "17"}},
    }
    return {name: value for name, value in (form | changes).items() if value is not None}


def open_session(client: Any, **changes: Any) -> Any:
    return client.v1.checkout.sessions.create(session_form(**changes))


def line(*, amount_minor: int, currency: str = "eur") -> list[dict[str, Any]]:
    price = {
        "currency": currency,
        "unit_amount": amount_minor,
        "product_data": {"name": "Wallet top-up"},
    }
    return [{"quantity": 1, "price_data": price}]


def sdk_client(double: DoubleHandle, *, api_key: str = "", retries: int = 0) -> Any:
    return stripe.StripeClient(
        api_key or double.api_key,
        base_addresses={"api": double.url},
        max_network_retries=retries,
        http_client=stripe.RequestsClient(timeout=10, proxy={"http": None, "https": None}),
    )
