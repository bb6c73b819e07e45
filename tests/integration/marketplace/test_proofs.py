"""The proof of fills, holds, charges and calendars passes on real histories and sees planted faults."""

import pytest
from django.db import connection
from django.db.models import F

from billing.models import Hold
from marketplace.models import Command, GpuBooking, Rental, RentalHour, ServerDay
from marketplace.operations.charging import charge_due_hours
from marketplace.operations.probes import record_probe
from marketplace.operations.proofs import marketplace_differences
from marketplace.operations.rentals import stop_rental, sweep_rentals
from marketplace.operations.settlement import settle_due_hours
from tests.builders import sell
from tests.exchange import hold_of, match
from tests.factories import T0
from tests.rental_steps import BAD, GOOD, P, at, give_access

pytestmark = pytest.mark.django_db


def delivered(*, minute: float = -5, **facts) -> Rental:
    rental = sell(**facts)
    sweep_rentals(now=at(min(minute, 0)))
    give_access(rental, at(minute))
    record_probe(rental_id=rental.pk, result=GOOD, now=at(minute))
    return rental


def stop(rental: Rental, now):
    stop_rental(
        rental_id=rental.pk,
        organisation_id=rental.organisation_id,
        actor_id=rental.fill.bid.placed_by_id,
        now=now,
    )


def sweep(minute: float):
    sweep_rentals(now=at(minute))
    charge_due_hours(now=at(minute))
    settle_due_hours(now=at(minute))
    match(at(minute))


@pytest.fixture
def history() -> dict[str, Rental]:
    """One rental for each way to end, and one that is running."""
    rentals = {
        "completed": delivered(hours=1, price_micro=333_000, gpus=3),
        "stopped": delivered(hours=10),
        "late": delivered(hours=1, minute=12),
        "not_delivered": sell(hours=3),
        "taken_back": sell(hours=5),
        "failed": delivered(hours=6),
        "running": delivered(hours=24),
    }
    stop(rentals["taken_back"], T0)
    sweep(0)
    for minute in (1, 2):
        record_probe(rental_id=rentals["failed"].pk, result=BAD, now=at(minute))
    sweep(15)
    stop(rentals["stopped"], at(20))
    for name in ("completed", "late", "running"):
        record_probe(rental_id=rentals[name].pk, result=GOOD, now=at(60))
    record_probe(rental_id=rentals["failed"].pk, result=BAD, now=at(62))
    sweep(65)
    for rental in rentals.values():
        rental.refresh_from_db()
    return rentals


def test_a_history_of_every_way_to_end_has_no_difference(history):
    ends = {name: rental.end_reason for name, rental in history.items()}

    assert ends == {
        "completed": "completed",
        "stopped": "stopped_by_customer",
        "late": "completed",
        "not_delivered": "not_delivered",
        "taken_back": "stopped_by_customer",
        "failed": "seller_failure",
        "running": "",
    }
    assert marketplace_differences() == []


class TestPlantedFaults:
    def test_a_hold_that_was_taken_from_is_seen(self, history):
        rental = history["running"]
        Hold.objects.filter(pk=hold_of(rental.fill.bid).pk).update(
            captured_minor=F("captured_minor") + 1
        )

        assert marketplace_differences() == [
            f"Rental {rental.pk}: 121 was taken from its hold, its charges are 120."
        ]

    def test_an_hours_row_that_differs_from_its_journal_is_seen(self, history):
        rental = history["running"]
        RentalHour.objects.filter(rental=rental, number=1).update(net_minor=51, vat_minor=9)

        assert marketplace_differences() == [
            f"Rental {rental.pk}: hour 1 was not charged at its price."
        ]

    def test_an_hour_without_its_row_is_seen(self, history):
        rental = history["completed"]
        RentalHour.objects.filter(rental=rental).delete()

        found = marketplace_differences()

        assert f"Rental {rental.pk}: it is completed, but 0 of 120 was charged." in found
        assert "There are 7 journals of kind hour_charge, and 6 rows of hours." in found

    def test_a_slot_sold_and_not_counted_is_seen(self, history):
        rental = history["running"]
        day = ServerDay.objects.filter(server=rental.server, day=P.date()).get()
        day.used[4 * P.hour] = 0
        day.save()

        (found,) = marketplace_differences()

        assert found.endswith(": 0 GPUs kept as sold, 1 are.")

    def test_hours_that_never_came_back_are_seen(self, history):
        rental = history["stopped"]
        with connection.cursor() as cursor:
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        Command.objects.filter(bid=rental.fill.bid, kind="release_hours").update(bid=None)

        assert marketplace_differences() == [
            f"Rental {rental.pk}: its hours were given back 0 times."
        ]

    def test_a_lost_booking_is_seen(self, history):
        rental = history["running"]
        GpuBooking.objects.filter(rental=rental).delete()

        assert marketplace_differences() == [
            f"Rental {rental.pk}: it holds 0 GPUs, 0 of them for all of its time."
        ]

    def test_a_credit_for_no_minutes_is_seen(self, history):
        rental = history["late"]
        RentalHour.objects.filter(rental=rental).update(undelivered_minutes=11)

        assert marketplace_differences() == [
            f"Rental {rental.pk}: the credit of hour 1 is not for its undelivered minutes."
        ]

    def test_a_hold_that_outlives_its_rental_is_seen(self, history):
        rental = history["not_delivered"]
        Hold.objects.filter(pk=hold_of(rental.fill.bid).pk).update(state="open", closed_at=None)

        assert marketplace_differences() == [
            f"Rental {rental.pk}: its hold is open, though the rental is not_delivered."
        ]
