"""Pay a top-up on the payment double's hosted page, as its customer's browser would."""

import http.client
from datetime import datetime
from urllib.parse import urlencode, urlsplit

from django.conf import settings

from billing.models import TopUp
from billing.operations.topups import apply_checkout, start_top_up
from config.demo.founding import Party

CARD = {
    "card_number": "4242 4242 4242 4242",
    "expiry": "12 / 79",
    "cvc": "123",
}
SECONDS = 10


class PageRefused(Exception):
    """The hosted page did not take the payment."""


def pay_in(*, payer: Party, currency: str, amount_minor: int, key: str, now: datetime) -> TopUp:
    """Start a top-up, pay it by card, and bring the money into the wallet."""
    started = start_top_up(
        organisation_id=payer.organisation.pk,
        user_id=payer.user.pk,
        currency=currency,
        amount_minor=amount_minor,
        key=key,
        locale="en",
        now=now,
    )
    assert started.checkout_session_id is not None
    _pay(started.checkout_url, name=payer.user.name)
    paid = apply_checkout(session_id=started.checkout_session_id, now=now)
    if paid.state != TopUp.State.PAID:
        raise PageRefused(f"top-up {paid.pk} is {paid.state}")
    return paid


def silence_webhooks(*, are_silent: bool) -> None:
    """Let the double's webhooks go nowhere, or be sent again: nobody listens before the site runs."""
    path, body = ("/_double/webhooks", '{"mode": "drop"}') if are_silent else ("/_double/calm", "")
    status = _post(
        f"{settings.STRIPE_API_BASE}{path}",
        body=body,
        headers={"Authorization": f"Bearer {settings.STRIPE_SECRET_KEY}"},
    )
    if status != http.HTTPStatus.OK:
        raise PageRefused(f"the payment double answers {status}")


def _pay(page_url: str, *, name: str) -> None:
    status = _post(
        page_url,
        body=urlencode(CARD | {"name": name}),
        headers={"Content-Type": "application/x-www-form-urlencoded"},
    )
    if status not in {http.HTTPStatus.SEE_OTHER, http.HTTPStatus.FOUND}:
        raise PageRefused(f"the payment page answers {status}")


def _post(url: str, *, body: str, headers: dict[str, str]) -> int:
    address = urlsplit(url)
    connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=SECONDS)
    try:
        connection.request("POST", address.path, body=body.encode(), headers=headers)
        return connection.getresponse().status
    finally:
        connection.close()
