"""Steps of a rental's delivery for tests: hand over, check, sweep. Minutes count from P."""

from datetime import datetime, timedelta

from marketplace.gateways.ssh_probe import ProbeError, ProbeResult
from marketplace.models import Command, Rental
from marketplace.operations.deliveries import HandOver, hand_over
from marketplace.operations.probes import record_probe
from marketplace.operations.rentals import StopConsequence, stop_rental, sweep_rentals
from tests.builders import FINGERPRINT
from tests.factories import T0

P = T0 + timedelta(hours=2)
GOOD = ProbeResult(is_ready=True, fingerprint=FINGERPRINT)
BAD = ProbeResult(is_ready=False, error=ProbeError.NO_ANSWER)


def at(minutes: float) -> datetime:
    return P + timedelta(minutes=minutes)


def give_access(rental: Rental, now: datetime) -> None:
    hand_over(
        rental_id=rental.pk,
        organisation_id=rental.fill.seller_id,
        actor_id=rental.fill.bid.placed_by_id,
        access=HandOver(
            host="127.0.0.1", port=2222, username="gpu", host_key_fingerprint=FINGERPRINT
        ),
        now=now,
    )


def probe(rental: Rental, result: ProbeResult, now: datetime) -> None:
    record_probe(rental_id=rental.pk, result=result, now=now)
    rental.refresh_from_db()


def sweep(rental: Rental, now: datetime) -> None:
    sweep_rentals(now=now)
    rental.refresh_from_db()


def make_ready(rental: Rental, now: datetime) -> None:
    """Take a sold rental to a verified machine at ``now``."""
    sweep(rental, min(now, rental.starts_at))
    give_access(rental, now)
    probe(rental, GOOD, now)


def stop(rental: Rental, now: datetime) -> StopConsequence:
    consequence = stop_rental(
        rental_id=rental.pk,
        organisation_id=rental.organisation_id,
        actor_id=rental.fill.bid.placed_by_id,
        now=now,
    )
    rental.refresh_from_db()
    return consequence


def slots_given_back(rental: Rental) -> int:
    command = Command.objects.get(kind=Command.Kind.RELEASE_HOURS, bid=rental.fill.bid)
    slots: int = command.payload["to_slot"] - command.payload["from_slot"]
    return slots
