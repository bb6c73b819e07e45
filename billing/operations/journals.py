"""Write journals and their postings, many at once, each key once."""

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import connection

from billing.locks import LockedAccount, lock_accounts
from billing.models import Journal
from billing.operations.accounts import account_ids
from billing.posting import AccountRef, Leg


class KeyReused(Exception):
    """A key was used before for another act."""

    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """One business act to write: who does it again gives the same key and the same facts."""

    key: str
    kind: str
    source_type: str
    source_id: int
    occurred_at: datetime
    legs: tuple[Leg, ...]

    @property
    def fingerprint(self) -> str:
        """A digest of all that the act says, so that its key cannot say something else later."""
        legs = sorted(f"{leg.account.code}={leg.amount_minor}" for leg in self.legs)
        facts = [
            self.kind,
            self.source_type,
            str(self.source_id),
            self.occurred_at.isoformat(),
            *legs,
        ]
        return hashlib.sha256("|".join(facts).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Ledger:
    """The accounts of some acts, with the owners' rows locked."""

    ids: Mapping[str, int]
    locked: Mapping[int, LockedAccount]

    def id_of(self, ref: AccountRef) -> int:
        return self.ids[ref.code]

    def balance_minor(self, ref: AccountRef) -> int:
        """Return an owner's balance, as it is under the lock."""
        return self.locked[self.id_of(ref)].posted_minor


def open_ledger(*, refs: Collection[AccountRef]) -> Ledger:
    """Find the accounts and lock, in the order of their ids, those with an owner.

    The postings' trigger updates owners' balances in no particular order, so they must all be
    locked before.
    """
    ids = account_ids(refs=refs)
    owned = {ids[ref.code] for ref in refs if ref.keeps_balance}
    return Ledger(ids=ids, locked=lock_accounts(ids=owned))


def accounts_of(acts: Iterable[Act]) -> set[AccountRef]:
    return {leg.account for act in acts for leg in act.legs}


def written_journals(*, acts: Sequence[Act]) -> dict[str, int]:
    """Return the journals that stand already, by key. Ask under the lock.

    Raises
    ------
    KeyReused
        A key stands for another act.
    """
    fingerprints = {act.key: act.fingerprint for act in acts}
    rows = Journal.objects.filter(idem_key__in=list(fingerprints)).values_list(
        "idem_key", "fingerprint", "pk"
    )
    for key, fingerprint, _pk in rows:
        if fingerprint != fingerprints[key]:
            raise KeyReused(key)
    return {key: pk for key, _fingerprint, pk in rows}


def write_journals(*, acts: Sequence[Act], ledger: Ledger) -> dict[str, int]:
    """Insert the acts, none of which stands yet; return the journals' ids by key."""
    if not acts:
        return {}
    ids = _insert_journals(acts)
    _insert_postings(acts, journal_ids=ids, ledger=ledger)
    return ids


def _insert_journals(acts: Sequence[Act]) -> dict[str, int]:
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO billing_journal"
            " (kind, idem_key, fingerprint, source_type, source_id, occurred_at)"
            " SELECT * FROM unnest(%s::text[], %s::text[], %s::text[], %s::text[], %s::bigint[],"
            " %s::timestamptz[])"
            " RETURNING idem_key, id",
            [
                [act.kind for act in acts],
                [act.key for act in acts],
                [act.fingerprint for act in acts],
                [act.source_type for act in acts],
                [act.source_id for act in acts],
                [act.occurred_at for act in acts],
            ],
        )
        return dict(cursor.fetchall())


def _insert_postings(
    acts: Sequence[Act], *, journal_ids: Mapping[str, int], ledger: Ledger
) -> None:
    """Insert all legs in one statement: the zero-sum rule looks at statements."""
    rows = [
        (journal_ids[act.key], ledger.id_of(leg.account), leg.account.currency, leg.amount_minor)
        for act in acts
        for leg in act.legs
    ]
    journals, accounts, currencies, amounts = (list(column) for column in zip(*rows, strict=True))
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO billing_posting (journal_id, account_id, currency, amount_minor)"
            " SELECT * FROM unnest(%s::bigint[], %s::bigint[], %s::text[], %s::bigint[])",
            [journals, accounts, currencies, amounts],
        )
