"""A Stripe double for one test: its server, a browser that pays, and its chaos switches.

Ask for ``stripe_double`` to have Django's settings point at it. Then::

    stripe_double.send_webhooks_to(live_server.url + "/webhooks/stripe/")
    page = stripe_double.pay(session_id, card=CARD_SUCCESS)
    assert page.redirect_url == "http://testserver/…"
    assert stripe_double.wait_for_webhooks()

Without a live server, post ``stripe_double.signed_webhook(event_id)`` with the test client.
"""

import http.client
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from time import time
from typing import Any
from urllib.parse import urlencode, urlsplit

import pytest
from pytest_django import Settings

from billing.gateways.stripe_double import DoubleConfig, StripeDouble
from billing.gateways.stripe_double.chaos import ApiChaos, ApiFault, WebhookChaos, WebhookMode
from billing.gateways.stripe_double.objects import public
from billing.gateways.stripe_double.payments import settle_fee, settle_refund
from billing.gateways.stripe_double.webhooks import SignedWebhook, sign

CARD_SUCCESS = "4242 4242 4242 4242"
CARD_DECLINED = "4000 0000 0000 0002"
CARD_WITHOUT_FUNDS = "4000 0000 0000 9995"
CARD_AUTHENTICATED = "4000 0025 0000 3155"
CARD_AUTHENTICATED_ALWAYS = "4000 0000 0000 3220"
CARD_REFUND_PENDING = "4000 0000 0000 7726"

# Short enough for a test to see several tries.
RETRY_DELAYS_SECONDS = (0.05, 0.1, 0.2, 0.4, 0.8)


@dataclass(frozen=True)
class BrowserPage:
    """Where a browser ended: on a page of the double, or sent to ``redirect_url``."""

    status: int
    html: str
    redirect_url: str | None = None

    @property
    def alert(self) -> str:
        """The words of the page's alert, or an empty string."""
        reader = _PageReader()
        reader.feed(self.html)
        return " ".join(reader.alert.split())


class DoubleHandle:
    """What a test does with the double."""

    def __init__(self, double: StripeDouble) -> None:
        self._double = double
        self.url = double.url
        self.api_key = double.parts.config.api_key
        self.webhook_secret = double.parts.config.webhook_secret

    def stop(self) -> None:
        """Stop the server: from now on nobody answers."""
        self._double.stop()

    def send_webhooks_to(self, url: str | None) -> None:
        """Send webhooks to an address from now on; None sends none."""
        self._double.parts.sender.url = url

    def chaos(
        self, mode: str, *, copies: int = 2, delay_seconds: float = 0.0, acts: int | None = None
    ) -> None:
        """Make webhooks normal, duplicate, drop, delay or reorder, for the next ``acts`` acts."""
        self._double.parts.chaos.set_webhooks(
            WebhookChaos(
                mode=WebhookMode(mode), copies=copies, delay_seconds=delay_seconds, acts_left=acts
            )
        )

    def break_api(
        self, fault: str, *, calls: int = 1, path: str = "/v1/", delay_seconds: float = 0.0
    ) -> None:
        """Make the next calls answer error, unavailable, lost_reply or slow."""
        self._double.parts.chaos.set_api(
            ApiChaos(
                fault=ApiFault(fault), calls_left=calls, path=path, delay_seconds=delay_seconds
            )
        )

    def calm(self) -> None:
        """End all chaos."""
        self._double.parts.chaos.set_webhooks(WebhookChaos())
        self._double.parts.chaos.set_api(None)
        self._double.parts.chaos.set_fees_late(is_late=False)

    def hold_back_fees(self) -> None:
        """Let new charges come without their balance line."""
        self._double.parts.chaos.set_fees_late(is_late=True)

    def settle_fee(self, charge_id: str) -> None:
        """Write the balance line that was held back."""
        with self._double.parts.acting() as act:
            settle_fee(act=act, charge=_existing(act.store.find("charges", charge_id)))

    def settle_refund(self, refund_id: str, *, is_successful: bool) -> None:
        """Bring a refund to its end, as the card's bank does days later."""
        with self._double.parts.acting() as act:
            document = _existing(act.store.find("refunds", refund_id))
            settle_refund(act=act, document=document, is_successful=is_successful)

    def objects(self, collection: str) -> list[dict[str, Any]]:
        """Return the objects of a collection (``charges``, ``refunds``…), oldest first."""
        with self._double.parts.acting() as act:
            return [public(found) for found in reversed(act.store.newest_first(collection))]

    def events(self, kind: str | None = None) -> list[dict[str, Any]]:
        """Return the events, oldest first, of one type or of all."""
        return [e for e in self.objects("events") if kind is None or e["type"] == kind]

    def signed_webhook(self, event_id: str, *, at: int | None = None) -> SignedWebhook:
        """Return an event as it would be posted: ``body`` and ``signature``."""
        with self._double.parts.acting() as act:
            event = _existing(act.store.find("events", event_id))
        return sign(event=event, secret=self.webhook_secret, now=int(time()) if at is None else at)

    def resend(self, event_id: str, *, copies: int = 1) -> list[int]:
        """Post an event ``copies`` times at once; return the statuses."""
        with self._double.parts.acting() as act:
            event = _existing(act.store.find("events", event_id))
        return self._double.parts.sender.resend(event=event, copies=copies)

    def deliveries(self) -> list[dict[str, Any]]:
        """Return what was sent so far, with the statuses."""
        return list(self._double.parts.sender.deliveries)

    def wait_for_webhooks(self, *, seconds: float = 10.0) -> bool:
        """Wait until every webhook is delivered or given up; say whether that was reached."""
        return self._double.parts.sender.wait_until_idle(seconds)

    def pay(
        self, session_id: str, card: str = CARD_SUCCESS, *, authenticate: bool | None = True
    ) -> BrowserPage:
        """Fill in the hosted page as a browser does, and follow it until it leaves the double.

        ``authenticate`` answers the bank's question, if it comes; None stops before it.
        """
        page = self.visit(f"/c/pay/{session_id}")
        if 'id="payment"' not in page.html:
            return page
        page = self.submit(page, _card_fields(card))
        if 'id="authentication"' in page.html and authenticate is not None:
            return self.submit(page, {"outcome": "authenticate" if authenticate else "fail"})
        return page

    def visit(self, path: str, *, accept_language: str = "en") -> BrowserPage:
        """Open a page of the double."""
        return self._follow("GET", path, "", accept_language)

    def submit(self, page: BrowserPage, fields: dict[str, str]) -> BrowserPage:
        """Send the form of a page, with its own values where ``fields`` has none."""
        reader = _PageReader()
        reader.feed(page.html)
        form = {name: fields.get(name, value) for name, value in reader.inputs.items()}
        form |= {name: value for name, value in fields.items() if name in reader.buttons}
        return self._follow("POST", reader.action, urlencode(form), "en")

    def _follow(self, method: str, path: str, body: str, accept_language: str) -> BrowserPage:
        status, location, html = self._fetch(method, path, body, accept_language)
        if location is None:
            return BrowserPage(status=status, html=html)
        if location.startswith("/"):
            return self._follow("GET", location, "", accept_language)
        return BrowserPage(status=status, html=html, redirect_url=location)

    def _fetch(
        self, method: str, path: str, body: str, accept_language: str
    ) -> tuple[int, str | None, str]:
        parts = urlsplit(self.url)
        connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=10)
        headers = {
            "Accept-Language": accept_language,
            "Content-Type": "application/x-www-form-urlencoded",
        }
        try:
            connection.request(method, path, body=body, headers=headers)
            answer = connection.getresponse()
            return answer.status, answer.getheader("Location"), answer.read().decode()
        finally:
            connection.close()


class _PageReader(HTMLParser):
    """Finds the form, its fields and the alert of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.action = ""
        self.inputs: dict[str, str] = {}
        self.buttons: set[str] = set()
        self.alert = ""
        self._depth = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.action = found["action"]
        elif tag == "input":
            self.inputs[found["name"]] = found.get("value", "")
        elif tag == "button" and "name" in found:
            self.buttons.add(found["name"])
        if found.get("role") == "alert" or self._depth:
            self._depth += 1

    def handle_endtag(self, tag: str) -> None:
        if self._depth:
            self._depth -= 1

    def handle_data(self, data: str) -> None:
        if self._depth:
            self.alert += f" {data}"


def _card_fields(card: str) -> dict[str, str]:
    return {
        "email": "buyer@example.com",
        "card_number": card,
        "expiry": "12/34",
        "cvc": "123",
        "name": "Ada Buyer",
    }


def _existing(document: dict[str, Any] | None) -> dict[str, Any]:
    assert document is not None
    return document


@contextmanager
def running_double(
    *, webhook_url: str | None = None, state_file: Path | None = None
) -> Iterator[DoubleHandle]:
    """Run a double in threads of this process, on a free port."""
    double = StripeDouble(
        DoubleConfig(
            webhook_url=webhook_url,
            state_file=state_file,
            retry_delays_seconds=RETRY_DELAYS_SECONDS,
        )
    )
    double.start()
    try:
        yield DoubleHandle(double)
    finally:
        double.stop()


@pytest.fixture
def stripe_double(settings: Settings) -> Iterator[DoubleHandle]:
    """Run a double, with the site's settings pointing at it."""
    with running_double() as handle:
        settings.STRIPE_API_BASE = handle.url
        settings.STRIPE_SECRET_KEY = handle.api_key
        settings.STRIPE_WEBHOOK_SECRET = handle.webhook_secret
        settings.STRIPE_LIVEMODE = False
        yield handle
