"""Hours of rentals: taken from their holds, and given back.

Both functions take a whole batch, do each key once, and may be repeated after any failure.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from django.db import transaction
from django.db.models import F

from billing.models import Hold, HoldMove, Journal
from billing.money import Tally
from billing.operations.holds import Move, capture, record_moves
from billing.operations.journals import (
    Act,
    KeyReused,
    accounts_of,
    open_ledger,
    write_journals,
    written_journals,
)
from billing.posting import HourParties, hour_charge_legs, hour_credit_legs

__all__ = [
    "HoldExhausted",
    "HoldMissing",
    "HourCharge",
    "HourCredit",
    "KeyReused",
    "charge_hours",
    "credit_hours",
]

RENTAL = "rental"


class HoldMissing(Exception):
    """A charge names a hold that does not stand."""

    def __init__(self, purpose: str) -> None:
        super().__init__(purpose)
        self.purpose = purpose


class HoldExhausted(Exception):
    """A hold is closed, or less is left of it than a charge takes."""

    def __init__(self, *, purpose: str, missing_minor: int) -> None:
        super().__init__(f"{purpose}: {missing_minor}")
        self.purpose = purpose
        self.missing_minor = missing_minor


@dataclass(frozen=True, slots=True, kw_only=True)
class HourCharge:
    """One hour, or the fee of an early end, to take from the hold of ``hold_purpose``."""

    key: str
    hold_purpose: str
    seller_id: int
    vat_country: str
    tally: Tally
    source_id: int
    occurred_at: datetime
    kind: str = Journal.Kind.HOUR_CHARGE


@dataclass(frozen=True, slots=True, kw_only=True)
class HourCredit:
    """What a customer gets back of an hour, and its seller does not earn."""

    key: str
    organisation_id: int
    currency: str
    seller_id: int
    vat_country: str
    tally: Tally
    source_id: int
    occurred_at: datetime


@transaction.atomic
def charge_hours(*, charges: Sequence[HourCharge]) -> dict[str, int]:
    """Charge all of them or none; return the journal of each by key, also of those that stood.

    A charge of nothing has no journal, and no key in the answer.

    Raises
    ------
    KeyReused
        A key stands for another charge.
    HoldMissing, HoldExhausted
        A hold does not cover its charges.
    """
    payers = _payers_of(charges)
    acts = _acts_by_key([_charge_act(c, payers[c.hold_purpose]) for c in charges])
    if not acts:
        return {}
    ledger = open_ledger(refs=accounts_of(acts.values()))
    standing = written_journals(acts=list(acts.values()))
    wanted = acts.keys() - standing.keys()
    fresh = [charge for charge in charges if charge.key in wanted]
    if not fresh:
        return standing
    _check_holds(fresh)
    moves = {charge.key: _capture_move(charge, payers[charge.hold_purpose]) for charge in fresh}
    # Before the postings: a wallet's balance may not fall below what it holds, not even briefly.
    capture(moves=list(moves.values()))
    journals = write_journals(acts=[acts[charge.key] for charge in fresh], ledger=ledger)
    record_moves([replace(move, journal_id=journals[key]) for key, move in moves.items()])
    return standing | journals


@transaction.atomic
def credit_hours(*, credits: Sequence[HourCredit]) -> dict[str, int]:  # noqa: A002 - the business says credits
    """Give all of them back or none; return the journal of each by key.

    A credit that rounds to nothing has no journal, and no key in the answer.

    Raises
    ------
    KeyReused
        A key stands for another credit.
    """
    acts = list(_acts_by_key([_credit_act(credit) for credit in credits]).values())
    if not acts:
        return {}
    ledger = open_ledger(refs=accounts_of(acts))
    standing = written_journals(acts=acts)
    fresh = [act for act in acts if act.key not in standing]
    return standing | write_journals(acts=fresh, ledger=ledger)


def _acts_by_key(acts: Sequence[Act]) -> dict[str, Act]:
    by_key = {act.key: act for act in acts}
    assert len(by_key) == len(acts), "a key comes twice in one batch"
    return {key: act for key, act in by_key.items() if act.legs}


@dataclass(frozen=True, slots=True)
class Payer:
    """Whose wallet a hold sets money aside in: what never changes about it."""

    hold_id: int
    account_id: int
    organisation_id: int
    currency: str


def _payers_of(charges: Sequence[HourCharge]) -> dict[str, Payer]:
    purposes = {charge.hold_purpose for charge in charges}
    rows = Hold.objects.filter(purpose__in=purposes).values_list(
        "purpose", "pk", "account_id", "account__organisation_id", "account__currency"
    )
    payers = {row[0]: Payer(row[1], row[2], row[3], row[4]) for row in rows}
    for purpose in sorted(purposes - payers.keys()):
        raise HoldMissing(purpose)
    return payers


def _check_holds(charges: Sequence[HourCharge]) -> None:
    """Refuse what the holds do not cover, as they are now that their wallets are locked."""
    asked: dict[str, int] = {}
    for charge in charges:
        asked[charge.hold_purpose] = asked.get(charge.hold_purpose, 0) + charge.tally.gross_minor
    holds = Hold.objects.filter(purpose__in=list(asked), state=Hold.State.OPEN)
    left = dict(holds.values_list("purpose", F("amount_minor") - F("captured_minor")))
    for purpose, asked_minor in sorted(asked.items()):
        missing_minor = asked_minor - left.get(purpose, 0)
        if missing_minor > 0:
            raise HoldExhausted(purpose=purpose, missing_minor=missing_minor)


def _charge_act(charge: HourCharge, payer: Payer) -> Act:
    parties = HourParties(
        customer_id=payer.organisation_id,
        seller_id=charge.seller_id,
        currency=payer.currency,
        vat_country=charge.vat_country,
    )
    return Act(
        key=charge.key,
        kind=charge.kind,
        source_type=RENTAL,
        source_id=charge.source_id,
        occurred_at=charge.occurred_at,
        legs=hour_charge_legs(parties=parties, tally=charge.tally),
    )


def _credit_act(credit: HourCredit) -> Act:
    parties = HourParties(
        customer_id=credit.organisation_id,
        seller_id=credit.seller_id,
        currency=credit.currency,
        vat_country=credit.vat_country,
    )
    return Act(
        key=credit.key,
        kind=Journal.Kind.HOUR_CREDIT,
        source_type=RENTAL,
        source_id=credit.source_id,
        occurred_at=credit.occurred_at,
        legs=hour_credit_legs(parties=parties, tally=credit.tally),
    )


def _capture_move(charge: HourCharge, payer: Payer) -> Move:
    return Move(
        hold_id=payer.hold_id,
        account_id=payer.account_id,
        kind=HoldMove.Kind.CAPTURED,
        amount_minor=-charge.tally.gross_minor,
        occurred_at=charge.occurred_at,
    )
