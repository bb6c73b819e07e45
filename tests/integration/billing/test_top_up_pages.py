"""The pages of a top-up and of the billing profile: what a form refuses, where it leads."""

import pytest

from billing.models import BillingProfile, Journal, TopUp
from billing.operations.topups import set_gate
from tests.factories import T0, fund_wallet
from tests.integration.billing.page_reading import address, text_of
from tests.personas import make_personas

pytestmark = pytest.mark.django_db


@pytest.fixture
def people():
    return make_personas()


@pytest.fixture
def buyer(client, people):
    client.force_login(people.buyer)
    return people.buyer_organisation


@pytest.fixture
def _profile(people):
    BillingProfile.objects.create(
        organisation=people.buyer_organisation, legal_name="Buyers", country="FR", updated_at=T0
    )
    set_gate(is_open=True, now=T0)


@pytest.mark.usefixtures("_profile")
class TestTopUpPage:
    def send(self, client, stripe_double, **fields):
        url = address("top_up", "EUR")
        form = client.get(url).context["form"]
        data = {"amount": "50", "key": form["key"].value(), "next": ""} | fields
        return client.post(url, data)

    def test_leads_to_the_payment_page(self, client, buyer, stripe_double):
        response = self.send(client, stripe_double, amount="50,25")

        row = TopUp.objects.get()
        assert (row.amount_minor, row.currency, row.organisation) == (5_025, "EUR", buyer)
        assert (response.status_code, response["Location"]) == (302, row.checkout_url)

    def test_alone_lets_its_form_end_at_the_provider(self, client, buyer, stripe_double):
        policy = client.get(address("top_up", "EUR"))["Content-Security-Policy"]
        elsewhere = client.get(address("wallets"))["Content-Security-Policy"]

        assert f"form-action 'self' {stripe_double.url}" in policy
        assert stripe_double.url not in elsewhere

    def test_sent_twice_is_one_top_up(self, client, buyer, stripe_double):
        first = self.send(client, stripe_double, key="same")
        second = self.send(client, stripe_double, key="same")

        assert first["Location"] == second["Location"]
        assert TopUp.objects.count() == 1

    def test_sent_again_with_another_amount_asks_to_check(self, client, buyer, stripe_double):
        self.send(client, stripe_double, key="same")

        response = self.send(client, stripe_double, key="same", amount="60")

        assert response.status_code == 422
        assert "You changed the amount" in text_of(response)
        assert response.context["form"]["key"].value() != "same"
        assert TopUp.objects.get().amount_minor == 5_000

    @pytest.mark.parametrize(
        ("typed", "words"),
        [
            ("9.99", "Enter at least 10.00."),
            ("5000.01", "Enter at most 5000.00."),
            ("0", "Enter at least 10.00."),
            ("-20", "Enter at least 10.00."),
            ("$50", "This amount is in EUR, not in USD."),
            ("1,234", "can mean"),
            ("ten", "Enter an amount such as"),
            ("", "This field is required."),
            ("0.125", "Use at most 2 decimals"),
        ],
    )
    def test_refuses_a_bad_amount_and_creates_nothing(
        self, client, buyer, stripe_double, typed, words
    ):
        response = self.send(client, stripe_double, amount=typed)

        assert response.status_code == 422
        assert words in text_of(response)
        assert not TopUp.objects.exists()

    def test_refuses_a_form_without_its_key(self, client, buyer, stripe_double):
        response = self.send(client, stripe_double, key="")

        assert response.status_code == 422
        assert not TopUp.objects.exists()

    def test_says_when_the_provider_is_away(self, client, buyer, stripe_double):
        stripe_double.break_api("unavailable", calls=5)

        response = self.send(client, stripe_double)

        assert response.status_code == 503
        assert "The payment page cannot be opened now." in text_of(response)

    @pytest.mark.parametrize(
        ("query", "amount"),
        [("missing_minor=1994", 2_000), ("missing_minor=300", 1_000), ("amount=75.50", 7_550)],
    )
    def test_comes_with_the_amount_that_is_missing(self, client, buyer, query, amount):
        response = client.get(f"{address('top_up', 'EUR')}?{query}")

        assert response.context["form"]["amount"].initial == amount

    @pytest.mark.parametrize("query", ["missing_minor=-1", "missing_minor=x", "amount=lots"])
    def test_takes_no_nonsense_from_its_address(self, client, buyer, query):
        response = client.get(f"{address('top_up', 'EUR')}?{query}")

        assert response.context["form"]["amount"].initial is None

    def test_states_the_tax_of_the_customers_country(self, client, buyer):
        page = text_of(client.get(address("top_up", "EUR", language="fr")))

        assert "TVA du pays de facturation (France), 20\u202f% aujourd’hui" in page

    def test_is_closed_before_the_market_opens(self, client, buyer, stripe_double):
        set_gate(is_open=False, now=T0)

        response = client.post(address("top_up", "EUR"), {"amount": "50", "key": "k"})

        assert "The market has not opened." in text_of(response)
        assert not TopUp.objects.exists()

    def test_without_a_currency_leads_to_the_fullest_wallet(self, client, buyer):
        fund_wallet(buyer, amount_minor=500, currency="USD")

        response = client.get(f"{address('top_up')}?next=/en/")

        assert response["Location"] == "/en/top-up/USD/?next=%2Fen%2F"

    def test_asks_for_the_billing_profile_and_comes_back(self, client, buyer):
        BillingProfile.objects.all().delete()
        url = address("top_up", "EUR")

        response = client.get(url)
        assert response["Location"] == f"{address('profile')}?next=%2Fen%2Ftop-up%2FEUR%2F"
        saved = client.post(
            response["Location"],
            {"kind": "person", "legal_name": "Ada", "country": "DE", "next": url},
        )

        assert saved["Location"] == url
        assert BillingProfile.objects.get().country == "DE"


@pytest.mark.usefixtures("_profile")
class TestStatusPage:
    def pay(self, client, stripe_double, **fields) -> TopUp:
        TestTopUpPage().send(client, stripe_double, **fields)
        return TopUp.objects.get()

    def test_credits_a_payment_of_which_no_webhook_told(self, client, buyer, stripe_double):
        row = self.pay(client, stripe_double)
        stripe_double.pay(row.checkout_session_id)

        page = text_of(client.get(address("top_up_status", row.pk)))

        assert "€50.00 is in your wallet" in page
        assert "€50.00 is available now." in page
        assert Journal.objects.count() == 1

    def test_waits_and_asks_again_by_itself(self, client, buyer, stripe_double):
        row = self.pay(client, stripe_double)

        response = client.get(address("top_up_status", row.pk))

        assert "Waiting for the confirmation" in text_of(response)
        assert 'hx-trigger="every 2s"' in response.content.decode()

    def test_gives_htmx_the_state_alone(self, client, buyer, stripe_double):
        row = self.pay(client, stripe_double)
        stripe_double.pay(row.checkout_session_id)

        response = client.get(address("top_up_status", row.pk), headers={"HX-Request": "true"})

        assert "<html" not in response.content.decode()
        assert "hx-get" not in response.content.decode()

    def test_says_that_nothing_was_charged_when_one_left(self, client, buyer, stripe_double):
        row = self.pay(client, stripe_double)

        page = text_of(client.get(f"{address('top_up_status', row.pk)}?left=1"))

        assert "You left the payment page Nothing was charged." in page
        assert "Go on with the payment" in page

    @pytest.mark.parametrize(
        ("state", "words"),
        [("failed", "The payment failed"), ("expired", "The payment page has closed")],
    )
    def test_offers_to_start_again(self, client, buyer, stripe_double, state, words):
        row = self.pay(client, stripe_double)
        TopUp.objects.update(state=state)

        response = client.get(address("top_up_status", row.pk))

        assert words in text_of(response)
        assert "/en/top-up/EUR/?amount=50.00" in response.content.decode()

    def test_leads_back_to_the_order_that_waited(self, client, buyer, stripe_double):
        row = self.pay(client, stripe_double, next="/en/wallets/USD/")
        stripe_double.pay(row.checkout_session_id)

        response = client.get(address("top_up_status", row.pk))

        assert response.context["next"] == "/en/wallets/USD/"

    @pytest.mark.parametrize("next_", ["https://evil.example/", "//evil.example", "javascript:x"])
    def test_leads_to_no_stranger(self, client, buyer, stripe_double, next_):
        row = self.pay(client, stripe_double, next=next_)

        assert client.get(address("top_up_status", row.pk)).context["next"] == ""

    def test_stands_when_the_provider_is_away(self, client, buyer, stripe_double):
        row = self.pay(client, stripe_double)
        stripe_double.break_api("unavailable", calls=9)

        response = client.get(address("top_up_status", row.pk))

        assert response.status_code == 200
        assert "Waiting for the confirmation" in text_of(response)


class TestProfile:
    def send(self, client, **fields):
        data = {"kind": "company", "legal_name": "Ada SAS", "country": "FR"} | fields
        return client.post(address("profile"), data)

    def test_is_saved_with_its_kind_and_number(self, client, buyer):
        response = self.send(client, country="DE", vat_id="de 123 456 789")

        profile = BillingProfile.objects.get()
        buyer.refresh_from_db()
        assert response["Location"] == address("wallets")
        assert (profile.vat_id, profile.country, buyer.kind) == ("DE123456789", "DE", "company")

    @pytest.mark.parametrize(
        ("fields", "words"),
        [
            ({"country": ""}, "This field is required."),
            ({"country": "ZZ"}, "Select a valid choice."),
            ({"legal_name": ""}, "This field is required."),
            ({"vat_id": "DE123456789"}, "This is not a VAT number of the chosen country."),
            ({"kind": "person", "vat_id": "FR40303265045"}, "Only a company has a VAT number"),
            ({"country": "US", "vat_id": "123"}, "This is not a VAT number of the chosen country."),
        ],
    )
    def test_refuses_what_cannot_be_true(self, client, buyer, fields, words):
        response = self.send(client, **fields)

        assert response.status_code == 422
        assert words in text_of(response)
        assert not BillingProfile.objects.exists()

    def test_loses_the_check_with_a_new_number_and_keeps_it_otherwise(self, client, buyer):
        self.send(client, vat_id="FR40303265045")
        BillingProfile.objects.update(vat_id_checked_at=T0)

        self.send(client, vat_id="FR40303265045", city="Lyon")
        kept = BillingProfile.objects.get().vat_id_checked_at
        self.send(client, vat_id="FR41303265045")

        assert kept == T0
        assert BillingProfile.objects.get().vat_id_checked_at is None
