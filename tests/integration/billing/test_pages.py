"""Wallets and statements: who sees them, and what they say."""

import csv
from datetime import datetime

import pytest
from django.urls import reverse

from billing.models import TopUp
from billing.money import Tally
from billing.operations.charges import HourCharge, charge_hours
from billing.operations.holds import place_hold, release_holds, reprice_holds
from billing.queries import Statement, earnings_of, statement_lines, wallets_of
from marketplace.accounts.models import Membership
from tests.factories import T0, MembershipFactory, fund_wallet
from tests.integration.billing.page_reading import address, text_of
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

        assert "Available €187.42 Held €160.98 Total €348.40" in english
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
        assert "Bloqué pour un ordre Ordre 7 +26,00\xa0€ 100,00\xa0€ 26,00\xa0€ 74,00\xa0€" in page

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
