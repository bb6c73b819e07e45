"""A rental's states by time, and the ends that time brings."""

from datetime import timedelta

import pytest
from django.db.backends.postgresql.psycopg_any import DateTimeTZRange

from billing.models import Hold
from marketplace.accounts.models import AuditEntry, Mail
from marketplace.models import Command, DeliveryGap, GpuBooking, Rental
from marketplace.operations import transitions
from marketplace.operations.charging import charge_due_hours
from marketplace.operations.deliveries import RentalNotFound
from marketplace.operations.rentals import (
    NotInterrupted,
    keep_waiting,
    stop_consequence,
    sweep_rentals,
)
from marketplace.operations.settlement import settle_due_hours
from tests.builders import FINGERPRINT, make_server, sell
from tests.exchange import hold_of, make_customer, wallet_of
from tests.rental_steps import (
    BAD,
    GOOD,
    at,
    give_access,
    make_ready,
    probe,
    slots_given_back,
    stop,
    sweep,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("check_deferred_rules")]


def wait(rental, now, **changes):
    facts = {
        "rental_id": rental.pk,
        "organisation_id": rental.organisation_id,
        "actor_id": rental.fill.bid.placed_by_id,
        "now": now,
    }
    keep_waiting(**(facts | changes))


class TestSetup:
    def test_begins_with_the_first_set_up_slot_and_binds_the_lowest_numbers(self):
        rental = sell(gpus=2, server=make_server(gpu_count=4))

        sweep(rental, at(-60) - timedelta(seconds=1))
        before = rental.state
        sweep(rental, at(-60))

        assert (before, rental.state) == (Rental.State.SOLD, Rental.State.PREPARING)
        bookings = GpuBooking.objects.order_by("gpu_number").values_list("gpu_number", "period")
        period = DateTimeTZRange(at(-60), at(120))
        assert list(bookings) == [(0, period), (1, period)]

    def test_gives_two_rentals_at_once_different_gpus(self):
        server = make_server(gpu_count=2)
        first, second = sell(server=server), sell(server=server, starts_at=at(60))

        sweep_rentals(now=at(0))

        numbers = dict(GpuBooking.objects.values_list("rental", "gpu_number"))
        assert numbers == {first.pk: 0, second.pk: 1}

    def test_gives_the_same_gpu_to_rentals_one_after_the_other(self):
        server = make_server(gpu_count=1)
        sell(server=server), sell(server=server, starts_at=at(180))

        sweep_rentals(now=at(120))

        assert list(GpuBooking.objects.values_list("gpu_number", flat=True)) == [0, 0]

    def test_without_a_free_gpu_ends_the_rental_as_the_sellers_failure(self):
        rental = sell(server=make_server(gpu_count=1))
        other = sell(server=rental.server, starts_at=at(24 * 60))
        GpuBooking.objects.create(
            server=rental.server,
            rental=other,
            gpu_number=0,
            period=DateTimeTZRange(at(-60), at(15)),
        )

        sweep(rental, at(-60))

        assert (rental.state, rental.end_reason) == ("ended", "seller_failure")
        assert hold_of(rental.fill.bid).state == Hold.State.CLOSED
        assert wallet_of(rental.organisation).held_minor == 0
        assert slots_given_back(rental) == 12

    def test_of_one_failing_rental_holds_up_no_other(self, monkeypatch, caplog):
        first, second = sell(), sell()
        bind = transitions.bind_gpus

        def fail_once(*, rental):
            if rental.pk == first.pk:
                raise RuntimeError
            bind(rental=rental)

        monkeypatch.setattr(transitions, "bind_gpus", fail_once)

        moved = sweep_rentals(now=at(-60))

        first.refresh_from_db()
        second.refresh_from_db()
        assert (moved, first.state, second.state) == (1, "sold", "preparing")
        assert [r.message for r in caplog.records] == ["A rental could not be advanced."]


class TestReadiness:
    def test_opens_access_one_slot_before_the_paid_start(self):
        rental = sell()
        make_ready(rental, at(-40))
        early = rental.access_opened_at

        sweep(rental, at(-15))

        assert early is None
        assert (rental.state, rental.access_opened_at) == ("ready", at(-15))

    def test_opens_access_at_once_within_that_slot(self):
        rental = sell()

        make_ready(rental, at(-5))

        assert (rental.state, rental.access_opened_at) == ("ready", at(-5))

    def test_runs_at_the_paid_start(self):
        rental = sell()
        make_ready(rental, at(-5))

        sweep(rental, at(0))

        assert rental.state == Rental.State.RUNNING

    def test_gives_no_free_minutes_to_who_just_left_the_server(self):
        server, customer = make_server(gpu_count=1), make_customer()
        earlier = sell(
            server=server, customer=customer, filled_at=at(-300), starts_at=at(-120), hours=1
        )
        make_ready(earlier, at(-121))
        rental = sell(server=server, customer=customer)
        make_ready(rental, at(-10))
        sweep(rental, at(-1))
        before = rental.access_opened_at

        sweep(rental, at(0))

        assert before is None
        assert (rental.state, rental.access_opened_at) == ("running", at(0))

    def test_counts_a_rental_that_was_left_two_hours_ago_no_more(self):
        server, customer = make_server(gpu_count=1), make_customer()
        earlier = sell(
            server=server, customer=customer, filled_at=at(-360), starts_at=at(-195), hours=1
        )
        make_ready(earlier, at(-196))
        sweep(earlier, at(-134))
        rental = sell(server=server, customer=customer)

        make_ready(rental, at(-10))

        assert rental.access_opened_at == at(-10)

    def test_after_the_paid_start_opens_access_and_runs_at_once(self):
        rental = sell()

        make_ready(rental, at(14))

        assert (rental.state, rental.access_opened_at) == ("running", at(14))

    def test_mails_the_access_details_in_the_customers_language(self):
        rental = sell(customer=make_customer(email="c@example.com", language="fr"))

        make_ready(rental, at(-5))

        message = Mail.objects.get()
        assert message.to_address == "c@example.com"
        assert "ssh -p 2222 gpu@127.0.0.1" in message.body_text
        assert FINGERPRINT in message.body_text
        assert "Europe/Paris" in message.body_text
        assert f"/fr/locations/{rental.pk}/" in message.body_text


class TestNotDelivered:
    def test_is_what_is_not_ready_a_quarter_of_an_hour_after_the_paid_start(self):
        rental = sell()
        sweep(rental, at(14.9))
        before = rental.state

        sweep(rental, at(15))

        assert (before, rental.state) == ("preparing", "not_delivered")
        assert (rental.end_reason, rental.ended_at) == ("not_delivered", at(15))

    def test_frees_everything_charges_nothing_and_gives_the_rest_back(self):
        rental = sell(hours=2)

        sweep(rental, at(15))

        wallet = wallet_of(rental.organisation)
        assert (wallet.posted_minor, wallet.held_minor) == (120, 0)
        assert (rental.hours_charged, hold_of(rental.fill.bid).captured_minor) == (0, 0)
        assert slots_given_back(rental) == 7
        assert GpuBooking.objects.get().period == DateTimeTZRange(at(-60), at(15))
        assert Mail.objects.latest("pk").subject == f"Rental {rental.pk} was not delivered"

    def test_waits_for_a_check_that_is_due(self):
        rental = sell()
        sweep(rental, at(-60))
        give_access(rental, at(-30))

        sweep(rental, at(40))

        assert rental.state == Rental.State.PREPARING

    def test_is_not_what_an_outage_of_the_site_kept_from_being_checked(self):
        rental = sell()
        sweep(rental, at(-60))
        give_access(rental, at(-30))

        probe(rental, GOOD, at(40))

        assert (rental.state, rental.access_opened_at) == ("running", at(40))

    def test_follows_a_failed_check(self):
        rental = sell()
        sweep(rental, at(-60))
        give_access(rental, at(-30))

        probe(rental, BAD, at(15.5))

        assert rental.state == Rental.State.NOT_DELIVERED

    def test_is_a_rental_whose_whole_time_passed_unnoticed(self):
        rental = sell(hours=1)

        sweep(rental, at(600))

        assert (rental.state, rental.ended_at) == ("not_delivered", at(60))
        assert not Command.objects.filter(kind=Command.Kind.RELEASE_HOURS).exists()


class TestEnd:
    def test_at_the_end_everything_is_charged_and_the_hold_is_used_up(self):
        rental = sell(hours=2)
        make_ready(rental, at(-5))
        probe(rental, GOOD, at(119.5))

        sweep(rental, at(121))

        hold, wallet = hold_of(rental.fill.bid), wallet_of(rental.organisation)
        assert (rental.state, rental.end_reason) == ("ended", "completed")
        assert (rental.ended_at, rental.hours_charged) == (at(120), 2)
        assert (hold.captured_minor, hold.state) == (120, Hold.State.CLOSED)
        assert (wallet.posted_minor, wallet.held_minor) == (0, 0)
        assert not Command.objects.filter(kind=Command.Kind.RELEASE_HOURS).exists()
        assert AuditEntry.objects.filter(action="rental.end").count() == 1
        assert Mail.objects.latest("pk").subject == f"Rental {rental.pk} is over"

    def test_is_swept_once(self):
        rental = sell(hours=1)
        make_ready(rental, at(-5))
        probe(rental, GOOD, at(59.5))

        assert (sweep_rentals(now=at(61)), sweep_rentals(now=at(61))) == (1, 0)

    def test_after_an_outage_waits_for_a_last_check(self):
        rental = sell(hours=1)
        make_ready(rental, at(-5))
        sweep(rental, at(90))
        before = rental.state

        probe(rental, GOOD, at(90.1))
        settle_due_hours(now=at(91))

        assert (before, rental.end_reason) == ("running", "completed")
        assert rental.rental_hours.get().undelivered_minutes == 0

    def test_after_an_outage_gives_back_what_nobody_verified(self):
        rental = sell(hours=1)
        make_ready(rental, at(-5))
        probe(rental, GOOD, at(20))
        sweep(rental, at(90))

        for minute in (90.1, 90.2):
            probe(rental, BAD, at(minute))
        settle_due_hours(now=at(91))

        assert (rental.end_reason, rental.ended_at) == ("completed", at(60))
        assert rental.rental_hours.get().undelivered_minutes == 40


class TestInterruption:
    def interrupted(self, **facts):
        """A rental seen last at P + 20, known to be down from P + 22 on."""
        rental = sell(**facts)
        make_ready(rental, at(-5))
        sweep(rental, at(0))
        charge_due_hours(now=at(0))
        probe(rental, GOOD, at(20))
        probe(rental, BAD, at(21))
        probe(rental, BAD, at(22))
        return rental

    def test_of_an_hour_ends_the_rental_and_gives_the_later_hours_back(self):
        rental = self.interrupted(hours=4)
        for minute in (81, 81.9):
            probe(rental, BAD, at(minute))
        before = rental.state

        sweep(rental, at(82.5))
        settle_due_hours(now=at(82.5))

        assert (before, rental.state) == ("interrupted", "ended")
        assert (rental.end_reason, rental.hours_charged) == ("seller_failure", 2)
        assert slots_given_back(rental) == 10
        # Twenty minutes of the first hour were delivered, nothing of the second.
        minutes = rental.rental_hours.order_by("number")
        assert list(minutes.values_list("undelivered_minutes", flat=True)) == [40, 60]
        assert wallet_of(rental.organisation).posted_minor == 240 - 120 + 40 + 60

    def test_does_not_end_a_rental_before_a_due_check_is_answered(self):
        rental = self.interrupted(hours=4)

        sweep(rental, at(200))
        probe(rental, GOOD, at(200))

        assert rental.state == Rental.State.RUNNING
        assert DeliveryGap.objects.get().ends_at == at(200)

    def test_of_a_quarter_of_an_hour_lets_the_customer_leave_without_a_fee(self):
        rental = self.interrupted(hours=4)

        early = stop_consequence(rental=rental, now=at(36.9))
        consequence = stop(rental, at(37))

        assert (early.reason, early.fee.net_minor) == ("stopped_by_customer", 15)
        assert (consequence.reason, consequence.due_hours) == ("seller_failure", 1)
        assert (consequence.charged_minor, consequence.freed_minor) == (0, 180)
        assert rental.end_reason == "seller_failure"

    def test_that_the_customer_ends_gives_back_what_was_told_before(self):
        rental = self.interrupted(hours=4)
        settle_due_hours(now=at(37))

        told = stop(rental, at(37)).credited_minor
        settle_due_hours(now=at(37.5))

        # Forty minutes of the first hour, at 0.60 with tax.
        hour = rental.rental_hours.get()
        assert told == hour.credit_net_minor + hour.credit_vat_minor == 40

    def test_that_the_customer_waits_out_does_not_end_the_rental_by_itself(self):
        rental = self.interrupted(hours=4)
        wait(rental, at(30))
        for minute in (81.9, 181.9):
            probe(rental, BAD, at(minute))

        sweep(rental, at(182.5))
        waited = rental.state
        consequence = stop(rental, at(183))

        assert waited == Rental.State.INTERRUPTED
        assert consequence.reason == "seller_failure"
        assert AuditEntry.objects.filter(action="rental.wait").count() == 1

    def test_is_waited_out_once_for_each_interruption(self):
        rental = self.interrupted(hours=4)
        wait(rental, at(30))
        for minute, result in ((40, GOOD), (41, BAD), (42, BAD), (101.9, BAD)):
            probe(rental, result, at(minute))

        sweep(rental, at(102.5))

        assert rental.end_reason == "seller_failure"

    def test_that_is_over_or_a_strangers_leaves_nothing_to_wait_for(self):
        rental = self.interrupted(hours=4)
        probe(rental, GOOD, at(23))

        with pytest.raises(NotInterrupted):
            wait(rental, at(24))
        with pytest.raises(RentalNotFound):
            wait(rental, at(24), organisation_id=make_customer().pk)

        assert not DeliveryGap.objects.filter(customer_waits=True).exists()

    def test_until_the_end_completes_the_rental_with_its_gap_closed(self):
        rental = self.interrupted(hours=1)

        sweep(rental, at(60))
        settle_due_hours(now=at(60))

        assert rental.end_reason == "completed"
        assert DeliveryGap.objects.get().ends_at == at(60)
        assert rental.rental_hours.get().undelivered_minutes == 40
