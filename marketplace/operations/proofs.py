"""Recompute from scratch what fills, rentals, holds, charges and calendars must agree on.

Every function returns sentences, one for each difference; no difference, no sentence. Reads only.
The sentences are for operators: they name rows by number, and nobody's name.
"""

from collections.abc import Iterator
from functools import partial

from django.db import connection
from django.db.models import Count, Prefetch

from billing.models import Hold, Journal, Posting
from billing.money import Tally, hour_tally, total_to, undelivered_share
from marketplace.models import Command, Fill, GpuBooking, Rental, RentalHour
from marketplace.operations.batches import DONE
from marketplace.queries.rentals import terms_of
from marketplace.rental_time import next_boundary

# Rentals kept in memory at once.
CHUNK = 500

CALENDAR_DIFFERENCES = """
    WITH sold AS (
        SELECT fill.server_id, slot, fill.gpus AS gpus
        FROM marketplace_fill AS fill, generate_series(
            extract(epoch FROM fill.starts_at)::bigint / 900 - fill.setup_slots,
            extract(epoch FROM fill.starts_at)::bigint / 900 + fill.hours * 4 - 1
        ) AS slot
        UNION ALL
        SELECT command.server_id, slot, -(command.payload ->> 'gpus')::int
        FROM marketplace_command AS command, generate_series(
            (command.payload ->> 'from_slot')::bigint, (command.payload ->> 'to_slot')::bigint - 1
        ) AS slot
        WHERE command.kind = %s AND command.outcome = %s
    ), expected AS (
        SELECT server_id, slot, sum(gpus) AS used FROM sold GROUP BY server_id, slot
    ), kept AS (
        SELECT day.server_id, (day.day - DATE '1970-01-01') * 96 + place - 1 AS slot, count AS used
        FROM marketplace_serverday AS day, unnest(day.used) WITH ORDINALITY AS slots(count, place)
    )
    SELECT server_id, slot, coalesce(kept.used, 0), coalesce(expected.used, 0)
    FROM kept FULL JOIN expected USING (server_id, slot)
    WHERE coalesce(kept.used, 0) <> coalesce(expected.used, 0)
    ORDER BY server_id, slot
"""


def marketplace_differences() -> list[str]:
    """Return everything that fills, rentals, holds, charges and calendars disagree on."""
    differences = [*_calendar(), *_orphans(), *_impossible_releases()]
    hours = Prefetch(
        "rental_hours",
        RentalHour.objects.select_related("journal", "credit_journal").order_by("number"),
    )
    rentals = Rental.objects.select_related("fill__bid").prefetch_related(hours).order_by("pk")
    for rental in rentals.iterator(chunk_size=CHUNK):
        differences += _rental(rental)
    return differences


def _rental(rental: Rental) -> Iterator[str]:
    hours = list(rental.rental_hours.all())
    say = partial("Rental {}: {}".format, rental.pk)
    yield from map(say, _hold(rental, hours))
    yield from map(say, _counts(rental, hours))
    yield from map(say, _hours(rental, hours))
    yield from map(say, _bookings(rental))
    yield from map(say, _release(rental))


def _hold(rental: Rental, hours: list[RentalHour]) -> Iterator[str]:
    """Check that charges and the rest of the hold are the price, all of it when completed."""
    hold = Hold.objects.filter(purpose=rental.fill.bid.hold_purpose).first()
    if hold is None:
        yield "it has no hold."
        return
    price = total_to(terms=terms_of(rental), hours=rental.fill.hours).gross_minor
    if hold.amount_minor != price:
        yield f"its hold is {hold.amount_minor}, its price {price}."
    fee = rental.break_fee_net_minor + rental.break_fee_vat_minor
    charged = sum(hour.net_minor + hour.vat_minor for hour in hours) + fee
    if hold.captured_minor != charged:
        yield f"{hold.captured_minor} was taken from its hold, its charges are {charged}."
    if (hold.state == Hold.State.OPEN) != (rental.ended_at is None):
        yield f"its hold is {hold.state}, though the rental is {rental.state}."
    if rental.end_reason == Rental.EndReason.COMPLETED and charged != price:
        yield f"it is completed, but {charged} of {price} was charged."


def _counts(rental: Rental, hours: list[RentalHour]) -> Iterator[str]:
    if [hour.number for hour in hours] != list(range(1, rental.hours_charged + 1)):
        yield f"it counts {rental.hours_charged} charged hours, its rows tell others."
    settled = sum(hour.settled_at is not None for hour in hours)
    if settled != rental.hours_settled:
        yield f"it counts {rental.hours_settled} settled hours, its rows tell {settled}."


def _hours(rental: Rental, hours: list[RentalHour]) -> Iterator[str]:
    """Check that each hour's row, its price and its journals tell the same amounts."""
    charge = partial("charge:{}:{}".format, rental.pk)
    credit = partial("credit:{}:{}".format, rental.pk)
    for hour in hours:
        charged = Tally(hour.net_minor, hour.vat_minor, hour.seller_minor)
        if charged != hour_tally(terms=terms_of(rental), number=hour.number):
            yield f"hour {hour.number} was not charged at its price."
        if not _tells(hour.journal, key=charge(hour.number), tally=charged, sign=-1):
            yield f"hour {hour.number} and its journal differ."
        given = Tally(hour.credit_net_minor, hour.credit_vat_minor, hour.credit_seller_minor)
        if given != undelivered_share(hour=charged, minutes=hour.undelivered_minutes):
            yield f"the credit of hour {hour.number} is not for its undelivered minutes."
        if not _tells(hour.credit_journal, key=credit(hour.number), tally=given, sign=1):
            yield f"the credit of hour {hour.number} and its journal differ."


def _tells(journal: Journal | None, *, key: str, tally: Tally, sign: int) -> bool:
    """Say whether a journal moves the tally's money on the wallet and on the seller's account."""
    is_nothing = tally == Tally(0, 0, 0)
    if journal is None or is_nothing:
        return journal is None and is_nothing
    moved = {"wallet": 0, "seller_pending": 0}
    for kind, amount in Posting.objects.filter(
        journal=journal, account__kind__in=moved
    ).values_list("account__kind", "amount_minor"):
        moved[kind] += amount
    expected = {"wallet": sign * tally.gross_minor, "seller_pending": -sign * tally.seller_minor}
    return journal.idem_key == key and moved == expected


def _bookings(rental: Rental) -> Iterator[str]:
    """Check that a live rental holds its GPUs for all of its time once its set-up has begun."""
    if rental.ended_at is not None:
        return
    expected = 0 if rental.state == Rental.State.SOLD else rental.fill.gpus
    bookings = GpuBooking.objects.filter(rental=rental)
    whole = [
        booking
        for booking in bookings
        if (booking.period.lower, booking.period.upper) == (rental.setup_starts_at, rental.ends_at)
    ]
    if (len(bookings), len(whole)) != (expected, expected):
        yield f"it holds {len(bookings)} GPUs, {len(whole)} of them for all of its time."


def _release(rental: Rental) -> Iterator[str]:
    """Check that hours come back once when a rental ends early, and only then."""
    releases = Command.objects.filter(kind=Command.Kind.RELEASE_HOURS, bid=rental.fill.bid_id)
    is_early = rental.ended_at is not None and (
        max(rental.setup_starts_at, next_boundary(rental.ended_at)) < rental.ends_at
    )
    if releases.count() != int(is_early):
        yield f"its hours were given back {releases.count()} times."


def _calendar() -> Iterator[str]:
    """Check that the server days count exactly the sold slots that were not given back."""
    with connection.cursor() as cursor:
        cursor.execute(CALENDAR_DIFFERENCES, [Command.Kind.RELEASE_HOURS, DONE])
        for server_id, slot, kept, expected in cursor.fetchall():
            yield f"Server {server_id}, slot {slot}: {kept} GPUs kept as sold, {expected} are."


def _orphans() -> Iterator[str]:
    """Check that every fill has its rental, and every charge and credit of an hour its row."""
    for pk in Fill.objects.filter(rental__isnull=True).order_by("pk").values_list("pk", flat=True):
        yield f"Fill {pk} has no rental."
    kinds = (Journal.Kind.HOUR_CHARGE, Journal.Kind.HOUR_CREDIT)
    hours = RentalHour.objects.aggregate(charges=Count("journal"), credits=Count("credit_journal"))
    rows = dict(zip(kinds, (hours["charges"], hours["credits"]), strict=True))
    for kind, count in rows.items():
        journals = Journal.objects.filter(kind=kind).count()
        if journals != count:
            yield f"There are {journals} journals of kind {kind}, and {count} rows of hours."
    fees = Rental.objects.exclude(break_fee_net_minor=0).count()
    charged = Journal.objects.filter(kind=Journal.Kind.BREAK_FEE).count()
    if charged != fees:
        yield f"There are {charged} journals of early ends, and {fees} rentals with a fee."


def _impossible_releases() -> Iterator[str]:
    lost = Command.objects.filter(kind=Command.Kind.RELEASE_HOURS, sequence__isnull=False)
    for pk in lost.exclude(outcome=DONE).order_by("pk").values_list("pk", flat=True):
        yield f"Command {pk}: the exchange could not take these hours back."
