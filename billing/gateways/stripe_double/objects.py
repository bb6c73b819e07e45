"""The JSON shapes of the objects this double knows, as Stripe's version 2026-10-28 sends them.

Fields that this site cannot influence carry the value they have on a plain test account. Keys
that begin with an underscore are the double's own notes and never leave it.
"""

from typing import Any

from billing.gateways.stripe_double.cards import Card
from billing.gateways.stripe_double.config import API_VERSION
from billing.gateways.stripe_double.store import Document, new_id


def checkout_session(*, now: int, fields: Document) -> Document:
    """Return an open session in payment mode; ``fields`` hold what the caller asked for."""
    return {
        "id": new_id("cs"),
        "object": "checkout.session",
        "branding_settings": None,
        "collected_information": None,
        "customer_account": None,
        "excluded_payment_method_types": None,
        "integration_identifier": None,
        "managed_payments": None,
        "name_collection": None,
        "optional_items": None,
        "origin_context": None,
        "payment_method_configuration_details": None,
        "permissions": None,
        "presentment_details": None,
        "redirect_on_completion": None,
        "return_url": None,
        "tax_id_collection": None,
        "custom_text": {"after_submit": None, "shipping_address": None, "submit": None},
        "adaptive_pricing": {"enabled": False},
        "after_expiration": None,
        "allow_promotion_codes": None,
        "automatic_tax": {"enabled": False, "liability": None, "provider": None, "status": None},
        "billing_address_collection": None,
        "client_secret": None,
        "consent": None,
        "consent_collection": None,
        "created": now,
        "currency_conversion": None,
        "custom_fields": [],
        "customer_creation": "if_required",
        "customer_details": None,
        "discounts": [],
        "invoice": None,
        "invoice_creation": {"enabled": False, "invoice_data": {"metadata": {}}},
        "livemode": False,
        "mode": "payment",
        "payment_intent": None,
        "payment_link": None,
        "payment_method_collection": "if_required",
        "payment_status": "unpaid",
        "phone_number_collection": {"enabled": False},
        "recovered_from": None,
        "saved_payment_method_options": None,
        "setup_intent": None,
        "shipping_address_collection": None,
        "shipping_cost": None,
        "shipping_options": [],
        "status": "open",
        "submit_type": None,
        "subscription": None,
        "total_details": {"amount_discount": 0, "amount_shipping": 0, "amount_tax": 0},
        "ui_mode": "hosted_page",
        "wallet_options": None,
        **fields,
    }


def payment_intent(*, now: int, session: Document) -> Document:
    """Return the intent that Checkout makes when a customer first submits the page."""
    intent_id = new_id("pi")
    return {
        "id": intent_id,
        "object": "payment_intent",
        "customer_account": None,
        "excluded_payment_method_types": None,
        "hooks": None,
        "managed_payments": None,
        "payment_details": None,
        "payment_method_configuration_details": None,
        "payment_record": None,
        "presentment_details": None,
        "source": None,
        "amount": session["amount_total"],
        "amount_capturable": 0,
        "amount_details": {"tip": {}},
        "amount_received": 0,
        "application": None,
        "application_fee_amount": None,
        "automatic_payment_methods": None,
        "canceled_at": None,
        "cancellation_reason": None,
        "capture_method": "automatic_async",
        "client_secret": f"{intent_id}_secret_{new_id('x')[2:]}",
        "confirmation_method": "automatic",
        "created": now,
        "currency": session["currency"],
        "customer": session["customer"],
        "description": session["_payment_intent_data"]["description"],
        "last_payment_error": None,
        "latest_charge": None,
        "livemode": False,
        "metadata": session["_payment_intent_data"]["metadata"],
        "next_action": None,
        "on_behalf_of": None,
        "payment_method": None,
        "allowed_payment_method_types": session["allowed_payment_method_types"],
        "payment_method_options": session["payment_method_options"],
        "payment_method_types": session["payment_method_types"],
        "processing": None,
        "receipt_email": None,
        "review": None,
        "setup_future_usage": None,
        "shipping": None,
        "statement_descriptor": None,
        "statement_descriptor_suffix": None,
        "status": "requires_payment_method",
        "transfer_data": None,
        "transfer_group": None,
    }


def charge(*, now: int, intent: Document, card: Card, billing: Document, is_paid: bool) -> Document:
    """Return one attempt on a card, good or bad."""
    return {
        "id": new_id("ch"),
        "object": "charge",
        "authorization_code": None,
        "calculated_statement_descriptor": None,
        "level3": None,
        "presentment_details": None,
        "source": None,
        "transfer": None,
        "radar_options": {},
        "amount": intent["amount"],
        "amount_captured": intent["amount"] if is_paid else 0,
        "amount_refunded": 0,
        "application": None,
        "application_fee": None,
        "application_fee_amount": None,
        "balance_transaction": None,
        "billing_details": billing,
        "captured": is_paid,
        "created": now,
        "currency": intent["currency"],
        "customer": intent["customer"],
        "description": intent["description"],
        "disputed": False,
        "failure_balance_transaction": None,
        "failure_code": None if is_paid else "card_declined",
        "failure_message": None if is_paid else card.decline_message,
        "fraud_details": {},
        "livemode": False,
        "metadata": intent["metadata"],
        "on_behalf_of": None,
        "outcome": _outcome(card=card, is_paid=is_paid),
        "paid": is_paid,
        "payment_intent": intent["id"],
        "payment_method": intent["payment_method"],
        "payment_method_details": {"card": _card_details(card), "type": "card"},
        "receipt_email": None,
        "receipt_number": None,
        "receipt_url": None,
        "refunded": False,
        "review": None,
        "shipping": None,
        "source_transfer": None,
        "statement_descriptor": None,
        "statement_descriptor_suffix": None,
        "status": "succeeded" if is_paid else "failed",
        "transfer_data": None,
        "transfer_group": None,
    }


def _outcome(*, card: Card, is_paid: bool) -> Document:
    return {
        "advice_code": None,
        "network_status": "approved_by_network" if is_paid else "declined_by_network",
        "reason": None if is_paid else card.decline_code,
        "risk_level": "normal",
        "seller_message": "Payment complete." if is_paid else "The bank declined the payment.",
        "type": "authorized" if is_paid else "issuer_declined",
    }


def _card_details(card: Card) -> Document:
    result = "authenticated" if card.needs_authentication else "attempt_acknowledged"
    return {
        "brand": card.brand,
        "checks": {
            "address_line1_check": None,
            "address_postal_code_check": None,
            "cvc_check": "pass",
        },
        "country": "FR",
        "fingerprint": card.fingerprint,
        "funding": "credit",
        "last4": card.number[-4:],
        "network": card.brand,
        "three_d_secure": {"result": result, "version": "2.2.0"},
        "wallet": None,
    }


def balance_transaction(
    *, now: int, amount: int, fee: int, source: Document, kind: str
) -> Document:
    """Return one line of the account's balance; ``amount`` is signed, ``fee`` is taken off it."""
    detail = {
        "amount": fee,
        "application": None,
        "currency": source["currency"],
        "description": "Stripe processing fees",
        "type": "stripe_fee",
    }
    return {
        "id": new_id("txn"),
        "object": "balance_transaction",
        "amount": amount,
        "available_on": now,
        "balance_type": "payments",
        "created": now,
        "currency": source["currency"],
        "description": source.get("description"),
        "exchange_rate": None,
        "fee": fee,
        "fee_details": [detail] if fee else [],
        "net": amount - fee,
        "reporting_category": kind,
        "source": source["id"],
        "status": "pending",
        "type": kind,
    }


def refund(*, now: int, amount: int, charge_document: Document, fields: Document) -> Document:
    """Return a refund of part or all of a charge."""
    return {
        "id": new_id("re"),
        "object": "refund",
        "customer": None,
        "customer_account": None,
        "description": None,
        "failure_balance_transaction": None,
        "failure_reason": None,
        "instructions_email": None,
        "next_action": None,
        "payment_method": None,
        "pending_reason": None,
        "presentment_details": None,
        "amount": amount,
        "balance_transaction": None,
        "charge": charge_document["id"],
        "created": now,
        "currency": charge_document["currency"],
        "destination_details": {"card": {"type": "refund"}, "type": "card"},
        "payment_intent": charge_document["payment_intent"],
        "receipt_number": None,
        "source_transfer_reversal": None,
        "status": "succeeded",
        "transfer_reversal": None,
        **fields,
    }


def customer(*, now: int, fields: Document) -> Document:
    """Return a customer record."""
    return {
        "id": new_id("cus"),
        "object": "customer",
        "business_name": None,
        "customer_account": None,
        "individual_name": None,
        "invoice_settings": None,
        "phone": None,
        "next_invoice_sequence": 1,
        "address": None,
        "balance": 0,
        "created": now,
        "currency": None,
        "default_source": None,
        "delinquent": False,
        "discount": None,
        "invoice_prefix": new_id("x")[2:10].upper(),
        "livemode": False,
        "preferred_locales": [],
        "shipping": None,
        "tax_exempt": "none",
        "test_clock": None,
        **fields,
    }


def event(*, now: int, kind: str, snapshot: Document, request: Document, pending: int) -> Document:
    """Return an event that freezes ``snapshot`` as it is now."""
    return {
        "id": new_id("evt"),
        "object": "event",
        "account": None,
        "context": None,
        "api_version": API_VERSION,
        "created": now,
        "data": {"object": snapshot},
        "livemode": False,
        "pending_webhooks": pending,
        "request": request,
        "type": kind,
    }


def public(document: Document) -> Document:
    """Return a copy without the double's own notes."""
    return {key: _public_value(value) for key, value in document.items() if not key.startswith("_")}


def _public_value(value: Any) -> Any:
    if isinstance(value, dict):
        return public(value)
    if isinstance(value, list):
        return [_public_value(item) for item in value]
    return value
