"""Money of a wallet set aside, taken and freed.

The rule that all of this keeps: what a wallet holds is the sum, over its open holds, of the amount
less what was captured. Both sides change in the same transaction, under the wallet's lock.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import connection, transaction
from django.db.models import F

from billing.locks import lock_accounts
from billing.models import Account, Hold, HoldMove
from billing.operations.wallets import open_wallet


class InsufficientFunds(Exception):
    """A wallet has less free money than is asked."""

    def __init__(self, *, missing_minor: int, currency: str) -> None:
        super().__init__(f"{missing_minor} {currency}")
        self.missing_minor = missing_minor
        self.currency = currency


class HoldConflict(Exception):
    """A hold of this purpose stands otherwise than the caller believes."""

    def __init__(self, purpose: str) -> None:
        super().__init__(purpose)
        self.purpose = purpose


@dataclass(frozen=True, slots=True)
class Move:
    """A change of one hold's remaining amount, signed, in minor units."""

    hold_id: int
    account_id: int
    kind: str
    amount_minor: int
    occurred_at: datetime
    journal_id: int | None = None


@transaction.atomic
def place_hold(
    *, organisation_id: int, currency: str, amount_minor: int, purpose: str, now: datetime
) -> Hold:
    """Set money of the organisation's wallet aside. Again with the same facts: the same hold.

    Raises
    ------
    InsufficientFunds
        The free balance is smaller; nothing has changed.
    HoldConflict
        The purpose has a hold already, of another amount or wallet, or closed.
    """
    assert amount_minor > 0
    wallet_id = open_wallet(organisation_id=organisation_id, currency=currency).pk
    wallet = lock_accounts(ids=[wallet_id])[wallet_id]
    standing = Hold.objects.filter(purpose=purpose).first()
    if standing is not None:
        return _same_hold(standing, wallet_id=wallet_id, amount_minor=amount_minor)
    if wallet.free_minor < amount_minor:
        raise InsufficientFunds(
            missing_minor=amount_minor - wallet.free_minor, currency=wallet.currency
        )
    hold = Hold.objects.create(
        account_id=wallet_id, purpose=purpose, amount_minor=amount_minor, placed_at=now
    )
    _move_held([Move(hold.pk, wallet_id, HoldMove.Kind.PLACED, amount_minor, now)])
    return hold


def release_holds(*, purposes: Collection[str], now: datetime) -> int:
    """Close these holds and free what remains of them; return how many were open."""
    return change_holds(amounts_minor={}, released=purposes, now=now)


def reprice_holds(*, amounts_minor: Mapping[str, int], now: datetime) -> None:
    """Lower open holds, from which nothing was taken, to these amounts by purpose.

    Raises
    ------
    HoldConflict
        A hold is missing, closed, partly taken, or smaller than the new amount.
    """
    change_holds(amounts_minor=amounts_minor, released=(), now=now)


@transaction.atomic
def change_holds(
    *, amounts_minor: Mapping[str, int], released: Collection[str], now: datetime
) -> int:
    """Lower some holds and close others, locking all their wallets at once.

    One call for a whole batch keeps the order of locks, where several would not. Safe to repeat.
    Returns how many holds were closed.

    Raises
    ------
    HoldConflict
        See `reprice_holds`.
    """
    assert not set(amounts_minor) & set(released)
    purposes = [*amounts_minor, *released]
    if not purposes:
        return 0
    lock_accounts(ids=_accounts_of(purposes))
    holds = {hold.purpose: hold for hold in Hold.objects.filter(purpose__in=purposes)}
    _lower(holds, amounts_minor, now=now)
    closing = [hold for purpose in released if (hold := holds.get(purpose)) and _is_open(hold)]
    _close(closing, now=now)
    return len(closing)


def capture(*, moves: Sequence[Move]) -> None:
    """Take amounts (negative moves, each with its journal) from open holds, under their locks."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE billing_hold AS hold SET captured_minor = hold.captured_minor - taken.total"
            " FROM (SELECT hold_id, sum(amount_minor)::bigint AS total"
            " FROM unnest(%s::bigint[], %s::bigint[]) AS t(hold_id, amount_minor)"
            " GROUP BY hold_id) AS taken WHERE hold.id = taken.hold_id",
            [[move.hold_id for move in moves], [move.amount_minor for move in moves]],
        )
    _update_held(moves)


def record_moves(moves: Sequence[Move]) -> None:
    """Insert the lines that tell a statement what changed."""
    columns = (
        [move.hold_id for move in moves],
        [move.account_id for move in moves],
        [move.journal_id for move in moves],
        [move.kind for move in moves],
        [move.amount_minor for move in moves],
        [move.occurred_at for move in moves],
    )
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO billing_holdmove"
            " (hold_id, account_id, journal_id, kind, amount_minor, occurred_at)"
            " SELECT * FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[], %s::text[],"
            " %s::bigint[], %s::timestamptz[])",
            columns,
        )


def _same_hold(hold: Hold, *, wallet_id: int, amount_minor: int) -> Hold:
    is_same = hold.account_id == wallet_id and hold.amount_minor == amount_minor
    if not is_same or not _is_open(hold):
        raise HoldConflict(hold.purpose)
    return hold


def _is_open(hold: Hold) -> bool:
    return hold.state == Hold.State.OPEN


def _accounts_of(purposes: Sequence[str]) -> list[int]:
    return list(Hold.objects.filter(purpose__in=purposes).values_list("account_id", flat=True))


def _lower(holds: Mapping[str, Hold], amounts_minor: Mapping[str, int], *, now: datetime) -> None:
    changed = []
    for purpose, amount_minor in amounts_minor.items():
        hold = holds.get(purpose)
        if hold is None or not _may_become(hold, amount_minor):
            raise HoldConflict(purpose)
        if hold.amount_minor != amount_minor:
            changed.append((hold, amount_minor))
    moves = [
        Move(hold.pk, hold.account_id, HoldMove.Kind.REPRICED, amount - hold.amount_minor, now)
        for hold, amount in changed
    ]
    for hold, amount in changed:
        hold.amount_minor = amount
    if changed:
        Hold.objects.bulk_update([hold for hold, _amount in changed], ["amount_minor"])
        _move_held(moves)


def _may_become(hold: Hold, amount_minor: int) -> bool:
    if not _is_open(hold):
        return False
    if hold.amount_minor == amount_minor:
        return True
    return hold.captured_minor == 0 and 0 < amount_minor < hold.amount_minor


def _close(holds: Sequence[Hold], *, now: datetime) -> None:
    if not holds:
        return
    Hold.objects.filter(pk__in=[hold.pk for hold in holds]).update(
        state=Hold.State.CLOSED, closed_at=now
    )
    _move_held(
        [
            Move(hold.pk, hold.account_id, HoldMove.Kind.RELEASED, -hold.remaining_minor, now)
            for hold in holds
            if hold.remaining_minor
        ]
    )


def _move_held(moves: Sequence[Move]) -> None:
    _update_held(moves)
    record_moves(moves)


def _update_held(moves: Sequence[Move]) -> None:
    totals: dict[int, int] = {}
    for move in moves:
        totals[move.account_id] = totals.get(move.account_id, 0) + move.amount_minor
    if len(totals) == 1:
        ((account_id, total),) = totals.items()
        Account.objects.filter(pk=account_id).update(held_minor=F("held_minor") + total)
        return
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE billing_account AS account SET held_minor = account.held_minor + moved.total"
            " FROM unnest(%s::bigint[], %s::bigint[]) AS moved(account_id, total)"
            " WHERE account.id = moved.account_id",
            [list(totals), list(totals.values())],
        )
