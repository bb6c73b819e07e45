"""Hourly charges and the credits of undelivered minutes, to the cent."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from billing.models import Hold, Journal, Posting
from billing.operations.charges import charge_hours
from marketplace.gateways.ssh_probe import ProbeResult
from marketplace.models import DeliveryGap, Rental, RentalHour
from marketplace.operations import charging, settlement
from marketplace.operations.charging import charge_due_hours
from marketplace.operations.probes import record_probe
from marketplace.operations.proofs import marketplace_differences
from marketplace.operations.rentals import sweep_rentals
from marketplace.operations.settlement import settle_due_hours
from marketplace.tasks import charge_hours as charge_hours_task
from marketplace.tasks import sweep_rentals as sweep_rentals_task
from tests.builders import make_server, sell, seller_account_of
from tests.exchange import hold_of, make_customer, wallet_of
from tests.rental_steps import BAD, GOOD, P, at, give_access

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("check_deferred_rules")]


def probe(rental: Rental, result: ProbeResult, *minutes: float):
    for minute in minutes:
        record_probe(rental_id=rental.pk, result=result, now=at(minute))
    rental.refresh_from_db()


def delivered(*, ready: float = -5, **facts) -> Rental:
    """Return a rental whose machine was verified ``ready`` minutes after its paid start."""
    rental = sell(**facts)
    sweep_rentals(now=at(min(ready, 0)))
    give_access(rental, at(ready))
    probe(rental, GOOD, ready)
    return rental


def settle(rental: Rental, minute: float):
    charge_due_hours(now=at(minute))
    settle_due_hours(now=at(minute))
    rental.refresh_from_db()


def hours_of(rental: Rental, *fields: str):
    return list(rental.rental_hours.order_by("number").values_list(*fields))


class TestCharge:
    def test_is_taken_when_the_paid_hour_begins(self):
        rental = delivered(hours=2)

        before = charge_due_hours(now=at(0) - timedelta(seconds=1))
        first = charge_due_hours(now=at(0))
        between = charge_due_hours(now=at(59.9))
        second = charge_due_hours(now=at(60))

        assert (before, first, between, second) == (0, 1, 0, 1)
        assert hours_of(rental, "number", "net_minor", "vat_minor", "seller_minor") == [
            (1, 50, 10, 45),
            (2, 50, 10, 45),
        ]

    def test_moves_money_from_the_hold_to_all_parties(self):
        rental = delivered(hours=2)

        charge_due_hours(now=at(0))

        hold, wallet = hold_of(rental.fill.bid), wallet_of(rental.organisation)
        assert (hold.captured_minor, hold.remaining_minor) == (60, 60)
        assert (wallet.posted_minor, wallet.held_minor) == (60, 60)
        assert seller_account_of(rental).posted_minor == 45
        legs = Posting.objects.filter(journal=rental.rental_hours.get().journal)
        assert sorted(legs.values_list("account__kind", "amount_minor")) == [
            ("hour_cost", -45),
            ("revenue", 50),
            ("seller_pending", 45),
            ("vat_out", 10),
            ("wallet", -60),
        ]

    def test_of_odd_prices_adds_up_to_the_hold(self):
        rental = delivered(hours=3, gpus=3, price_micro=333_000)

        charge_due_hours(now=at(120))

        # 0.999 an hour: 1.00, 2.00 and 3.00 in all; the tax 0.20, 0.40, 0.60; the seller 0.8991.
        assert hours_of(rental, "net_minor", "vat_minor", "seller_minor") == [
            (100, 20, 89),
            (100, 20, 90),
            (100, 20, 90),
        ]
        assert hold_of(rental.fill.bid).remaining_minor == 0

    def test_after_an_outage_takes_each_missed_hour_once(self):
        rental = delivered(hours=5)
        charge_due_hours(now=at(0))

        caught_up = charge_due_hours(now=at(200))
        again = charge_due_hours(now=at(200))

        rental.refresh_from_db()
        assert (caught_up, again, rental.hours_charged) == (3, 0, 4)
        assert [number for (number,) in hours_of(rental, "number")] == [1, 2, 3, 4]

    def test_waits_for_access(self):
        rental = sell()
        sweep_rentals(now=at(0))

        assert charge_due_hours(now=at(10)) == 0

        assert hold_of(rental.fill.bid).captured_minor == 0

    def test_is_due_at_readiness_when_the_machine_was_late(self):
        rental = delivered(ready=10)

        charge_due_hours(now=at(10))

        assert hours_of(rental, "number", "net_minor", "starts_at") == [(1, 50, at(0))]

    def test_stands_when_the_same_message_comes_again(self):
        rental = delivered(hours=1)
        charge_due_hours(now=at(0))
        Rental.objects.update(hours_charged=0)

        charge_hours(charges=[charging._hour_charge(rental, 1, now=at(0))])

        assert Journal.objects.filter(kind="hour_charge").count() == 1
        assert hold_of(rental.fill.bid).captured_minor == 60

    def test_of_one_bad_rental_holds_up_no_other(self, caplog):
        bad, good = delivered(hours=1), delivered(hours=1)
        Hold.objects.filter(pk=hold_of(bad.fill.bid).pk).update(state="closed", closed_at=P)

        charged = charge_due_hours(now=at(0))

        good.refresh_from_db()
        bad.refresh_from_db()
        assert (charged, good.hours_charged, bad.hours_charged) == (1, 1, 0)
        assert [r.message for r in caplog.records] == ["Hours of a rental could not be charged."]

    def test_of_many_rentals_asks_the_database_no_more_often(self):
        server, customer = make_server(gpu_count=8), make_customer()
        counts = []
        for rentals in (1, 2, 5):
            for _ in range(rentals):
                delivered(hours=1, server=server, customer=customer)
            with CaptureQueriesContext(connection) as queries:
                assert charge_due_hours(now=at(0)) == rentals
            counts.append(len(queries))

        # The first charge opens the accounts of revenue and tax.
        assert counts[1] == counts[2]


class TestSettlement:
    def test_of_a_fully_delivered_hour_gives_nothing_back(self):
        rental = delivered(hours=2)
        probe(rental, GOOD, *range(1, 62))

        settle(rental, 61)

        assert hours_of(rental, "undelivered_minutes", "credit_net_minor") == [(0, 0), (0, 0)]
        assert (rental.hours_charged, rental.hours_settled) == (2, 1)

    def test_waits_until_the_hours_end_was_verified(self):
        rental = delivered(hours=2)
        probe(rental, GOOD, 59)
        settle(rental, 60)
        before = rental.hours_settled

        probe(rental, GOOD, 60)
        settle(rental, 60)

        assert (before, rental.hours_settled) == (0, 1)

    def test_gives_back_the_minutes_before_a_late_readiness(self):
        rental = delivered(hours=1, ready=12.6)
        probe(rental, GOOD, 60)

        settle(rental, 60)

        # Twelve whole minutes of sixty: a fifth of 0.50, of the tax 0.10 and of the share 0.45.
        fields = ("undelivered_minutes", "credit_net_minor", "credit_vat_minor")
        assert hours_of(rental, *fields, "credit_seller_minor") == [(12, 10, 2, 9)]
        assert wallet_of(rental.organisation).free_minor == 12
        assert seller_account_of(rental).posted_minor == 36

    def test_gives_back_a_stop_of_two_misses(self):
        rental = delivered(hours=2)
        probe(rental, GOOD, 20)
        probe(rental, BAD, 21, 22)
        probe(rental, GOOD, 32, 60)

        settle(rental, 60)

        assert hours_of(rental, "undelivered_minutes")[0] == (12,)
        assert wallet_of(rental.organisation).free_minor == 12

    def test_gives_nothing_back_for_one_miss(self):
        rental = delivered(hours=2)
        probe(rental, GOOD, 20)
        probe(rental, BAD, 21)
        probe(rental, GOOD, 22, 60)

        settle(rental, 60)

        assert hours_of(rental, "undelivered_minutes")[0] == (0,)

    def test_counts_a_gap_of_our_own_as_delivered_when_both_ends_were_verified(self):
        rental = delivered(hours=3)

        probe(rental, GOOD, 150)
        settle(rental, 150)

        assert hours_of(rental, "undelivered_minutes") == [(0,), (0,), (0,)]
        assert rental.hours_settled == 2

    def test_shares_a_stop_between_the_hours_it_touches(self):
        rental = delivered(hours=3)
        probe(rental, GOOD, 50)
        probe(rental, BAD, 51, 52)
        probe(rental, GOOD, 75, 120)

        settle(rental, 120)

        assert hours_of(rental, "undelivered_minutes") == [(10,), (15,), (0,)]

    def test_of_an_hour_inside_a_stop_need_not_wait_for_its_end(self):
        rental = delivered(hours=3)
        probe(rental, GOOD, 50)
        probe(rental, BAD, 51, 52)

        settle(rental, 60)

        assert hours_of(rental, "undelivered_minutes")[0] == (10,)
        assert rental.hours_settled == 1

    def test_leaves_out_what_the_customers_own_work_stopped(self):
        rental = delivered(hours=2)
        DeliveryGap.objects.create(
            rental=rental, starts_at=at(10), ends_at=at(40), noticed_at=at(12), cause="workload"
        )
        probe(rental, GOOD, 60)

        settle(rental, 60)

        assert hours_of(rental, "undelivered_minutes")[0] == (0,)

    def test_happens_once(self):
        rental = delivered(hours=1, ready=12)
        probe(rental, GOOD, 60)
        settle(rental, 60)

        again = settle_due_hours(now=at(61))

        assert again == 0
        assert wallet_of(rental.organisation).free_minor == 12

    def test_of_one_bad_rental_holds_up_no_other(self, monkeypatch, caplog):
        bad, good = delivered(hours=1), delivered(hours=1)
        for rental in (bad, good):
            probe(rental, GOOD, 60)
        whole = settlement.missing_periods

        def fail_once(*, rental, gaps):
            if rental.pk == bad.pk:
                raise RuntimeError
            return whole(rental=rental, gaps=gaps)

        monkeypatch.setattr(settlement, "missing_periods", fail_once)

        settle(good, 60)

        assert good.hours_settled == 1
        assert [r.message for r in caplog.records] == ["Hours of a rental could not be settled."]


class TestTasks:
    def test_bring_a_rental_from_sold_to_charged_by_the_moved_clock(self, monkeypatch):
        rental = delivered(hours=2)
        monkeypatch.setattr("marketplace.tasks.now", lambda: at(61))

        for _ in range(2):
            sweep_rentals_task()
            charge_hours_task()

        rental.refresh_from_db()
        assert (rental.state, rental.hours_charged) == ("running", 2)
        assert RentalHour.objects.count() == 2


class TestHours(TestCase):
    @settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
    @given(
        price=st.integers(10, 5_000),
        gpus=st.integers(1, 8),
        hours=st.integers(1, 12),
        country=st.sampled_from(["FR", "HU", "US", "LU"]),
        sweeps=st.lists(st.integers(0, 12 * 60), max_size=6),
    )
    def test_add_up_to_the_hold_whenever_they_are_swept(self, price, gpus, hours, country, sweeps):
        rental = delivered(
            price_micro=price * 1000,
            gpus=gpus,
            hours=hours,
            customer=make_customer(amount_minor=0, country=country),
        )
        held = hold_of(rental.fill.bid).amount_minor
        for minute in sorted(sweeps):
            charge_due_hours(now=at(minute))
            hold, wallet = hold_of(rental.fill.bid), wallet_of(rental.organisation)
            charged = sum(n + v for n, v in hours_of(rental, "net_minor", "vat_minor"))
            assert charged + hold.remaining_minor == held
            assert wallet.posted_minor == wallet.held_minor == hold.remaining_minor

        probe(rental, GOOD, hours * 60)
        sweep_rentals(now=at(hours * 60))

        rows = hours_of(rental, "net_minor", "vat_minor")
        assert len(rows) == hours
        assert sum(n + v for n, v in rows) == held
        assert (hold_of(rental.fill.bid).remaining_minor, hold_of(rental.fill.bid).state) == (
            0,
            "closed",
        )
        assert wallet_of(rental.organisation).posted_minor == 0
        assert marketplace_differences() == []
