"""Physical GPUs of rentals: bound when the set-up begins, given back when a rental ends early."""

from datetime import datetime

from django.db.backends.postgresql.psycopg_any import DateTimeTZRange

from marketplace.locks import lock_server
from marketplace.models import Command, GpuBooking, Rental
from marketplace.operations.commands import submit_command
from marketplace.operations.slots import slot_at
from marketplace.rental_time import next_boundary


class NoFreeGpu(Exception):
    """A server has fewer free GPUs than were sold: the counts were right, the numbers are gone."""


def bind_gpus(*, rental: Rental) -> None:
    """Write which GPUs serve the rental: the lowest numbers free for all of its time.

    Called in the order in which set-ups begin, this always finds room when the counts allow it.

    Raises
    ------
    NoFreeGpu
        Nothing is written.
    """
    server = lock_server(server_id=rental.server_id, organisation_id=rental.server.organisation_id)
    period = DateTimeTZRange(rental.setup_starts_at, rental.ends_at)
    taken = set(
        GpuBooking.objects.filter(server=server, period__overlap=period).values_list(
            "gpu_number", flat=True
        )
    )
    free = [number for number in range(server.gpu_count) if number not in taken]
    if len(free) < rental.fill.gpus:
        raise NoFreeGpu
    GpuBooking.objects.bulk_create(
        GpuBooking(server=server, rental=rental, gpu_number=number, period=period)
        for number in free[: rental.fill.gpus]
    )


def give_hours_back(*, rental: Rental, now: datetime) -> None:
    """Free the rest of an ended rental's time from the next slot on, and tell the exchange.

    The running slot stays taken: another rental could not be prepared on it any more. Hours that
    the seller did not deliver have their price as a ceiling: nobody gains by failing them.
    """
    free_from = max(rental.setup_starts_at, next_boundary(now))
    if free_from >= rental.ends_at:
        return
    bookings = GpuBooking.objects.filter(rental=rental)
    if free_from == rental.setup_starts_at:
        bookings.delete()
    else:
        bookings.update(period=DateTimeTZRange(rental.setup_starts_at, free_from))
    payload: dict[str, int | str] = {
        "from_slot": slot_at(free_from),
        "to_slot": slot_at(rental.ends_at),
        "gpus": rental.fill.gpus,
    }
    if rental.end_reason in Rental.UNDELIVERED:
        payload["ceiling_micro"] = rental.fill.seller_price_micro
        payload["currency"] = rental.fill.seller_currency
    submit_command(
        kind=Command.Kind.RELEASE_HOURS,
        server_id=rental.server_id,
        bid_id=rental.fill.bid_id,
        payload=payload,
        now=now,
    )
