"""Creation of Checkout sessions: reading and checking what the caller asks for."""

import re
from typing import Any
from urllib.parse import urlsplit

from billing.gateways.stripe_double import objects
from billing.gateways.stripe_double.errors import (
    bad_parameter,
    parameter_missing,
    resource_missing,
)
from billing.gateways.stripe_double.params import Params, checked_metadata, whole_number
from billing.gateways.stripe_double.payments import Act
from billing.gateways.stripe_double.store import Document

LIFETIME_SECONDS = 24 * 3600
LIFETIME_SECONDS_AT_LEAST = 30 * 60

# Stripe's published smallest charges, in minor units.
AMOUNT_MINOR_AT_LEAST = {"eur": 50, "gbp": 30, "usd": 50}
AMOUNT_MINOR_AT_MOST = 99_999_999

LINE_ITEMS_AT_MOST = 100
REFERENCE_CHARACTERS_AT_MOST = 200
URL_CHARACTERS_AT_MOST = 5_000

LOCALES = frozenset({"auto", "en", "en-GB", "fr", "fr-CA"})
THREE_D_SECURE = frozenset({"any", "automatic", "challenge"})

CREATE_PARAMS = frozenset(
    {
        "allowed_payment_method_types",
        "cancel_url",
        "client_reference_id",
        "customer",
        "customer_email",
        "expires_at",
        "line_items",
        "locale",
        "metadata",
        "mode",
        "payment_intent_data",
        "payment_method_options",
        "success_url",
    }
)

_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")


def create_session(*, act: Act, values: Document, origin: str) -> Document:
    """Open a hosted page for one payment and announce nothing: Stripe has no event for it."""
    params = Params(values, known=CREATE_PARAMS)
    _check_mode(params)
    items = [_line_item(item, place) for place, item in enumerate(_line_items(params))]
    amount_minor = sum(item["amount_total"] for item in items)
    currency = _one_currency(items)
    _check_amount(amount_minor=amount_minor, currency=currency)
    session = objects.checkout_session(
        now=act.now,
        fields={
            "amount_subtotal": amount_minor,
            "amount_total": amount_minor,
            "cancel_url": _url(params, "cancel_url"),
            "client_reference_id": _reference(params),
            "currency": currency,
            "expires_at": _expires_at(params, now=act.now),
            "locale": params.one_of("locale", LOCALES),
            "metadata": params.metadata(),
            "payment_method_options": _payment_method_options(params),
            **_payment_method_types(params),
            "success_url": _success_url(params),
            "_description": items[0]["description"],
            "_payment_intent_data": _payment_intent_data(params),
            **_payer(act=act, params=params),
        },
    )
    session["url"] = f"{origin}/c/pay/{session['id']}"
    return act.store.save("checkout_sessions", session)


def _check_mode(params: Params) -> None:
    mode = params.required("mode")
    if mode != "payment":
        raise bad_parameter(f"This double knows the mode payment only, not {mode}.", param="mode")


def _line_items(params: Params) -> list[Any]:
    items = params.sequence("line_items")
    if not items:
        raise parameter_missing("line_items")
    if len(items) > LINE_ITEMS_AT_MOST:
        message = f"You may have at most {LINE_ITEMS_AT_MOST} line items."
        raise bad_parameter(message, param="line_items")
    return items


def _line_item(item: Any, place: int) -> Document:
    where = f"line_items[{place}]"
    price = item.get("price_data") if isinstance(item, dict) else None
    if not isinstance(price, dict):
        raise parameter_missing(f"{where}[price_data]")
    product = price.get("product_data")
    if not isinstance(product, dict) or not product.get("name"):
        raise parameter_missing(f"{where}[price_data][product_data][name]")
    quantity = whole_number(item.get("quantity", "1"), param=f"{where}[quantity]")
    unit = whole_number(price.get("unit_amount"), param=f"{where}[price_data][unit_amount]")
    if quantity < 1 or unit < 0:
        raise bad_parameter(
            "This value must be greater than or equal to 1.", param=f"{where}[quantity]"
        )
    return {
        "amount_total": quantity * unit,
        "currency": price.get("currency"),
        "description": product["name"],
    }


def _one_currency(items: list[Document]) -> str:
    currencies = {item["currency"] for item in items}
    if len(currencies) != 1:
        message = "All line items must have the same currency."
        raise bad_parameter(message, param="line_items")
    currency = currencies.pop()
    if currency not in AMOUNT_MINOR_AT_LEAST:
        message = f"Invalid currency: {currency}. This double knows eur, gbp and usd."
        raise bad_parameter(message, param="line_items[0][price_data][currency]")
    return str(currency)


def _check_amount(*, amount_minor: int, currency: str) -> None:
    least = AMOUNT_MINOR_AT_LEAST[currency]
    if amount_minor < least:
        message = (
            f"The Checkout Session's total amount due must add up to at least {least} {currency}."
        )
        raise bad_parameter(message, param="line_items", code="amount_too_small")
    if amount_minor > AMOUNT_MINOR_AT_MOST:
        message = f"The total amount must be no more than {AMOUNT_MINOR_AT_MOST}."
        raise bad_parameter(message, param="line_items", code="amount_too_large")


def _url(params: Params, name: str) -> str | None:
    value = params.text(name)
    if value is None:
        return None
    parts = urlsplit(value)
    if parts.scheme not in {"http", "https"} or not parts.netloc:
        raise bad_parameter("Not a valid URL", param=name, code="url_invalid")
    if len(value) > URL_CHARACTERS_AT_MOST:
        raise bad_parameter("URL must be 5000 characters or less.", param=name, code="url_invalid")
    return value


def _success_url(params: Params) -> str:
    url = _url(params, "success_url")
    if url is None:
        raise parameter_missing("success_url")
    return url


def _reference(params: Params) -> str | None:
    reference = params.text("client_reference_id")
    if reference is not None and len(reference) > REFERENCE_CHARACTERS_AT_MOST:
        message = "Invalid string: must be at most 200 characters."
        raise bad_parameter(message, param="client_reference_id")
    return reference


def _expires_at(params: Params, *, now: int) -> int:
    expires_at = params.integer("expires_at")
    if expires_at is None:
        return now + LIFETIME_SECONDS
    if not now + LIFETIME_SECONDS_AT_LEAST <= expires_at <= now + LIFETIME_SECONDS:
        message = "The `expires_at` timestamp must be between 30 minutes and 24 hours from now."
        raise bad_parameter(message, param="expires_at")
    return expires_at


def _payment_method_types(params: Params) -> Document:
    allowed = params.sequence("allowed_payment_method_types")
    if allowed not in ([], ["card"]):
        message = "This double knows the payment method type card only."
        raise bad_parameter(message, param="allowed_payment_method_types")
    return {"allowed_payment_method_types": allowed or None, "payment_method_types": ["card"]}


def _payment_method_options(params: Params) -> Document:
    card = params.mapping("payment_method_options").get("card", {})
    wanted = card.get("request_three_d_secure", "automatic") if isinstance(card, dict) else None
    if wanted not in THREE_D_SECURE:
        where = "payment_method_options[card][request_three_d_secure]"
        raise bad_parameter("Invalid request_three_d_secure", param=where)
    return {"card": {"request_three_d_secure": wanted}}


def _payment_intent_data(params: Params) -> Document:
    given = params.mapping("payment_intent_data")
    unknown = set(given) - {"description", "metadata"}
    if unknown:
        where = f"payment_intent_data[{min(unknown)}]"
        message = f"Received unknown parameter: {where}"
        raise bad_parameter(message, param=where, code="parameter_unknown")
    metadata = given.get("metadata", {})
    if not isinstance(metadata, dict):
        raise bad_parameter("Invalid hash", param="payment_intent_data[metadata]")
    return {
        "description": given.get("description"),
        "metadata": checked_metadata(metadata, param="payment_intent_data[metadata]"),
    }


def _payer(*, act: Act, params: Params) -> Document:
    customer, email = params.text("customer"), params.text("customer_email")
    if customer and email:
        message = "You may only specify one of these parameters: customer, customer_email."
        raise bad_parameter(message, param="customer_email")
    if customer and act.store.find("customers", customer) is None:
        raise resource_missing(noun="customer", object_id=customer, param="customer")
    if email and not _EMAIL.fullmatch(email):
        message = f"Invalid email address: {email}"
        raise bad_parameter(message, param="customer_email", code="email_invalid")
    return {"customer": customer, "customer_email": email}
