"""Check the machines that are due: the heartbeat of delivery by hand.

One sweep claims what is due, looks at all of it at once outside any transaction, and writes each
answer in a transaction of its own. A claim is a lease: when the sweep dies, the check comes again.
"""

import logging
from collections.abc import Callable, Mapping
from datetime import datetime

from django.db import transaction

from marketplace.gateways.ssh_probe import ProbeResult, ProbeTarget, look_at
from marketplace.locks import claim_rentals, lock_rental
from marketplace.models import DeliveryGap, Rental
from marketplace.operations.transitions import advance, open_gap
from marketplace.rental_time import MISSES_TO_STOP, PROBE_INTERVAL, PROBE_LEASE

logger = logging.getLogger(__name__)

# Sockets and threads opened at once; every sweep, a few seconds apart, takes as many.
SWEEP_RENTALS = 200

STATE = Rental.State


Look = Callable[[Mapping[int, ProbeTarget]], Mapping[int, ProbeResult]]


def look_over_network(targets: Mapping[int, ProbeTarget]) -> Mapping[int, ProbeResult]:
    return look_at(targets=targets)


def probe_due(*, now: datetime, look: Look = look_over_network) -> int:
    """Check every machine that is due, and return how many were looked at.

    ``look`` answers for the machines; a simulation gives its own.
    """
    targets = _claim(now=now)
    results = look(targets) if targets else {}
    for rental_id, result in results.items():
        try:
            record_probe(rental_id=rental_id, result=result, now=now)
        # The edge of the sweep: the other answers are to be written.
        except Exception:
            logger.exception("A check could not be recorded.", extra={"rental_id": rental_id})
    return len(results)


@transaction.atomic
def record_probe(*, rental_id: int, result: ProbeResult, now: datetime) -> None:
    """Write what a check that began at ``now`` saw, and take the rental where that leads."""
    rental = lock_rental(rental_id=rental_id)
    if rental is None or not _counts(rental, now=now):
        return
    rental.probe_error = result.error
    rental.next_probe_at = now + PROBE_INTERVAL
    if rental.ready_at is None:
        _record_before_ready(rental, result, now=now)
    elif result.is_ready:
        _record_seen(rental, now=now)
    else:
        _record_miss(rental, now=now)
    rental.save()
    advance(rental=rental, now=now)


@transaction.atomic
def _claim(*, now: datetime) -> dict[int, ProbeTarget]:
    due = Rental.objects.filter(next_probe_at__lte=now, ended_at__isnull=True)
    ids = due.order_by("next_probe_at", "pk").values_list("pk", flat=True)[:SWEEP_RENTALS]
    rentals = claim_rentals(due=due, ids=list(ids))
    Rental.objects.filter(pk__in=[rental.pk for rental in rentals]).update(
        next_probe_at=now + PROBE_LEASE
    )
    return {
        rental.pk: ProbeTarget(
            host=rental.host, port=rental.port, fingerprint=rental.host_key_fingerprint
        )
        for rental in rentals
        if rental.port is not None
    }


def _counts(rental: Rental, *, now: datetime) -> bool:
    """Say whether the answer is about the machine as it is noted, and the newest one."""
    if rental.ended_at is not None or rental.handed_over_at is None:
        return False
    was_corrected_since = rental.handed_over_at > now
    next_is_later = rental.next_probe_at is not None and rental.next_probe_at > now + PROBE_LEASE
    return not was_corrected_since and not next_is_later


def _record_before_ready(rental: Rental, result: ProbeResult, *, now: datetime) -> None:
    if not result.is_ready or rental.state != STATE.PREPARING or now >= rental.ends_at:
        return
    rental.state = STATE.READY
    rental.ready_at = rental.last_verified_at = now


def _record_seen(rental: Rental, *, now: datetime) -> None:
    rental.last_verified_at, rental.probe_misses = now, 0
    if rental.state != STATE.INTERRUPTED:
        return
    DeliveryGap.objects.filter(rental=rental, ends_at__isnull=True).update(ends_at=now)
    # Time then takes it to running when its paid time has begun.
    rental.state = STATE.READY


def _record_miss(rental: Rental, *, now: datetime) -> None:
    rental.probe_misses += 1
    if now >= rental.ends_at:
        # Asked again at once; then the seller may have taken the machine back, and nothing more
        # can be learnt of it.
        is_last = rental.probe_misses >= MISSES_TO_STOP
        rental.next_probe_at = None if is_last else now
        return
    if rental.probe_misses >= MISSES_TO_STOP and rental.state != STATE.INTERRUPTED:
        open_gap(rental=rental, now=now)
        rental.state = STATE.INTERRUPTED
