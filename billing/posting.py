"""Balanced legs for each business act. Pure: standard library only.

A positive amount is what we owe or earned, a negative one what we own or spent; the legs of one
act sum to zero in each currency. Legs of nothing are left out: the ledger refuses them.
"""

from dataclasses import dataclass
from enum import StrEnum

from billing.money import Tally


class AccountKind(StrEnum):
    """The kinds of accounts that these acts move; the ledger's model knows more."""

    WALLET = "wallet"
    SELLER_PENDING = "seller_pending"
    RECEIVABLE = "receivable"
    STRIPE_CLEARING = "stripe_clearing"
    REVENUE = "revenue"
    HOUR_COST = "hour_cost"
    VAT_OUT = "vat_out"


@dataclass(frozen=True, slots=True)
class AccountRef:
    """An account by what it is for: an owner's when ``owner_id`` is given, else the house's."""

    kind: str
    currency: str
    owner_id: int | None = None
    country: str = ""

    @property
    def code(self) -> str:
        if self.owner_id is not None:
            return f"{self.kind}:{self.owner_id}:{self.currency}"
        return f"{self.kind}:{self.currency}:{self.country}".rstrip(":")

    @property
    def keeps_balance(self) -> bool:
        """Owners' balances decide what may happen; the house's accounts are only summed."""
        return self.owner_id is not None


@dataclass(frozen=True, slots=True)
class Leg:
    """A signed amount on one account, in minor units."""

    account: AccountRef
    amount_minor: int


@dataclass(frozen=True, slots=True, kw_only=True)
class HourParties:
    """Who pays an hour, who sells it, in which currency, and where its tax is due."""

    customer_id: int
    seller_id: int
    currency: str
    vat_country: str


def top_up_legs(
    *, organisation_id: int, currency: str, amount_minor: int, owed_minor: int
) -> tuple[Leg, ...]:
    """Return the legs of a paid top-up; what the customer owes is repaid first.

    ``owed_minor`` is the customer's open debt, zero or more.
    """
    assert amount_minor > 0
    assert owed_minor >= 0
    repaid_minor = min(amount_minor, owed_minor)
    return _balanced(
        Leg(AccountRef(AccountKind.STRIPE_CLEARING, currency), -amount_minor),
        Leg(AccountRef(AccountKind.RECEIVABLE, currency, organisation_id), repaid_minor),
        Leg(AccountRef(AccountKind.WALLET, currency, organisation_id), amount_minor - repaid_minor),
    )


def hour_charge_legs(*, parties: HourParties, tally: Tally) -> tuple[Leg, ...]:
    """Return the legs of an hour, or of an early end's fee: we buy it and sell it on."""
    currency = parties.currency
    return _balanced(
        Leg(AccountRef(AccountKind.WALLET, currency, parties.customer_id), -tally.gross_minor),
        Leg(AccountRef(AccountKind.REVENUE, currency), tally.net_minor),
        Leg(
            AccountRef(AccountKind.VAT_OUT, currency, country=parties.vat_country), tally.vat_minor
        ),
        Leg(AccountRef(AccountKind.HOUR_COST, currency), -tally.seller_minor),
        Leg(
            AccountRef(AccountKind.SELLER_PENDING, currency, parties.seller_id), tally.seller_minor
        ),
    )


def hour_credit_legs(*, parties: HourParties, tally: Tally) -> tuple[Leg, ...]:
    """Return the legs of a charge given back, in part or whole: the same, reversed."""
    return tuple(
        Leg(leg.account, -leg.amount_minor)
        for leg in hour_charge_legs(parties=parties, tally=tally)
    )


def _balanced(*legs: Leg) -> tuple[Leg, ...]:
    assert sum(leg.amount_minor for leg in legs) == 0
    return tuple(leg for leg in legs if leg.amount_minor != 0)
