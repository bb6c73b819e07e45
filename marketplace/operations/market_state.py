"""Open, halt and reopen the market or one model's book."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from billing.operations.topups import set_gate
from marketplace.accounts.operations.audit import record_act
from marketplace.market_now import forget_market_now
from marketplace.models import Command, MarketState
from marketplace.operations.commands import submit_command
from marketplace.operations.opening import note_opening
from marketplace.operations.refusals import Refusal

MAX_REASON_LENGTH = 200
# Customers look through their waiting bids before old prices are served again.
CANCELLING_ALONE = timedelta(minutes=10)

State = MarketState.State


class MarketStateRefused(Refusal):
    """The state cannot be set so."""


@transaction.atomic
def set_market_state(
    *,
    state: MarketState.State,
    reason: str,
    staff_id: int,
    now: datetime,
    gpu_model_id: int | None = None,
) -> MarketState:
    """Set the state of the whole market, or of one model's book. Safe to repeat.

    Pages and new orders follow at once, fills with the exchange's next batch. A halted market that
    is opened is reopening for ten minutes, then the exchange opens it and serves waiting bids.
    Top-ups are open unless the whole market is before launch.

    Raises
    ------
    MarketStateRefused
        The reason is missing or too long, or the state cannot follow the one that is.
    """
    row = MarketState.objects.filter(gpu_model_id=gpu_model_id).first()
    _check(state, reason=reason, row=row)
    is_reopening = row is not None and row.state in {State.HALTED, State.REOPENING}
    stored = State.REOPENING if state == State.OPEN and is_reopening else state
    if row is not None and row.state == stored:
        return row
    row, _is_new = MarketState.objects.update_or_create(
        gpu_model_id=gpu_model_id,
        defaults={"state": stored, "reason": reason, "changed_by_id": staff_id, "changed_at": now},
    )
    if gpu_model_id is None:
        set_gate(is_open=state != State.PRELAUNCH, now=now)
        if state == State.OPEN:
            note_opening(now=now)
    _tell_exchange(row, staff_id=staff_id, now=now)
    forget_market_now()
    return row


def finish_reopening(log: Iterable[Command], *, now: datetime) -> None:
    """Open the markets whose reopening got its number, in the matcher's transaction."""
    for command in log:
        if command.kind == Command.Kind.SET_MARKET_STATE and command.not_before is not None:
            forget_market_now()
            reopened = MarketState.objects.filter(state=State.REOPENING)
            reopened.filter(gpu_model__slug=command.payload["gpu_model"]).update(
                state=State.OPEN, changed_at=now
            )


def _check(state: MarketState.State, *, reason: str, row: MarketState | None) -> None:
    if not reason.strip():
        raise MarketStateRefused("reason", _("Write the reason: it is kept in the audit log."))
    if len(reason) > MAX_REASON_LENGTH:
        raise MarketStateRefused("reason", _("Shorten the reason to 200 characters."))
    if state == State.REOPENING:
        raise MarketStateRefused(
            "state", _("Choose open: ten minutes of cancelling alone come first by themselves.")
        )
    if state == State.PRELAUNCH and row is not None and row.state != State.PRELAUNCH:
        raise MarketStateRefused(
            "state", _("A market that has been open cannot go back before launch: halt it.")
        )


def _tell_exchange(row: MarketState, *, staff_id: int, now: datetime) -> None:
    slug = row.gpu_model.slug if row.gpu_model else None
    _forget_reopening(slug)
    is_reopening = row.state == State.REOPENING
    submit_command(
        kind=Command.Kind.SET_MARKET_STATE,
        actor_id=staff_id,
        payload={"state": State.OPEN if is_reopening else row.state, "gpu_model": slug},
        not_before=now + CANCELLING_ALONE if is_reopening else None,
        now=now,
    )
    record_act(
        actor_id=staff_id,
        organisation_id=None,
        action="market.set_state",
        object_type="market",
        object_id=slug or "all",
        details={"state": row.state, "reason": row.reason},
        now=now,
    )


def _forget_reopening(slug: str | None) -> None:
    """Drop a reopening that has no number yet: the market is halted again before it came."""
    Command.objects.filter(
        kind=Command.Kind.SET_MARKET_STATE,
        sequence__isnull=True,
        not_before__isnull=False,
        payload__gpu_model=slug,
    ).delete()
