"""The hosted page: its languages, its fields, its policy."""

import http.client
from typing import Any
from urllib.parse import urlsplit

import pytest

from billing.gateways.stripe_double.texts import ENGLISH, FRENCH, amount_text
from tests.stripe_double_fixture import CARD_SUCCESS, DoubleHandle
from tests.unit.stripe_double.orders import open_session

GOOD_FIELDS = {
    "card_number": CARD_SUCCESS,
    "expiry": "12 / 34",
    "cvc": "123",
    "name": "Ada Buyer",
}


class TestLanguages:
    def test_both_languages_have_the_same_words(self) -> None:
        assert set(ENGLISH) == set(FRENCH)

    def test_a_french_session_shows_a_french_page(self, client: Any, double: DoubleHandle) -> None:
        session = open_session(client, locale="fr")

        page = double.visit(f"/c/pay/{session.id}")

        assert '<html lang="fr">' in page.html
        assert "Page de paiement de test" in page.html
        assert "Payer 20,00\u00a0€" in page.html

    def test_an_automatic_session_follows_the_browser(
        self, client: Any, double: DoubleHandle
    ) -> None:
        session = open_session(client, locale="auto")

        page = double.visit(f"/c/pay/{session.id}", accept_language="fr-FR,fr;q=0.9")

        assert '<html lang="fr">' in page.html

    @pytest.mark.parametrize(
        ("currency", "english", "french"),
        [
            ("eur", "€1,234.50", "1\u202f234,50\u00a0€"),
            ("usd", "$1,234.50", "1\u202f234,50\u00a0$US"),
            ("gbp", "£1,234.50", "1\u202f234,50\u00a0£GB"),
        ],
    )
    def test_amounts_are_written_as_each_language_does(
        self, currency: str, english: str, french: str
    ) -> None:
        assert amount_text(amount_minor=123_450, currency=currency, texts=ENGLISH) == english
        assert amount_text(amount_minor=123_450, currency=currency, texts=FRENCH) == french


class TestFields:
    @pytest.mark.parametrize(
        ("field", "value", "words"),
        [
            ("card_number", "4242 4242 4242 4241", "This card number is not valid"),
            ("card_number", "", "This card number is not valid"),
            ("card_number", "٤٢٤٢٤٢٤٢٤٢٤٢٤٢٤٢", "This card number is not valid"),
            ("expiry", "13/34", "Enter a month and a year"),
            ("expiry", "01/20", "This card has expired"),
            ("cvc", "12", "Enter the three or four digits"),
            ("name", " ", "Enter the name written on the card"),
        ],
    )
    def test_names_the_wrong_field_and_charges_nothing(
        self,
        client: Any,
        double: DoubleHandle,
        field: str,
        value: str,
        words: str,
    ) -> None:
        session = open_session(client)
        form = double.visit(f"/c/pay/{session.id}")

        page = double.submit(form, GOOD_FIELDS | {field: value})

        assert page.redirect_url is None
        assert f'id="{field}-error"' in page.html
        assert words in page.html
        assert double.objects("payment_intents") == []

    def test_asks_for_an_email_when_the_session_has_none(
        self, client: Any, double: DoubleHandle
    ) -> None:
        session = open_session(client, customer_email=None)
        form = double.visit(f"/c/pay/{session.id}")

        refused = double.submit(form, GOOD_FIELDS | {"email": "nobody"})
        paid = double.submit(refused, GOOD_FIELDS | {"email": "ada@example.com"})

        assert "Enter an e-mail address" in refused.html
        assert paid.redirect_url is not None

    def test_a_real_card_number_is_declined_and_not_kept(
        self, client: Any, double: DoubleHandle
    ) -> None:
        session = open_session(client)

        page = double.pay(session.id, "4539 1488 0343 6467")

        assert "Only test cards work on this page" in page.alert
        assert double.objects("charges")[0]["payment_method_details"]["card"]["fingerprint"] == ""

    def test_what_was_typed_comes_back_escaped_without_the_security_code(
        self, client: Any, double: DoubleHandle
    ) -> None:
        session = open_session(client)
        form = double.visit(f"/c/pay/{session.id}")

        page = double.submit(form, GOOD_FIELDS | {"name": '"><script>', "expiry": "", "cvc": "987"})

        assert "&quot;&gt;&lt;script&gt;" in page.html
        assert "<script>" not in page.html
        assert 'value="987"' not in page.html


class TestPolicy:
    def test_the_page_allows_its_form_and_the_way_back_and_nothing_else(
        self, client: Any, double: DoubleHandle
    ) -> None:
        session = open_session(client)

        policy = _header(double, f"/c/pay/{session.id}", "Content-Security-Policy")

        assert policy == (
            "default-src 'none'; style-src 'self'; img-src data:; "
            "form-action 'self' http://shop.test; base-uri 'none'; frame-ancestors 'none'"
        )

    def test_the_page_has_no_script_and_no_inline_style(
        self, client: Any, double: DoubleHandle
    ) -> None:
        session = open_session(client)

        page = double.visit(f"/c/pay/{session.id}")

        assert "<script" not in page.html
        assert "style=" not in page.html
        assert "<style" not in page.html

    def test_the_style_sheet_is_served(self, double: DoubleHandle) -> None:
        assert _header(double, "/c/style.css", "Content-Type") == "text/css; charset=utf-8"

    @pytest.mark.parametrize("path", ["/", "/c/pay/cs_test_nobody", "/c/pay/../state", "/c/"])
    def test_an_unknown_page_says_so(self, double: DoubleHandle, path: str) -> None:
        page = double.visit(path)

        assert page.status == 404
        assert "There is no such payment page" in page.html


def _header(double: DoubleHandle, path: str, name: str) -> str | None:
    parts = urlsplit(double.url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=10)
    try:
        connection.request("GET", path)
        return connection.getresponse().getheader(name)
    finally:
        connection.close()
