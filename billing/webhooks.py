"""The provider's webhook: check who wrote it, keep it, answer. A task applies it."""

import logging

from celery import current_app
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from billing.gateways.stripe import SignatureInvalid, verify_webhook
from billing.operations.events import store_events
from marketplace.accounts.clock import now

logger = logging.getLogger(__name__)

APPLY_TASK = "billing.tasks.apply_stripe_events"


@csrf_exempt
@require_POST
def stripe(request: HttpRequest) -> HttpResponse:
    """Keep one event: 200 when it is kept, now or before; 400 when it is not Stripe's for us."""
    try:
        event = verify_webhook(
            payload=request.body, signature=request.headers.get("Stripe-Signature", "")
        )
    except SignatureInvalid as invalid:
        logger.warning("a webhook was refused", extra={"reason": str(invalid)[:80]})
        return HttpResponse(status=400)
    store_events(events=[event], now=now())
    # The bell may be lost: a sweep every few seconds does the same.
    transaction.on_commit(_ring, robust=True)
    return HttpResponse(status=200)


def _ring() -> None:
    current_app.send_task(APPLY_TASK)
