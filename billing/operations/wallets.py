"""Wallets, sellers' accounts and the house's accounts."""

from billing.models import Account
from billing.operations.accounts import account
from billing.posting import AccountKind, AccountRef


def open_wallet(*, organisation_id: int, currency: str) -> Account:
    """Return the organisation's wallet in this currency; the first time, open it."""
    return account(ref=AccountRef(AccountKind.WALLET, currency, organisation_id))


def seller_account(*, organisation_id: int, currency: str) -> Account:
    """Return what a seller has earned and cannot be paid out yet, in this currency."""
    return account(ref=AccountRef(AccountKind.SELLER_PENDING, currency, organisation_id))


def ledger_account(*, kind: str, currency: str, country: str = "") -> Account:
    """Return one of the house's accounts; they are summed, never locked."""
    return account(ref=AccountRef(kind, currency, country=country))
