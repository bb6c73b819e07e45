"""Hours are taken from their holds once, balanced to the cent, and given back."""

from dataclasses import replace

import pytest

from billing.models import Account, Hold, HoldMove, Journal, Posting
from billing.money import Tally, Terms, hold_minor, hour_tally, undelivered_share
from billing.operations.charges import (
    HoldExhausted,
    HoldMissing,
    HourCharge,
    HourCredit,
    KeyReused,
    charge_hours,
    credit_hours,
)
from billing.operations.holds import place_hold, release_holds
from tests.factories import T0, OrganisationFactory, fund_wallet

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("check_deferred_rules")]

HOUR = Tally(net_minor=1_000, vat_minor=200, seller_minor=900)


@pytest.fixture
def buyer():
    return OrganisationFactory.create()


@pytest.fixture
def seller():
    return OrganisationFactory.create()


@pytest.fixture
def wallet(buyer):
    wallet = fund_wallet(buyer, amount_minor=10_000)
    place_hold(
        organisation_id=buyer.pk, currency="EUR", amount_minor=3_600, purpose="bid:7", now=T0
    )
    wallet.refresh_from_db()
    return wallet


def hour(number: int, *, seller, tally: Tally = HOUR) -> HourCharge:
    return HourCharge(
        key=f"charge:7:{number}",
        hold_purpose="bid:7",
        seller_id=seller.pk,
        vat_country="FR",
        tally=tally,
        source_id=7,
        occurred_at=T0,
    )


def give_back(*, buyer, seller, tally: Tally, number: int = 1) -> HourCredit:
    return HourCredit(
        key=f"credit:7:{number}",
        organisation_id=buyer.pk,
        currency="EUR",
        seller_id=seller.pk,
        vat_country="FR",
        tally=tally,
        source_id=7,
        occurred_at=T0,
    )


def legs(journal_id: int) -> dict[str, int]:
    rows = Posting.objects.filter(journal_id=journal_id).select_related("account")
    return {posting.account.kind: posting.amount_minor for posting in rows}


def state(wallet: Account) -> tuple[int, int, int]:
    wallet.refresh_from_db()
    return wallet.posted_minor, wallet.held_minor, Hold.objects.get(purpose="bid:7").captured_minor


def earned(seller) -> int:
    account = Account.objects.filter(organisation=seller, kind=Account.Kind.SELLER_PENDING).first()
    return account.posted_minor if account else 0


class TestChargeHours:
    def test_takes_an_hour_with_its_tax_and_owes_the_seller(self, wallet, seller):
        journals = charge_hours(charges=[hour(1, seller=seller)])

        assert legs(journals["charge:7:1"]) == {
            "wallet": -1_200,
            "revenue": 1_000,
            "vat_out": 200,
            "hour_cost": -900,
            "seller_pending": 900,
        }
        assert state(wallet) == (8_800, 2_400, 1_200)
        assert earned(seller) == 900
        assert Account.objects.get(kind="vat_out").code == "vat_out:EUR:FR"

    def test_takes_several_hours_of_several_wallets_in_one_batch(self, wallet, seller):
        other = OrganisationFactory.create()
        other_wallet = fund_wallet(other, amount_minor=5_000)
        place_hold(
            organisation_id=other.pk, currency="EUR", amount_minor=1_200, purpose="bid:8", now=T0
        )
        charges = [hour(1, seller=seller), hour(2, seller=seller)]
        charges.append(replace(charges[0], key="charge:8:1", hold_purpose="bid:8", source_id=8))

        journals = charge_hours(charges=charges)

        assert sorted(journals) == ["charge:7:1", "charge:7:2", "charge:8:1"]
        assert state(wallet) == (7_600, 1_200, 2_400)
        other_wallet.refresh_from_db()
        assert (other_wallet.posted_minor, other_wallet.held_minor) == (3_800, 0)
        assert earned(seller) == 2_700

    def test_repeated_gives_the_same_journals_and_takes_nothing(self, wallet, seller):
        first = charge_hours(charges=[hour(1, seller=seller)])

        second = charge_hours(charges=[hour(1, seller=seller), hour(2, seller=seller)])

        assert second["charge:7:1"] == first["charge:7:1"]
        assert state(wallet) == (7_600, 1_200, 2_400)
        assert Journal.objects.filter(kind="hour_charge").count() == 2

    def test_may_be_repeated_after_its_hold_is_closed(self, wallet, seller):
        first = charge_hours(charges=[hour(1, seller=seller)])
        release_holds(purposes=["bid:7"], now=T0)

        assert charge_hours(charges=[hour(1, seller=seller)]) == first
        assert state(wallet) == (8_800, 0, 1_200)

    def test_refuses_a_key_with_another_amount(self, wallet, seller):
        charge_hours(charges=[hour(1, seller=seller)])
        changed = Tally(net_minor=1_000, vat_minor=200, seller_minor=901)

        with pytest.raises(KeyReused):
            charge_hours(charges=[hour(2, seller=seller), hour(1, seller=seller, tally=changed)])

        assert state(wallet) == (8_800, 2_400, 1_200)
        assert earned(seller) == 900

    def test_refuses_all_when_the_hold_does_not_cover_one(self, wallet, seller):
        with pytest.raises(HoldExhausted) as refusal:
            charge_hours(charges=[hour(number, seller=seller) for number in range(1, 5)])

        assert (refusal.value.purpose, refusal.value.missing_minor) == ("bid:7", 1_200)
        assert state(wallet) == (10_000, 3_600, 0)
        assert not Journal.objects.filter(kind="hour_charge").exists()

    def test_refuses_a_closed_hold(self, wallet, seller):
        release_holds(purposes=["bid:7"], now=T0)

        with pytest.raises(HoldExhausted):
            charge_hours(charges=[hour(1, seller=seller)])

        assert state(wallet) == (10_000, 0, 0)

    def test_refuses_a_hold_that_does_not_exist(self, wallet, seller):
        with pytest.raises(HoldMissing):
            charge_hours(charges=[replace(hour(1, seller=seller), hold_purpose="bid:9")])

        assert state(wallet) == (10_000, 3_600, 0)

    def test_works_when_the_whole_balance_is_held(self, buyer, seller):
        wallet = fund_wallet(buyer, amount_minor=1_200)
        place_hold(
            organisation_id=buyer.pk, currency="EUR", amount_minor=1_200, purpose="bid:7", now=T0
        )

        charge_hours(charges=[hour(1, seller=seller)])

        assert state(wallet) == (0, 0, 1_200)

    def test_leaves_out_the_tax_where_there_is_none(self, wallet, seller):
        untaxed = Tally(net_minor=1_000, vat_minor=0, seller_minor=900)

        journals = charge_hours(charges=[hour(1, seller=seller, tally=untaxed)])

        assert "vat_out" not in legs(journals["charge:7:1"])
        assert state(wallet) == (9_000, 2_600, 1_000)

    def test_of_all_hours_empties_the_hold_exactly(self, buyer, seller):
        terms = Terms(
            gpus=3,
            customer_price_micro=333_000,
            seller_price_micro=333_000,
            vat_bps=1_900,
            fee_bps=1_000,
        )
        amount_minor = hold_minor(price_micro=333_000, gpus=3, hours=24, vat_bps=1_900)
        wallet = fund_wallet(buyer, amount_minor=amount_minor)
        place_hold(
            organisation_id=buyer.pk,
            currency="EUR",
            amount_minor=amount_minor,
            purpose="bid:7",
            now=T0,
        )

        charge_hours(
            charges=[
                hour(number, seller=seller, tally=hour_tally(terms=terms, number=number))
                for number in range(1, 25)
            ]
        )

        assert state(wallet) == (0, 0, amount_minor)

    def test_of_nothing_writes_nothing(self, wallet, seller):
        nothing = Tally(net_minor=0, vat_minor=0, seller_minor=0)

        assert charge_hours(charges=[hour(1, seller=seller, tally=nothing)]) == {}
        assert state(wallet) == (10_000, 3_600, 0)

    def test_tells_the_statement_what_it_took_from_the_hold(self, wallet, seller):
        journals = charge_hours(charges=[hour(1, seller=seller)])

        move = HoldMove.objects.get(kind="captured")
        assert (move.journal_id, move.amount_minor) == (journals["charge:7:1"], -1_200)

    def test_takes_the_same_few_questions_for_many_hours(
        self, wallet, seller, django_assert_num_queries
    ):
        charge_hours(charges=[hour(1, seller=seller)])

        with django_assert_num_queries(12):  # Two of them are the savepoint.
            charge_hours(charges=[hour(2, seller=seller), hour(3, seller=seller)])


class TestCreditHours:
    def test_gives_back_what_was_not_delivered(self, buyer, wallet, seller):
        charge_hours(charges=[hour(1, seller=seller)])
        share = undelivered_share(hour=HOUR, minutes=15)

        journals = credit_hours(credits=[give_back(buyer=buyer, seller=seller, tally=share)])

        assert legs(journals["credit:7:1"]) == {
            "wallet": 300,
            "revenue": -250,
            "vat_out": -50,
            "hour_cost": 225,
            "seller_pending": -225,
        }
        assert state(wallet) == (9_100, 2_400, 1_200)
        assert earned(seller) == 675

    def test_repeated_gives_back_once(self, buyer, wallet, seller):
        charge_hours(charges=[hour(1, seller=seller)])
        credit = give_back(buyer=buyer, seller=seller, tally=HOUR)
        first = credit_hours(credits=[credit])

        second = credit_hours(credits=[credit])

        assert second == first
        assert state(wallet) == (10_000, 2_400, 1_200)
        assert earned(seller) == 0

    def test_of_less_than_a_cent_has_no_journal(self, buyer, wallet, seller):
        nothing = Tally(net_minor=0, vat_minor=0, seller_minor=0)

        assert credit_hours(credits=[give_back(buyer=buyer, seller=seller, tally=nothing)]) == {}
        assert not Journal.objects.filter(kind="hour_credit").exists()
