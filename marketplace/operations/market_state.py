"""Open, halt and reopen the market or one model's book."""

from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from billing.operations.topups import set_gate
from marketplace.accounts.operations.audit import record_act
from marketplace.models import Command, MarketState
from marketplace.operations.commands import submit_command
from marketplace.operations.refusals import Refusal

MAX_REASON_LENGTH = 200


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

    Pages and new orders follow at once, fills with the exchange's next batch. Top-ups are open
    unless the whole market is before launch.

    Raises
    ------
    MarketStateRefused
        The reason is missing or too long, or a market that was open would go back before launch.
    """
    row = MarketState.objects.filter(gpu_model_id=gpu_model_id).first()
    if row is not None and row.state == state:
        return row
    _check(state, reason=reason, row=row)
    row, _is_new = MarketState.objects.update_or_create(
        gpu_model_id=gpu_model_id,
        defaults={"state": state, "reason": reason, "changed_by_id": staff_id, "changed_at": now},
    )
    if gpu_model_id is None:
        set_gate(is_open=state != MarketState.State.PRELAUNCH, now=now)
    _tell_exchange(row, staff_id=staff_id, now=now)
    return row


def _check(state: MarketState.State, *, reason: str, row: MarketState | None) -> None:
    if not reason.strip():
        raise MarketStateRefused("reason", _("Write the reason: it is kept in the audit log."))
    if len(reason) > MAX_REASON_LENGTH:
        raise MarketStateRefused("reason", _("Shorten the reason to 200 characters."))
    if state == MarketState.State.PRELAUNCH and row is not None:
        raise MarketStateRefused(
            "state", _("A market that has been open cannot go back before launch: halt it.")
        )


def _tell_exchange(row: MarketState, *, staff_id: int, now: datetime) -> None:
    slug = row.gpu_model.slug if row.gpu_model else None
    submit_command(
        kind=Command.Kind.SET_MARKET_STATE,
        actor_id=staff_id,
        payload={"state": row.state, "gpu_model": slug},
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
