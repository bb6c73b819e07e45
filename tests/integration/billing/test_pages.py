"""Pages of money: who sees them, what they say, and what a form refuses."""

import csv
import re
from datetime import datetime

import pytest
from django.urls import reverse
from django.utils import translation

from billing.models import BillingProfile, Journal, TopUp
from billing.money import Tally
from billing.operations.charges import HourCharge, charge_hours
from billing.operations.holds import place_hold, release_holds, reprice_holds
from billing.operations.topups import set_gate
from billing.queries import Statement, earnings_of, statement_lines, wallets_of
from marketplace.accounts.models import Membership
from tests.factories import T0, MembershipFactory, fund_wallet
from tests.personas import make_personas

pytestmark = pytest.mark.django_db

HOUR = Tally(net_minor=1_000, vat_minor=200, seller_minor=900)


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


def address(name: str, *args, language: str = "en") -> str:
    with translation.override(language):
        return reverse(f"billing:{name}", args=args)


def text_of(response) -> str:
    """The page's words, without tags, spaces joined; narrow spaces stay."""
    words = re.sub(r"<[^>]+>", " ", response.content.decode())
    return re.sub(r"[ \n]+", " ", words)


def trade(people) -> None:
    """Fund the buyer's wallet, order, fill lower, pay an hour, release the rest."""
    fund_wallet(people.buyer_organisation, amount_minor=10_000)
    place_hold(
        organisation_id=people.buyer_organisation.pk,
        currency="EUR",
        amount_minor=2_600,
        purpose="bid:7",
        now=T0,
    )
    reprice_holds(amounts_minor={"bid:7": 2_400}, now=T0)
    charge_hours(
        charges=[
            HourCharge(
                key="charge:5:1",
                hold_purpose="bid:7",
                seller_id=people.seller_organisation.pk,
                vat_country="FR",
                tally=HOUR,
                source_id=5,
                occurred_at=T0,
            )
        ]
    )
    release_holds(purposes=["bid:7"], now=T0)


class TestAddresses:
    @pytest.mark.parametrize(
        ("name", "args", "english", "french"),
        [
            ("wallets", [], "/en/wallets/", "/fr/portefeuilles/"),
            ("statement", ["EUR"], "/en/wallets/EUR/", "/fr/portefeuilles/EUR/"),
            ("top_up", ["GBP"], "/en/top-up/GBP/", "/fr/recharger/GBP/"),
            ("profile", [], "/en/billing-profile/", "/fr/profil-de-facturation/"),
        ],
    )
    def test_are_words_of_their_language(self, name, args, english, french):
        assert address(name, *args) == english
        assert address(name, *args, language="fr") == french

    @pytest.mark.parametrize("path", ["/en/wallets/eur/", "/en/wallets/JPY/", "/en/top-up/XX/"])
    def test_of_another_currency_do_not_exist(self, client, buyer, path):
        assert client.get(path).status_code == 404


class TestAccess:
    PAGES: tuple[tuple[str, list[str]], ...] = (
        ("wallets", []),
        ("statement", ["EUR"]),
        ("statement_csv", ["EUR"]),
        ("top_up", ["EUR"]),
        ("profile", []),
    )

    @pytest.mark.parametrize(("name", "args"), PAGES)
    def test_nobody_is_sent_to_sign_in(self, client, name, args):
        response = client.get(address(name, *args))

        assert response.status_code == 302
        assert reverse("account_login") in response["Location"]

    @pytest.mark.parametrize(("name", "args"), PAGES)
    def test_a_member_who_does_not_pay_finds_no_page(self, client, people, name, args):
        client.force_login(people.colleague)

        assert client.get(address(name, *args)).status_code == 404

    def test_a_billing_member_sees_the_organisations_wallets(self, client, people):
        payer = MembershipFactory.create(
            organisation=people.buyer_organisation, role=Membership.Role.BILLING
        )
        client.force_login(payer.user)

        assert client.get(address("wallets")).status_code == 200

    def test_a_strangers_top_up_does_not_exist(self, client, people, buyer):
        row = TopUp.objects.create(
            organisation=people.stranger_organisation,
            user=people.stranger,
            currency="EUR",
            amount_minor=1_000,
            idempotency_key="k",
            created_at=T0,
        )

        assert client.get(address("top_up_status", row.pk)).status_code == 404

    def test_a_statement_shows_ones_own_lines_only(self, client, people):
        fund_wallet(people.stranger_organisation, amount_minor=777)
        client.force_login(people.buyer)

        assert "7.77" not in text_of(client.get(address("statement", "EUR")))


class TestWallets:
    def test_show_three_currencies_before_anything_was_paid(self, client, buyer):
        page = text_of(client.get(address("wallets")))

        assert page.count("Available") == 3
        assert all(amount in page for amount in ("€0.00", "$0.00", "£0.00"))
        assert "No top-up yet" in page

    def test_show_what_is_available_held_and_in_all(self, client, people, buyer):
        fund_wallet(buyer, amount_minor=34_840)
        place_hold(
            organisation_id=buyer.pk, currency="EUR", amount_minor=16_098, purpose="bid:1", now=T0
        )

        english = text_of(client.get(address("wallets")))
        french = text_of(client.get(address("wallets", language="fr")))

        assert "Available €187.42 Set aside €160.98 Total €348.40" in english
        assert "Disponible 187,42\xa0€ Bloqué 160,98\xa0€ Total 348,40\xa0€" in french

    def test_say_that_the_market_is_closed(self, client, buyer):
        page = text_of(client.get(address("wallets")))

        assert "The market has not opened." in page

    def test_ask_the_database_little(self, client, people, buyer, django_assert_max_num_queries):
        trade(people)
        client.get(address("wallets"))

        with django_assert_max_num_queries(12):
            client.get(address("wallets"))


class TestStatement:
    def test_adds_up_on_every_line(self, people):
        trade(people)

        lines = statement_lines(organisation_id=people.buyer_organisation.pk, currency="EUR")

        assert [
            (line.kind, line.moved_minor, line.held_move_minor, line.balance_minor, line.held_minor)
            for line in reversed(lines)
        ] == [
            ("correction", 10_000, 0, 10_000, 0),
            ("placed", 0, 2_600, 10_000, 2_600),
            ("repriced", 0, -200, 10_000, 2_400),
            ("hour_charge", -1_200, -1_200, 8_800, 1_200),
            ("released", 0, -1_200, 8_800, 0),
        ]
        wallet = wallets_of(organisation_id=people.buyer_organisation.pk)[0]
        assert (lines[0].balance_minor, lines[0].held_minor) == (
            wallet.posted_minor,
            wallet.held_minor,
        )

    def test_keeps_its_running_balance_from_page_to_page(self, people):
        trade(people)
        whole = Statement(organisation_id=people.buyer_organisation.pk, currency="EUR")

        assert len(whole) == 5
        assert whole[0:2] + whole[2:4] + whole[4:6] == whole[0:5]

    def test_shows_words_amounts_and_links(self, client, people, buyer):
        trade(people)

        response = client.get(address("statement", "EUR", language="fr"))

        page = text_of(response)
        assert "Heure 1 Location 5 −12,00\xa0€ −12,00\xa0€ 88,00\xa0€ 12,00\xa0€ 76,00\xa0€" in page
        assert (
            "Bloqué pour une demande Demande 7 +26,00\xa0€ 100,00\xa0€ 26,00\xa0€ 74,00\xa0€"
            in page
        )

    def test_says_when_it_is_empty(self, client, buyer):
        page = text_of(client.get(address("statement", "USD")))

        assert "Nothing has moved in this wallet yet" in page

    def test_as_a_file_has_dots_offsets_and_the_currency(self, client, people, buyer):
        trade(people)

        response = client.get(address("statement_csv", "EUR", language="fr"))

        rows = list(csv.DictReader(b"".join(response).decode("utf-8").splitlines()))
        assert response["Content-Type"] == "text/csv; charset=utf-8"
        assert len(rows) == 5
        charge = rows[1]
        assert datetime.fromisoformat(charge["occurred_at"]) == T0
        assert charge["occurred_at"].endswith("+01:00")
        assert charge | {"number": "", "occurred_at": ""} == {
            "number": "",
            "occurred_at": "",
            "operation": "hour_charge",
            "reference": "rental:5",
            "currency": "EUR",
            "movement": "-12.00",
            "held_change": "-12.00",
            "balance": "88.00",
            "held": "12.00",
            "available": "76.00",
        }

    def test_asks_the_same_few_questions_for_many_lines(
        self, client, people, buyer, django_assert_max_num_queries
    ):
        trade(people)
        for number in range(60):
            place_hold(
                organisation_id=buyer.pk,
                currency="EUR",
                amount_minor=1,
                purpose=f"bid:{100 + number}",
                now=T0,
            )
        client.get(address("statement", "EUR"))

        with django_assert_max_num_queries(12):
            client.get(address("statement", "EUR"))


class TestEarnings:
    def test_are_what_hours_have_earned(self, people):
        trade(people)

        (earned,) = earnings_of(organisation_id=people.seller_organisation.pk)

        assert (earned.currency, earned.pending_minor, earned.available_minor) == ("EUR", 900, 0)


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
