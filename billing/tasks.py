"""Sweeps of payments. Each may run twice at once, or never for a while: nothing but time is lost."""

import logging

from celery import shared_task

from billing.gateways.stripe import GatewayRefused, GatewayUnavailable
from billing.models import StripeEvent
from billing.operations import events
from marketplace.accounts.clock import now

logger = logging.getLogger(__name__)


@shared_task
def apply_stripe_events() -> int:
    """Apply the stored events that are due; return how many are done with."""
    return sum(_apply(event) for event in events.claim_events(now=now()))


@shared_task
def sweep_top_ups() -> int:
    """Find what a lost webhook should have told: events of the provider, and open payments."""
    try:
        events.fetch_missed_events(now=now())
    except (GatewayUnavailable, GatewayRefused):
        logger.exception("the provider's events could not be listed")
    return events.sweep_top_ups(now=now())


def _apply(event: StripeEvent) -> bool:
    try:
        events.apply_event(event=event, now=now())
    except Exception as failure:
        # Whatever it is, it must not keep the other events waiting: it is kept and tried again.
        logger.exception("an event could not be applied", extra={"event": event.pk})
        events.postpone_event(event=event, failure=failure, now=now())
        return False
    return True
