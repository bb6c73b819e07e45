"""The proof of the money passes on a sound ledger and names each planted fault."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from billing.models import Account, Journal, TopUp
from billing.money import Tally
from billing.operations.charges import HourCharge, HourCredit, charge_hours, credit_hours
from billing.operations.holds import place_hold, release_holds
from billing.operations.proofs import billing_differences
from tests.factories import T0, OrganisationFactory, UserFactory, fund_wallet

pytestmark = pytest.mark.django_db

HOUR = Tally(net_minor=1_000, vat_minor=200, seller_minor=900)


@pytest.fixture
def buyer():
    """A customer with a wallet, an open hold, a closed one, a charge and a credit."""
    buyer, seller = OrganisationFactory.create(), OrganisationFactory.create()
    fund_wallet(buyer, amount_minor=10_000)
    for purpose in ("bid:1", "bid:2"):
        place_hold(
            organisation_id=buyer.pk, currency="EUR", amount_minor=2_400, purpose=purpose, now=T0
        )
    shared = {
        "seller_id": seller.pk,
        "vat_country": "FR",
        "tally": HOUR,
        "source_id": 1,
        "occurred_at": T0,
    }
    charge_hours(charges=[HourCharge(key="charge:1:1", hold_purpose="bid:1", **shared)])
    credit_hours(
        credits=[HourCredit(key="credit:1:1", organisation_id=buyer.pk, currency="EUR", **shared)]
    )
    release_holds(purposes=["bid:2"], now=T0)
    return buyer


def plant(statement: str, *values: int) -> None:
    """Change rows as nobody should, without the rules that would refuse it."""
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute(statement, values)
        cursor.execute("SET LOCAL session_replication_role = origin")


def check_money() -> str:
    output = StringIO()
    call_command("check_money", stdout=output)
    return output.getvalue()


def test_a_sound_ledger_has_no_difference(buyer):
    assert billing_differences() == []


def test_a_balance_that_was_changed_by_hand_is_named(buyer):
    plant("UPDATE billing_account SET posted_minor = posted_minor + 1 WHERE kind = 'wallet'")

    wallet = Account.objects.get(kind="wallet")
    assert billing_differences() == [
        f"Account {wallet.code} says a balance of 10001; its postings sum to 10000."
    ]


def test_a_posting_that_was_changed_by_hand_is_named(buyer):
    journal = Journal.objects.get(idem_key="charge:1:1")
    plant(
        "UPDATE billing_posting SET amount_minor = amount_minor + 5"
        " WHERE journal_id = %s AND amount_minor = 1000",
        journal.pk,
    )

    assert billing_differences() == [
        f"Journal {journal.pk} does not sum to zero in EUR: 5 minor units remain."
    ]


def test_a_held_amount_without_its_hold_is_named(buyer):
    plant("UPDATE billing_account SET held_minor = held_minor + 7 WHERE kind = 'wallet'")

    wallet = Account.objects.get(kind="wallet")
    assert billing_differences() == [
        f"Account {wallet.code} says that 1207 is held; its open holds sum to 1200."
    ]


def test_a_capture_without_its_charge_is_named(buyer):
    plant("UPDATE billing_hold SET captured_minor = captured_minor + 3 WHERE purpose = 'bid:1'")

    differences = billing_differences()

    assert "Hold bid:1 says that 1203 was captured; its charges took 1200." in differences
    assert len(differences) == 3  # Also what the wallet holds, and what is left of the hold.


def test_a_deleted_posting_is_named(buyer):
    journal = Journal.objects.get(idem_key="credit:1:1")
    plant("DELETE FROM billing_posting WHERE journal_id = %s AND amount_minor = -900", journal.pk)

    differences = billing_differences()

    assert f"Journal {journal.pk} does not sum to zero in EUR: 900 minor units remain." in (
        differences
    )
    assert any("seller_pending" in words for words in differences)


def test_a_paid_top_up_for_another_amount_is_named(buyer):
    wallet_journal = Journal.objects.get(kind="correction")
    top_up = TopUp.objects.create(
        organisation=buyer,
        user=UserFactory.create(),
        currency="EUR",
        amount_minor=9_999,
        state="paid",
        idempotency_key="k",
        journal=wallet_journal,
        created_at=T0,
    )

    assert billing_differences() == [
        f"Top-up {top_up.pk} is paid for 9999 EUR; its journal credits 10000."
    ]


def test_a_charge_that_took_nothing_from_its_hold_is_named(buyer):
    plant("DELETE FROM billing_holdmove WHERE kind = 'captured'")

    journal = Journal.objects.get(idem_key="charge:1:1")
    assert (
        f"Journal {journal.pk} (charge:1:1) took -1200 from a wallet and 0 from its hold."
        in billing_differences()
    )


class TestCommand:
    def test_says_that_all_agrees(self):
        fund_wallet(OrganisationFactory.create(), amount_minor=10_000)

        assert "agrees with its rows" in check_money()

    def test_prints_each_difference_and_fails(self):
        fund_wallet(OrganisationFactory.create(), amount_minor=10_000)
        plant("UPDATE billing_account SET posted_minor = posted_minor + 1 WHERE keeps_balance")
        output = StringIO()

        with pytest.raises(CommandError, match="1 differences"):
            call_command("check_money", stdout=output)

        assert "says a balance of 10001" in output.getvalue()
