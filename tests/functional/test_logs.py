"""Logs hold codes and numbers: no name, address, key or secret, also when something fails."""

import json
import logging
from io import StringIO

import pytest
from django.test import Client
from django.urls import reverse

from config.logs import JsonFormatter
from tests.exchange import SSH_KEY
from tests.functional.typed_forms import accepted, review_address
from tests.functional.whole_market import WholeMarket, address_of, make_whole_market

pytestmark = pytest.mark.django_db

EMAIL = "zebra-owner@example.com"
PASSWORD = "four unrelated quiet words"
ADDRESS = "192.0.2.77"
PRIVATE = (EMAIL, PASSWORD, ADDRESS, "Zebra", SSH_KEY.split()[1], "sk_test_", "whsec_")


@pytest.fixture
def market() -> WholeMarket:
    return make_whole_market()


@pytest.fixture
def log():
    """Return what the site's own handler would write, from its quietest word up."""
    stream = StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonFormatter())
    root = logging.getLogger()
    root.addHandler(handler)
    yield stream
    root.removeHandler(handler)


def lines_of(log: StringIO) -> list[dict[str, object]]:
    return [json.loads(line) for line in log.getvalue().splitlines()]


def told(log: StringIO) -> list[str]:
    text = log.getvalue()
    return [secret for secret in PRIVATE if secret in text]


def visitor(market: WholeMarket, person: str) -> Client:
    client = market.browser_of(person)
    client.raise_request_exception = False
    client.defaults["REMOTE_ADDR"] = ADDRESS
    return client


class TestFailures:
    @pytest.mark.parametrize("language", ["en", "fr"])
    def test_a_server_error_logs_where_it_was_and_not_what_was_typed(
        self, market, log, monkeypatch, language
    ):
        def fails(**_given: object) -> None:
            raise ValueError(f"no balance of {EMAIL} with {SSH_KEY}")

        monkeypatch.setattr("marketplace.views.orders.place_bid", fails)

        answer = visitor(market, "buyer").post(review_address(language), accepted(label=EMAIL))

        (line,) = [line for line in lines_of(log) if line["level"] == "ERROR"]
        assert (answer.status_code, line["error"]) == (500, "ValueError")
        assert "orders.py" in str(line["where"])
        assert told(log) == []
        assert EMAIL not in answer.content.decode()
        assert f'<html lang="{language}">' in answer.content.decode()

    def test_a_database_error_does_not_quote_its_rows(self, market, log, monkeypatch):
        from django.db import IntegrityError

        def fails(**_given: object) -> None:
            raise IntegrityError(f"Key (lower(email))=({EMAIL}) already exists.")

        monkeypatch.setattr("marketplace.accounts.views.keys.add_ssh_key", fails)

        answer = visitor(market, "buyer").post(
            address_of("accounts:keys"), {"name": "Zebra", "public_key": SSH_KEY}
        )

        assert answer.status_code == 500
        assert told(log) == []


class TestRefusals:
    def test_of_forms_and_pages_name_nobody(self, market, log):
        for person in ("nobody", "stranger", "buyer"):
            client = visitor(market, person)
            client.get(address_of("marketplace:order", market.waiting.pk))
            client.get(address_of("catalog:home"), {"currency": EMAIL})
            client.get(f"/en/?a=%ff&e={EMAIL}")
            client.post(review_address(), accepted(new_key=EMAIL))
            client.post(address_of("accounts:members"), {"email": EMAIL, "role": "x"})
            client.post(address_of("accounts:keys"), {"name": EMAIL, "public_key": SSH_KEY})

        assert lines_of(log)
        assert told(log) == []

    def test_of_sign_in_and_sign_up_name_nobody(self, market, log):
        client = visitor(market, "nobody")
        client.post(reverse("account_login"), {"login": EMAIL, "password": PASSWORD})
        client.post(
            reverse("account_signup"),
            {"email": EMAIL, "password1": PASSWORD, "accepts_terms": "on"},
        )
        client.post(reverse("account_reset_password"), {"email": EMAIL})
        Client(enforce_csrf_checks=True).post(
            reverse("account_login"), {"login": EMAIL}, REMOTE_ADDR=ADDRESS
        )

        assert told(log) == []

    def test_of_webhooks_and_payments_tell_no_secret(self, market, log, stripe_double):
        client = visitor(market, "buyer")
        client.post("/webhooks/stripe/", {"email": EMAIL}, headers={"stripe-signature": "t=1,v1=x"})
        stripe_double.break_api("error", calls=9)
        client.post(address_of("billing:top_up", "EUR"), {"amount": "20", "key": "k", "next": ""})
        stripe_double.calm()
        client.post(address_of("billing:top_up", "EUR"), {"amount": "20", "key": "l", "next": ""})

        assert told(log) == []

    def test_of_too_much_haste_name_nobody(self, market, log, settings, own_cache):
        from marketplace.accounts.rate_limits import RATES, Limit, count_act

        settings.RATE_LIMITS_ARE_ON = True
        for _act in range(RATES[Limit.CANCEL][0].times):
            count_act(limit=Limit.CANCEL, who=market.buyers.pk)

        answer = visitor(market, "buyer").post(
            address_of("marketplace:order_cancel", market.waiting.pk)
        )

        assert answer.status_code == 429
        assert told(log) == []


def test_a_path_is_written_on_one_line_of_json(client, log):
    client.get("/en/%0A%22level%22:%22ERROR%22/")

    assert [line["level"] for line in lines_of(log)] == ["WARNING"]


def fails() -> None:
    raise ValueError(EMAIL)


def test_the_words_of_an_exception_stay_out(log):
    try:
        fails()
    except ValueError:
        logging.getLogger("market").exception("it failed")

    (line,) = lines_of(log)
    assert (line["message"], line["error"]) == ("it failed", "ValueError")
    assert told(log) == []


def test_numbers_and_codes_that_come_along_are_kept_and_words_are_not(log):
    extra = {"top_up": 7, "reason": "card_declined", "email": EMAIL, "request": object()}
    logging.getLogger("market").warning("a top-up waits", extra=extra)

    (line,) = lines_of(log)
    assert (line["top_up"], line["reason"]) == (7, "card_declined")
    assert set(line) == {"time", "level", "logger", "message", "top_up", "reason"}
