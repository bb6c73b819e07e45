"""The provider's events: stored as they come, applied later from the objects read again.

An event is only a reason to look. Two workers never have the same one at once: who takes an event
moves its due time ahead, so that a worker that dies gives it back by itself.
"""

import logging
from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F

from billing.gateways import stripe as gateway
from billing.locks import lock_due_events
from billing.models import StripeCursor, StripeEvent, TopUp
from billing.operations.topups import (
    UNSETTLED,
    PaymentMismatch,
    UnknownCheckout,
    apply_checkout,
    give_up_pageless,
)

logger = logging.getLogger(__name__)

CHECKOUT_EVENTS = frozenset(
    {
        "checkout.session.completed",
        "checkout.session.async_payment_succeeded",
        "checkout.session.async_payment_failed",
        "checkout.session.expired",
    }
)
# One task's share: each costs two calls of at most some seconds.
EVENTS_AT_ONCE = 20
TOP_UPS_AT_ONCE = 50
# Longer than one event can take with every call at its time-out.
LEASE = timedelta(seconds=120)
FIRST_PAUSE = timedelta(seconds=5)
LONGEST_PAUSE = timedelta(minutes=10)
MOST_DOUBLINGS = 10
# A payment takes its customer longer than this; the webhook is usually faster than the sweep.
QUIET_TIME = timedelta(seconds=30)
# Stripe retries its webhooks for three days: an outage of ours may have lost that many.
FIRST_LOOK_BACK = timedelta(days=3)
OVERLAP = timedelta(minutes=10)
FAILURES = (
    gateway.GatewayUnavailable,
    gateway.GatewayRefused,
    PaymentMismatch,
    UnknownCheckout,
)


def store_events(*, events: Sequence[gateway.Event], now: datetime) -> None:
    """Keep the events that are new. One that comes twice is kept once."""
    StripeEvent.objects.bulk_create(
        [
            StripeEvent(
                event_id=event.id,
                type=event.type[:80],
                object_id=event.object_id[:120],
                payload=event.payload,
                received_at=now,
                due_at=now,
            )
            for event in events
        ],
        ignore_conflicts=True,
    )


@transaction.atomic
def claim_events(*, now: datetime) -> list[StripeEvent]:
    """Take some events that are due, and keep other workers away from them for a while."""
    events = lock_due_events(now=now, limit=EVENTS_AT_ONCE)
    ids = [event.pk for event in events]
    StripeEvent.objects.filter(pk__in=ids).update(due_at=now + LEASE, attempts=F("attempts") + 1)
    return events


def apply_event(*, event: StripeEvent, now: datetime) -> None:
    """Apply one event and mark it done; one that we do not use is done at once.

    Raises what `apply_checkout` raises; the event then stays due.
    """
    if event.type in CHECKOUT_EVENTS:
        apply_checkout(session_id=event.object_id, now=now)
    StripeEvent.objects.filter(pk=event.pk).update(processed_at=now, error="")


def postpone_event(*, event: StripeEvent, failure: Exception, now: datetime) -> None:
    """Keep what went wrong and try again later, less and less often."""
    words = f"{type(failure).__name__}: {failure}"
    pause = min(FIRST_PAUSE * 2 ** min(event.attempts, MOST_DOUBLINGS), LONGEST_PAUSE)
    StripeEvent.objects.filter(pk=event.pk).update(error=words[:300], due_at=now + pause)


def fetch_missed_events(*, now: datetime) -> int:
    """Ask the provider for the events since the last time we asked; return how many it named.

    The cursor keeps the provider's time: our clock may be set otherwise in a demo. Webhooks do not
    move it: one that came says nothing of an earlier one that did not.
    """
    cursor = StripeCursor.objects.filter(id=1).first()
    since = cursor.seen_until - OVERLAP if cursor else now - FIRST_LOOK_BACK
    events = gateway.list_events(since=since)
    store_events(events=events, now=now)
    if events:
        newest = max(event.created for event in events)
        StripeCursor.objects.update_or_create(id=1, defaults={"seen_until": newest})
    return len(events)


def sweep_top_ups(*, now: datetime) -> int:
    """Look again at the payments that nobody told us about; return how many were settled."""
    give_up_pageless(now=now)
    waiting = TopUp.objects.filter(
        state__in=UNSETTLED, checkout_session_id__isnull=False, created_at__lt=now - QUIET_TIME
    ).order_by(F("checked_at").asc(nulls_first=True), "pk")
    return sum(_look_again(top_up, now=now) for top_up in waiting[:TOP_UPS_AT_ONCE])


def _look_again(top_up: TopUp, *, now: datetime) -> bool:
    assert top_up.checkout_session_id is not None
    try:
        seen = apply_checkout(session_id=top_up.checkout_session_id, now=now)
    except FAILURES:
        logger.exception("a top-up could not be checked", extra={"top_up": top_up.pk})
        TopUp.objects.filter(pk=top_up.pk).update(checked_at=now)
        return False
    return seen.state not in UNSETTLED
