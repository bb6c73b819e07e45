"""The states of a rental, and what moves it from one to the next.

``sold -> preparing -> ready -> running -> ended``, with ``interrupted`` beside the last two and
``not_delivered`` as the other end. Every function here changes a locked rental inside the caller's
transaction. Time alone never decides against a rental while a check of its machine is due or under
way: an outage of the site must not end what was sold.
"""

from datetime import datetime

from django.db.models.functions import Coalesce

from billing.operations.holds import release_holds
from marketplace.accounts.operations.audit import record_act
from marketplace.models import DeliveryGap, Rental
from marketplace.operations.bookings import NoFreeGpu, bind_gpus, give_hours_back
from marketplace.operations.charging import charge_rental
from marketplace.operations.failures import suspend_failed_server
from marketplace.operations.rental_mails import mail_access_opened, mail_ended
from marketplace.rental_time import (
    AUTOMATIC_END_AFTER,
    CHAIN_WINDOW,
    EARLY_ACCESS,
    PROBE_LEASE,
    READY_WITHIN,
    UNCHECKED_TAIL,
    hours_begun,
)

STATE = Rental.State
REASON = Rental.EndReason


def advance(*, rental: Rental, now: datetime) -> bool:
    """Take a rental through every state that is due at ``now``; say whether it moved."""
    has_moved = False
    while rental.ended_at is None and _step(rental, now=now):
        has_moved = True
    return has_moved


def end_rental(
    *, rental: Rental, reason: Rental.EndReason, now: datetime, actor_id: int | None = None
) -> None:
    """End a rental: charge what has begun, free the rest of its hold, give its hours back.

    Where its seller failed, its server is suspended first: the exchange hears of that before.
    """
    suspend_failed_server(rental=rental, reason=reason, now=now)
    ended_at = min(now, rental.ends_at)
    if rental.access_opened_at is not None:
        begun = hours_begun(starts_at=rental.starts_at, hours=rental.fill.hours, until=ended_at)
        charge_rental(rental=rental, up_to_hour=begun, now=now)
    _close_gap(rental, ended_at=ended_at)
    is_undelivered = reason == REASON.NOT_DELIVERED
    rental.state = STATE.NOT_DELIVERED if is_undelivered else STATE.ENDED
    rental.ended_at, rental.end_reason, rental.next_probe_at = ended_at, reason, None
    rental.save()
    give_hours_back(rental=rental, now=ended_at)
    release_holds(purposes=[rental.fill.bid.hold_purpose], now=now)
    record_act(
        actor_id=actor_id,
        organisation_id=rental.organisation_id,
        action="rental.end",
        object_type="rental",
        object_id=rental.pk,
        details={"reason": reason, "hours_charged": rental.hours_charged},
        now=now,
    )
    mail_ended(rental=rental)


def open_gap(*, rental: Rental, now: datetime) -> None:
    """Note that nothing is known of the machine since it was last verified."""
    assert rental.last_verified_at is not None, "a ready machine was verified"
    DeliveryGap.objects.create(
        rental=rental,
        starts_at=rental.last_verified_at,
        noticed_at=now,
        cause=DeliveryGap.Cause.UNKNOWN,
    )


def is_check_pending(*, rental: Rental, now: datetime) -> bool:
    """Say whether a check of the machine is due or under way: its answer comes first."""
    return rental.next_probe_at is not None and rental.next_probe_at <= now + PROBE_LEASE


def _step(rental: Rental, *, now: datetime) -> bool:
    match rental.state:
        case STATE.SOLD:
            return _begin_setup(rental, now=now)
        case STATE.PREPARING:
            return _give_up(rental, now=now)
        case STATE.INTERRUPTED:
            return _complete(rental, now=now) or _fail(rental, now=now)
        case _:
            return (
                _open_access(rental, now=now)
                or _start_running(rental, now=now)
                or _complete(rental, now=now)
            )


def _begin_setup(rental: Rental, *, now: datetime) -> bool:
    if now < rental.setup_starts_at:
        return False
    try:
        bind_gpus(rental=rental)
    except NoFreeGpu:
        end_rental(rental=rental, reason=REASON.SELLER_FAILURE, now=now)
        return True
    rental.state = STATE.PREPARING
    rental.next_probe_at = now if rental.handed_over_at is not None else None
    rental.save(update_fields=["state", "next_probe_at"])
    return True


def _give_up(rental: Rental, *, now: datetime) -> bool:
    if now < rental.starts_at + READY_WITHIN:
        return False
    if now < rental.ends_at and is_check_pending(rental=rental, now=now):
        return False
    end_rental(rental=rental, reason=REASON.NOT_DELIVERED, now=now)
    return True


def _open_access(rental: Rental, *, now: datetime) -> bool:
    if rental.access_opened_at is not None or now < rental.starts_at - EARLY_ACCESS:
        return False
    if now < rental.starts_at and _is_chained(rental, now=now):
        return False
    rental.access_opened_at = now
    rental.save(update_fields=["access_opened_at"])
    record_act(
        actor_id=None,
        organisation_id=rental.organisation_id,
        action="rental.open_access",
        object_type="rental",
        object_id=rental.pk,
        now=now,
    )
    mail_access_opened(rental=rental)
    return True


def _is_chained(rental: Rental, *, now: datetime) -> bool:
    """Say whether the organisation has just left this server, or leaves it by this paid start."""
    others = Rental.objects.filter(
        organisation=rental.organisation_id,
        server=rental.server_id,
        access_opened_at__isnull=False,
    ).exclude(pk=rental.pk)
    return (
        others.annotate(left_at=Coalesce("ended_at", "ends_at"))
        .filter(left_at__gt=now - CHAIN_WINDOW, left_at__lte=rental.starts_at)
        .exists()
    )


def _start_running(rental: Rental, *, now: datetime) -> bool:
    is_due = now >= rental.starts_at and rental.access_opened_at is not None
    if rental.state == STATE.RUNNING or not is_due:
        return False
    rental.state = STATE.RUNNING
    rental.save(update_fields=["state"])
    return True


def _complete(rental: Rental, *, now: datetime) -> bool:
    if now < rental.ends_at:
        return False
    if rental.state != STATE.INTERRUPTED and _is_tail_unchecked(rental):
        if is_check_pending(rental=rental, now=now):
            return False
        open_gap(rental=rental, now=now)
    was_opened = rental.access_opened_at is not None
    reason = REASON.COMPLETED if was_opened else REASON.SELLER_FAILURE
    end_rental(rental=rental, reason=reason, now=now)
    return True


def _is_tail_unchecked(rental: Rental) -> bool:
    assert rental.last_verified_at is not None, "a ready machine was verified"
    return rental.last_verified_at < rental.ends_at - UNCHECKED_TAIL


def _fail(rental: Rental, *, now: datetime) -> bool:
    gap = DeliveryGap.objects.get(rental=rental, ends_at__isnull=True)
    is_over = now >= gap.noticed_at + AUTOMATIC_END_AFTER and not gap.customer_waits
    if not is_over or is_check_pending(rental=rental, now=now):
        return False
    end_rental(rental=rental, reason=REASON.SELLER_FAILURE, now=now)
    return True


def _close_gap(rental: Rental, *, ended_at: datetime) -> None:
    DeliveryGap.objects.filter(rental=rental, ends_at__isnull=True).update(ends_at=ended_at)
