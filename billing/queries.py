"""Reads for pages and reports: wallets, statements, earnings."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from django.db import connection
from django.db.models import F

from billing.models import Account, BillingProfile, Hold, TopUp
from billing.money import Currency
from billing.posting import AccountKind, AccountRef

RECENT_TOP_UPS = 10

# One order for both kinds of lines: their numbers come from one sequence, under the wallet's lock.
# A charge takes from balance and hold at once, and is one line.
_LINES = """
SELECT posting.id, journal.kind, journal.source_type, journal.source_id, journal.idem_key AS key,
       journal.occurred_at, posting.amount_minor AS moved_minor,
       coalesce(move.amount_minor, 0) AS held_move_minor
FROM billing_posting AS posting
JOIN billing_journal AS journal ON journal.id = posting.journal_id
LEFT JOIN billing_holdmove AS move
       ON move.journal_id = posting.journal_id AND move.account_id = posting.account_id
WHERE posting.account_id = %(account)s
UNION ALL
SELECT move.id, move.kind, 'hold', move.hold_id, hold.purpose, move.occurred_at, 0,
       move.amount_minor
FROM billing_holdmove AS move
JOIN billing_hold AS hold ON hold.id = move.hold_id
WHERE move.account_id = %(account)s AND move.journal_id IS NULL
"""
_STATEMENT = f"""
SELECT id, kind, source_type, source_id, key, occurred_at, moved_minor, held_move_minor,
       (sum(moved_minor) OVER upto)::bigint, (sum(held_move_minor) OVER upto)::bigint
FROM ({_LINES}) AS lines
WINDOW upto AS (ORDER BY id)
ORDER BY id DESC LIMIT %(limit)s OFFSET %(offset)s
"""  # noqa: S608 - joined from constants
_COUNT = f"SELECT count(*) FROM ({_LINES}) AS lines"  # noqa: S608 - joined from constants


@dataclass(frozen=True, slots=True)
class WalletView:
    """A wallet as its owner sees it; one that was never used holds nothing."""

    currency: str
    posted_minor: int
    held_minor: int

    @property
    def free_minor(self) -> int:
        return self.posted_minor - self.held_minor

    @property
    def free_percent(self) -> int:
        """The share of the balance that is free, rounded down, for a picture."""
        return 100 * self.free_minor // self.posted_minor if self.posted_minor else 0


@dataclass(frozen=True, slots=True)
class StatementLine:
    """One act on a wallet, with balance and held amount after it."""

    number: int
    kind: str
    source_type: str
    source_id: int
    key: str
    occurred_at: datetime
    moved_minor: int
    held_move_minor: int
    balance_minor: int
    held_minor: int

    @property
    def free_minor(self) -> int:
        return self.balance_minor - self.held_minor


@dataclass(frozen=True, slots=True)
class OpenHold:
    """What is set aside for one order and not taken yet."""

    purpose: str
    remaining_minor: int
    placed_at: datetime

    @property
    def source(self) -> str:
        """The word of what it is set aside for, such as ``bid``."""
        return self.purpose.partition(":")[0]

    @property
    def source_id(self) -> str:
        return self.purpose.partition(":")[2]


@dataclass(frozen=True, slots=True)
class EarningsView:
    """What a seller has earned in one currency: not to be paid out yet, and ready."""

    currency: str
    pending_minor: int
    available_minor: int


class Statement:
    """A wallet's lines, newest first: a sequence for Django's paginator that reads what is asked."""

    def __init__(self, *, organisation_id: int, currency: str) -> None:
        wallet = wallet_account(organisation_id=organisation_id, currency=currency)
        self._account_id = wallet.pk if wallet is not None else None

    def __len__(self) -> int:
        if self._account_id is None:
            return 0
        with connection.cursor() as cursor:
            cursor.execute(_COUNT, {"account": self._account_id})
            (count,) = cursor.fetchone()
        return int(count)

    def __getitem__(self, part: slice) -> list[StatementLine]:
        start = part.start or 0
        limit = None if part.stop is None else part.stop - start
        return list(self.lines(offset=start, limit=limit))

    def lines(self, *, offset: int = 0, limit: int | None = None) -> Iterator[StatementLine]:
        if self._account_id is None:
            return
        with connection.cursor() as cursor:
            cursor.execute(
                _STATEMENT, {"account": self._account_id, "limit": limit, "offset": offset}
            )
            yield from (StatementLine(*row) for row in cursor)


def wallets_of(*, organisation_id: int) -> list[WalletView]:
    """Return the organisation's wallets in all currencies, also those that were never used."""
    rows = Account.objects.filter(organisation_id=organisation_id, kind=Account.Kind.WALLET)
    by_currency = {row.currency: row for row in rows}
    return [_wallet_view(currency, by_currency.get(currency)) for currency in Currency]


def wallet_of(*, organisation_id: int, currency: str) -> WalletView:
    """Return one wallet, also when it was never used."""
    return _wallet_view(
        currency, wallet_account(organisation_id=organisation_id, currency=currency)
    )


def wallet_account(*, organisation_id: int, currency: str) -> Account | None:
    ref = AccountRef(AccountKind.WALLET, currency, organisation_id)
    return Account.objects.filter(code=ref.code).first()


def statement_lines(
    *, organisation_id: int, currency: str, limit: int | None = None, offset: int = 0
) -> list[StatementLine]:
    """Return a wallet's lines, newest first, each with the balance and held amount after it."""
    statement = Statement(organisation_id=organisation_id, currency=currency)
    return list(statement.lines(offset=offset, limit=limit))


def open_holds_of(*, organisation_id: int, currency: str) -> list[OpenHold]:
    """Return what is set aside in a wallet, the newest first."""
    holds = Hold.objects.filter(
        account__organisation_id=organisation_id,
        account__currency=currency,
        state=Hold.State.OPEN,
        amount_minor__gt=F("captured_minor"),
    )
    return [
        OpenHold(hold.purpose, hold.remaining_minor, hold.placed_at)
        for hold in holds.order_by("-placed_at", "-pk")
    ]


def earnings_of(*, organisation_id: int) -> list[EarningsView]:
    """Return what a seller has earned, in the currencies in which it has sold."""
    kinds = (Account.Kind.SELLER_PENDING, Account.Kind.SELLER_AVAILABLE)
    rows = Account.objects.filter(organisation_id=organisation_id, kind__in=kinds)
    balances = {(row.currency, row.kind): row.posted_minor for row in rows}
    return [
        EarningsView(currency, *(balances.get((currency, kind), 0) for kind in kinds))
        for currency in Currency
        if any((currency, kind) in balances for kind in kinds)
    ]


def recent_top_ups(*, organisation_id: int) -> list[TopUp]:
    """Return the last top-ups, the newest first."""
    rows = TopUp.objects.filter(organisation_id=organisation_id).order_by("-pk")
    return list(rows[:RECENT_TOP_UPS])


def billing_profile(*, organisation_id: int) -> BillingProfile | None:
    return BillingProfile.objects.filter(organisation_id=organisation_id).first()


def _wallet_view(currency: str, account: Account | None) -> WalletView:
    if account is None:
        return WalletView(currency, 0, 0)
    return WalletView(currency, account.posted_minor, account.held_minor)
