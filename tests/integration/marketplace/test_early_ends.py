"""Ending a rental early: what it costs, when it is free, and what comes back."""

from datetime import timedelta

import pytest
from django.db.backends.postgresql.psycopg_any import DateTimeTZRange

from billing.models import Hold
from marketplace.models import Command, GpuBooking, Rental
from marketplace.operations.charging import charge_due_hours
from marketplace.operations.deliveries import RentalNotFound
from marketplace.operations.proofs import marketplace_differences
from marketplace.operations.rentals import RentalIsOver, stop_consequence, stop_rental
from marketplace.operations.settlement import settle_due_hours
from tests.builders import make_server, sell, seller_account_of
from tests.exchange import hold_of, make_customer, match, wallet_of
from tests.factories import T0
from tests.rental_steps import at, make_ready, slots_given_back, stop, sweep

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("check_deferred_rules")]


class TestStop:
    def test_in_the_second_hour_costs_it_and_a_tenth_of_the_released_ones(self):
        rental = sell(hours=10)
        make_ready(rental, at(-5))
        sweep(rental, at(0))
        charge_due_hours(now=at(0))

        consequence = stop(rental, at(70))

        assert (consequence.due_hours, consequence.released_hours) == (2, 8)
        assert (consequence.fee.net_minor, consequence.fee.vat_minor) == (40, 8)
        assert (consequence.charged_minor, consequence.freed_minor) == (108, 432)
        hold, wallet = hold_of(rental.fill.bid), wallet_of(rental.organisation)
        assert (hold.captured_minor, hold.state) == (168, Hold.State.CLOSED)
        assert (wallet.posted_minor, wallet.held_minor) == (432, 0)
        assert (rental.end_reason, rental.break_fee_net_minor) == ("stopped_by_customer", 40)
        assert slots_given_back(rental) == 35

    def test_pays_the_seller_the_hours_and_a_share_of_the_fee(self):
        rental = sell(hours=10)
        make_ready(rental, at(-5))

        stop(rental, at(10))

        assert seller_account_of(rental).posted_minor == 45 + 40

    def test_gives_nothing_of_the_running_hour_back(self):
        rental = sell(hours=2)
        make_ready(rental, at(-5))
        stop(rental, at(10))

        settle_due_hours(now=at(10))

        assert rental.rental_hours.get().undelivered_minutes == 0

    def test_before_the_paid_start_costs_the_first_hour_once_access_was_opened(self):
        rental = sell(hours=1)
        make_ready(rental, at(-5))

        consequence = stop(rental, at(-2))

        assert (consequence.due_hours, consequence.charged_minor) == (1, 60)

    def test_of_one_hour_is_free_before_access(self):
        rental = sell(hours=1)
        sweep(rental, at(-60))

        consequence = stop(rental, at(-30))

        assert consequence.is_free
        assert wallet_of(rental.organisation).free_minor == 60
        assert GpuBooking.objects.get().period == DateTimeTZRange(at(-60), at(-30))

    def test_costs_the_offers_minimum_of_hours(self):
        rental = sell(hours=5, min_hours=3)
        make_ready(rental, at(-5))

        consequence = stop(rental, at(10))
        settle_due_hours(now=at(10))

        assert (consequence.due_hours, consequence.released_hours) == (3, 2)
        assert rental.rental_hours.count() == 3
        assert rental.hours_settled == 0
        rental.refresh_from_db()
        assert rental.hours_settled == 3

    def test_is_free_for_ten_minutes_when_the_hours_are_far_away(self):
        rental = sell(hours=10, min_hours=5, filled_at=T0)

        late = stop_consequence(rental=rental, now=T0 + timedelta(minutes=10, seconds=1))
        consequence = stop(rental, T0 + timedelta(minutes=10))

        assert (late.due_hours, late.fee.net_minor) == (5, 25)
        assert consequence.is_free
        assert wallet_of(rental.organisation).free_minor == 600
        assert slots_given_back(rental) == 44

    def test_is_not_free_within_an_hour_of_the_paid_start(self):
        rental = sell(hours=10, starts_at=T0 + timedelta(hours=1))

        assert not stop_consequence(rental=rental, now=T0).is_free

    def test_is_free_three_times_a_day(self):
        customer = make_customer()
        rentals = [sell(hours=2, customer=customer) for _ in range(4)]
        for rental in rentals[:3]:
            stop(rental, T0)

        assert not stop_consequence(rental=rentals[3], now=T0).is_free
        next_day = sell(
            hours=2, customer=customer, filled_at=T0 + timedelta(days=1), starts_at=at(1440)
        )
        assert stop_consequence(rental=next_day, now=T0 + timedelta(days=1)).is_free

    def test_costs_nothing_while_a_late_machine_is_not_ready(self):
        rental = sell(hours=10)
        sweep(rental, at(0))

        consequence = stop(rental, at(5))

        assert (consequence.reason, consequence.charged_minor) == ("not_delivered", 0)
        assert (rental.state, wallet_of(rental.organisation).free_minor) == ("not_delivered", 600)

    def test_lets_another_customer_buy_the_hours_and_gives_him_the_gpu(self):
        server = make_server(gpu_count=1)
        rental = sell(hours=10, server=server)
        make_ready(rental, at(-5))
        stop(rental, at(20))
        match(at(20))

        other = sell(hours=2, server=server, starts_at=at(90), filled_at=at(20))
        sweep(other, at(30))

        assert other.state == Rental.State.PREPARING
        periods = GpuBooking.objects.order_by("period").values_list("gpu_number", "period")
        assert list(periods) == [
            (0, DateTimeTZRange(at(-60), at(30))),
            (0, DateTimeTZRange(at(30), at(210))),
        ]
        assert marketplace_differences() == []

    def test_is_refused_to_others_and_changes_nothing(self):
        rental = sell()

        with pytest.raises(RentalNotFound):
            stop_rental(
                rental_id=rental.pk,
                organisation_id=make_customer().pk,
                actor_id=rental.fill.bid.placed_by_id,
                now=at(0),
            )

        rental.refresh_from_db()
        assert (rental.state, wallet_of(rental.organisation).held_minor) == ("sold", 120)

    def test_happens_once(self):
        rental = sell()
        stop(rental, T0)

        with pytest.raises(RentalIsOver):
            stop(rental, T0)

        assert Command.objects.filter(kind=Command.Kind.RELEASE_HOURS).count() == 1
