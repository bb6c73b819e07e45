"""Accounts of the ledger, made when first needed."""

from collections.abc import Collection

from billing.models import Account
from billing.posting import AccountRef


def account_ids(*, refs: Collection[AccountRef]) -> dict[str, int]:
    """Return the id of each account by its code, creating those that are missing.

    Two requests may create the same one at once: the second finds the first's.
    """
    by_code = {ref.code: ref for ref in refs}
    found = _existing(by_code)
    missing = [ref for code, ref in sorted(by_code.items()) if code not in found]
    if missing:
        Account.objects.bulk_create([_new(ref) for ref in missing], ignore_conflicts=True)
        found = _existing(by_code)
    return found


def account(*, ref: AccountRef) -> Account:
    """Return one account, creating it when it is missing."""
    ids = account_ids(refs=[ref])
    return Account.objects.get(pk=ids[ref.code])


def _existing(codes: Collection[str]) -> dict[str, int]:
    return dict(Account.objects.filter(code__in=list(codes)).values_list("code", "pk"))


def _new(ref: AccountRef) -> Account:
    return Account(
        code=ref.code,
        kind=ref.kind,
        currency=ref.currency,
        organisation_id=ref.owner_id,
        keeps_balance=ref.keeps_balance,
    )
