"""Money is set aside, lowered and freed, and the wallet's held amount follows."""

from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction

from billing.models import Account, Hold, HoldMove
from billing.operations.holds import (
    HoldConflict,
    InsufficientFunds,
    change_holds,
    place_hold,
    release_holds,
    reprice_holds,
)
from tests.factories import T0, OrganisationFactory, fund_wallet

pytestmark = pytest.mark.django_db

LATER = T0 + timedelta(hours=1)


@pytest.fixture
def buyer():
    return OrganisationFactory.create()


def hold(organisation, *, amount_minor: int, purpose: str = "bid:1") -> Hold:
    return place_hold(
        organisation_id=organisation.pk,
        currency="EUR",
        amount_minor=amount_minor,
        purpose=purpose,
        now=T0,
    )


def balance(wallet: Account) -> tuple[int, int, int]:
    wallet.refresh_from_db()
    return wallet.posted_minor, wallet.held_minor, wallet.free_minor


def moves() -> list[tuple[str, int]]:
    return list(HoldMove.objects.order_by("pk").values_list("kind", "amount_minor"))


class TestPlaceHold:
    def test_sets_money_aside(self, buyer):
        wallet = fund_wallet(buyer, amount_minor=1_000)

        placed = hold(buyer, amount_minor=400)

        assert balance(wallet) == (1_000, 400, 600)
        assert (placed.amount_minor, placed.captured_minor, placed.state) == (400, 0, "open")
        assert moves() == [("placed", 400)]

    def test_takes_the_last_cent_and_no_more(self, buyer):
        wallet = fund_wallet(buyer, amount_minor=1_000)

        hold(buyer, amount_minor=1_000)

        assert balance(wallet) == (1_000, 1_000, 0)

    def test_names_the_missing_amount_and_changes_nothing(self, buyer):
        wallet = fund_wallet(buyer, amount_minor=1_000)
        hold(buyer, amount_minor=700)

        with pytest.raises(InsufficientFunds) as refusal:
            hold(buyer, amount_minor=301, purpose="bid:2")

        assert (refusal.value.missing_minor, refusal.value.currency) == (1, "EUR")
        assert balance(wallet) == (1_000, 700, 300)
        assert moves() == [("placed", 700)]

    def test_refuses_the_first_hold_of_a_wallet_that_was_never_filled(self, buyer):
        with pytest.raises(InsufficientFunds) as refusal:
            hold(buyer, amount_minor=250)

        assert refusal.value.missing_minor == 250
        assert not Hold.objects.exists()

    def test_placed_again_is_the_same_hold(self, buyer):
        wallet = fund_wallet(buyer, amount_minor=1_000)
        first = hold(buyer, amount_minor=400)

        second = hold(buyer, amount_minor=400)

        assert second.pk == first.pk
        assert balance(wallet) == (1_000, 400, 600)

    @pytest.mark.parametrize("amount_minor", [399, 401])
    def test_refuses_another_amount_for_the_same_purpose(self, buyer, amount_minor):
        wallet = fund_wallet(buyer, amount_minor=1_000)
        hold(buyer, amount_minor=400)

        with pytest.raises(HoldConflict):
            hold(buyer, amount_minor=amount_minor)

        assert balance(wallet) == (1_000, 400, 600)

    def test_refuses_a_purpose_that_is_closed(self, buyer):
        wallet = fund_wallet(buyer, amount_minor=1_000)
        hold(buyer, amount_minor=400)
        release_holds(purposes=["bid:1"], now=T0)

        with pytest.raises(HoldConflict):
            hold(buyer, amount_minor=400)

        assert balance(wallet) == (1_000, 0, 1_000)


class TestReleaseHolds:
    def test_frees_all_that_is_left_in_several_wallets(self, buyer):
        other = OrganisationFactory.create()
        wallets = [fund_wallet(o, amount_minor=1_000) for o in (buyer, other)]
        hold(buyer, amount_minor=400, purpose="bid:1")
        hold(buyer, amount_minor=100, purpose="bid:2")
        hold(other, amount_minor=900, purpose="bid:3")

        count = release_holds(purposes=["bid:1", "bid:3", "bid:unknown"], now=LATER)

        assert count == 2
        assert [balance(w) for w in wallets] == [(1_000, 100, 900), (1_000, 0, 1_000)]
        closed = Hold.objects.get(purpose="bid:1")
        assert (closed.state, closed.closed_at) == ("closed", LATER)

    def test_repeated_frees_nothing_more(self, buyer):
        wallet = fund_wallet(buyer, amount_minor=1_000)
        hold(buyer, amount_minor=400)
        release_holds(purposes=["bid:1"], now=T0)

        count = release_holds(purposes=["bid:1"], now=LATER)

        assert count == 0
        assert balance(wallet) == (1_000, 0, 1_000)
        assert moves() == [("placed", 400), ("released", -400)]

    def test_of_nothing_does_nothing(self):
        assert release_holds(purposes=[], now=T0) == 0


class TestRepriceHolds:
    def test_frees_the_surplus(self, buyer):
        wallet = fund_wallet(buyer, amount_minor=1_000)
        hold(buyer, amount_minor=400)

        reprice_holds(amounts_minor={"bid:1": 330}, now=LATER)

        assert balance(wallet) == (1_000, 330, 670)
        assert Hold.objects.get().amount_minor == 330
        assert moves() == [("placed", 400), ("repriced", -70)]

    def test_repeated_changes_nothing(self, buyer):
        wallet = fund_wallet(buyer, amount_minor=1_000)
        hold(buyer, amount_minor=400)
        reprice_holds(amounts_minor={"bid:1": 330}, now=T0)

        reprice_holds(amounts_minor={"bid:1": 330}, now=LATER)

        assert balance(wallet) == (1_000, 330, 670)

    @pytest.mark.parametrize("amounts_minor", [{"bid:1": 401}, {"bid:1": 0}, {"bid:unknown": 5}])
    def test_refuses_more_or_nothing_or_an_unknown_hold(self, buyer, amounts_minor):
        wallet = fund_wallet(buyer, amount_minor=1_000)
        hold(buyer, amount_minor=400)

        with pytest.raises(HoldConflict):
            reprice_holds(amounts_minor=amounts_minor, now=T0)

        assert balance(wallet) == (1_000, 400, 600)

    def test_and_release_in_one_call_change_both(self, buyer):
        wallet = fund_wallet(buyer, amount_minor=1_000)
        hold(buyer, amount_minor=400, purpose="bid:1")
        hold(buyer, amount_minor=500, purpose="bid:2")

        count = change_holds(amounts_minor={"bid:1": 300}, released=["bid:2"], now=LATER)

        assert count == 1
        assert balance(wallet) == (1_000, 300, 700)


def test_the_database_refuses_a_held_amount_above_the_balance(buyer):
    wallet = fund_wallet(buyer, amount_minor=100)

    with pytest.raises(IntegrityError, match="wallet_covers_holds"), transaction.atomic():
        Account.objects.filter(pk=wallet.pk).update(held_minor=101)

    assert balance(wallet) == (100, 0, 100)
