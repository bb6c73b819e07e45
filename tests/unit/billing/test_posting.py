"""Legs of each act: balanced, complete, and as the page about the ledger shows them."""

import re
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from billing.models import Account
from billing.money import Tally
from billing.posting import (
    AccountKind,
    AccountRef,
    HourParties,
    hour_charge_legs,
    hour_credit_legs,
    top_up_legs,
)

PARTIES = HourParties(customer_id=1, seller_id=2, currency="EUR", vat_country="FR")
AMOUNTS = st.integers(min_value=0, max_value=10**12)
TALLIES = st.builds(Tally, net_minor=AMOUNTS, vat_minor=AMOUNTS, seller_minor=AMOUNTS)


def amounts(legs) -> dict[str, int]:
    return {leg.account.code: leg.amount_minor for leg in legs}


def test_the_documents_table_is_what_an_hour_posts():
    page = Path(__file__).parents[3] / "docs" / "ledger.md"
    rows = re.findall(
        r"^\| ([a-z_:A-Z]+) \| ([−+][0-9]+) \|$", page.read_text("utf-8"), re.MULTILINE
    )
    documented = {name: int(amount.replace("−", "-")) for name, amount in rows}

    legs = hour_charge_legs(
        parties=PARTIES, tally=Tally(net_minor=1_000, vat_minor=200, seller_minor=900)
    )

    shown = {
        leg.account.code if leg.account.kind == "vat_out" else leg.account.kind: leg.amount_minor
        for leg in legs
    }
    assert shown == documented


@given(tally=TALLIES)
def test_an_hour_sums_to_zero_and_has_no_empty_leg(tally):
    legs = hour_charge_legs(parties=PARTIES, tally=tally)

    assert sum(leg.amount_minor for leg in legs) == 0
    assert all(leg.amount_minor for leg in legs)


@given(tally=TALLIES)
def test_a_credit_undoes_its_charge_on_every_account(tally):
    charge = amounts(hour_charge_legs(parties=PARTIES, tally=tally))
    credit = amounts(hour_credit_legs(parties=PARTIES, tally=tally))

    assert credit == {code: -amount for code, amount in charge.items()}


@given(amount_minor=st.integers(min_value=1, max_value=10**9), owed_minor=AMOUNTS)
def test_a_top_up_repays_what_is_owed_first(amount_minor, owed_minor):
    legs = amounts(
        top_up_legs(
            organisation_id=1, currency="EUR", amount_minor=amount_minor, owed_minor=owed_minor
        )
    )

    assert legs["stripe_clearing:EUR"] == -amount_minor
    assert legs.get("receivable:1:EUR", 0) == min(amount_minor, owed_minor)
    assert sum(legs.values()) == 0


def test_the_kinds_are_those_of_the_ledger():
    assert {kind.value for kind in AccountKind} <= set(Account.Kind.values)


def test_an_owners_account_and_the_houses_have_their_own_codes():
    assert AccountRef("wallet", "EUR", 7).code == "wallet:7:EUR"
    assert AccountRef("vat_out", "EUR", country="FR").code == "vat_out:EUR:FR"
    assert AccountRef("revenue", "USD").code == "revenue:USD"
