"""The single writer: commands become numbers, fills, rentals, calendars and holds."""

from datetime import timedelta

import pytest
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext

from billing.models import Hold
from marketplace.accounts.models import AuditEntry
from marketplace.models import (
    Bid,
    Command,
    Decision,
    Fill,
    Offer,
    Rental,
    ServerDay,
    Shard,
)
from marketplace.operations.bids import cancel_bid
from marketplace.operations.commands import submit_command
from tests.exchange import (
    HOUR,
    SSH_KEY,
    buy,
    hold_of,
    make_customer,
    make_offer,
    match,
    member_of,
    open_market,
    place,
    wallet_of,
    withdraw,
)
from tests.factories import T0, ServerFactory

pytestmark = pytest.mark.django_db

QUARTER = timedelta(minutes=15)


def numbers_of_log() -> list[int | None]:
    rows = Command.objects.filter(sequence__isnull=False).order_by("sequence")
    return list(rows.values_list("sequence", flat=True))


class TestABuyNow:
    def test_takes_the_cheapest_offer_at_its_price_and_frees_the_surplus(self):
        open_market()
        make_offer(ask_micro=450_000)
        cheap = make_offer(ask_micro=400_000)
        customer = make_customer()
        bid = buy(customer, limit_price_micro=500_000)
        assert hold_of(bid).amount_minor == 1_20

        report = match()

        bid.refresh_from_db()
        fill = Fill.objects.get()
        assert report.fills == 1
        assert bid.status == Bid.Status.FILLED
        assert (fill.offer_id, fill.customer_price_micro) == (cheap.pk, 400_000)
        assert fill.seller_price_micro == 400_000
        assert fill.fee_bps == 1000
        assert hold_of(bid).amount_minor == 96
        assert wallet_of(customer).held_minor == 96

    def test_becomes_a_sold_rental_after_the_set_up_slots(self):
        open_market()
        make_offer()
        bid = buy(make_customer())

        match()

        rental = Rental.objects.get()
        assert rental.state == Rental.State.SOLD
        assert rental.setup_starts_at == T0
        assert rental.starts_at == T0 + HOUR
        assert rental.ends_at == T0 + 3 * HOUR
        assert rental.ssh_public_key == SSH_KEY
        assert rental.organisation_id == bid.organisation_id

    def test_marks_its_slots_in_the_calendar_of_the_server(self):
        open_market()
        offer = make_offer()
        buy(make_customer())

        match()

        day = ServerDay.objects.get(server_id=offer.server_id, day=T0.date())
        first = 9 * 4
        assert day.used == [0] * first + [1] * 12 + [0] * (96 - first - 12)
        assert day.capacity == 2

    def test_across_midnight_marks_both_days(self):
        open_market()
        late = T0.replace(hour=22)
        offer = make_offer(windows=((late, late + timedelta(hours=8)),), now=late)
        buy(make_customer(), now=late, hours=3)

        match(late)

        days = ServerDay.objects.filter(server_id=offer.server_id).order_by("day")
        assert [sum(day.used) for day in days] == [8, 8]

    def test_is_refused_and_frees_its_hold_when_somebody_was_faster(self):
        open_market()
        server = ServerFactory.create(gpu_count=1)
        make_offer(server=server)
        match()
        first, second = buy(make_customer()), buy(loser := make_customer())

        match()

        first.refresh_from_db()
        second.refresh_from_db()
        assert first.status == Bid.Status.FILLED
        assert (second.status, second.refusal) == (Bid.Status.REFUSED, "no_fit")
        assert hold_of(second).state == Hold.State.CLOSED
        assert wallet_of(loser).held_minor == 0

    def test_is_refused_when_its_number_came_too_late(self):
        open_market()
        make_offer()
        match()
        bid = buy(make_customer())

        match(T0 + timedelta(seconds=31))

        bid.refresh_from_db()
        assert (bid.status, bid.refusal) == (Bid.Status.REFUSED, "stale")
        assert not Fill.objects.exists()

    def test_leaves_a_decision_and_an_audit_entry(self):
        open_market()
        dear, cheap = make_offer(ask_micro=450_000), make_offer(ask_micro=300_000, min_gpus=2)
        match()
        bid = buy(make_customer(), limit_price_micro=450_000)

        match()

        decision = Decision.objects.get(bid=bid)
        assert decision.reason == "best_offer"
        assert decision.chosen_offer_id == dear.pk
        assert decision.candidates == [{"offer": cheap.pk, "rule": "gpus"}]
        assert AuditEntry.objects.filter(action="exchange.fill").count() == 1


class TestAWaitingBid:
    def test_rests_with_its_number_and_keeps_its_hold(self):
        open_market()
        offer = make_offer(ask_micro=500_000)
        bid = place(make_customer(), limit_price_micro=400_000)

        match()

        bid.refresh_from_db()
        decision = Decision.objects.get(bid=bid)
        assert bid.status == Bid.Status.RESTING
        assert bid.sequence == decision.sequence
        assert (decision.reason, decision.cheapest_fit_id) == ("price", offer.pk)
        assert hold_of(bid).amount_minor == 96

    def test_fills_at_its_own_limit_when_an_offer_arrives(self):
        open_market()
        bid = place(make_customer(), limit_price_micro=400_000)
        match()
        make_offer(ask_micro=300_000, now=T0 + HOUR)

        match(T0 + HOUR)

        fill = Fill.objects.get()
        assert fill.bid_id == bid.pk
        assert fill.customer_price_micro == 400_000
        assert hold_of(bid).amount_minor == 96
        assert hold_of(bid).state == Hold.State.OPEN

    def test_expires_after_its_latest_start_and_frees_its_hold(self):
        open_market()
        bid = place(make_customer(), latest_start=T0 + HOUR)
        match()

        match(T0 + HOUR)

        bid.refresh_from_db()
        assert bid.status == Bid.Status.EXPIRED
        assert hold_of(bid).state == Hold.State.CLOSED

    def test_is_cancelled_on_request(self):
        open_market()
        customer = make_customer()
        bid = place(customer)
        match()
        cancel_bid(
            bid_id=bid.pk, organisation_id=customer.pk, actor_id=member_of(customer).pk, now=T0
        )

        match()

        bid.refresh_from_db()
        assert bid.status == Bid.Status.CANCELLED
        assert wallet_of(customer).held_minor == 0

    def test_that_was_filled_first_is_not_cancelled(self):
        open_market()
        customer = make_customer()
        bid = place(customer)
        make_offer()
        cancel_bid(
            bid_id=bid.pk, organisation_id=customer.pk, actor_id=member_of(customer).pk, now=T0
        )

        match()

        bid.refresh_from_db()
        assert bid.status == Bid.Status.FILLED
        assert hold_of(bid).state == Hold.State.OPEN

    def test_rests_and_fills_within_one_batch(self):
        open_market()
        bid = place(make_customer())
        make_offer()

        match()

        bid.refresh_from_db()
        assert bid.status == Bid.Status.FILLED
        assert bid.sequence is not None
        reasons = Decision.objects.filter(bid=bid).order_by("sequence", "id")
        assert [decision.reason for decision in reasons] == ["no_fit", "best_offer"]


class TestReleasedHours:
    def test_come_back_to_the_calendar_and_serve_a_waiting_bid(self):
        open_market()
        server = ServerFactory.create(gpu_count=1)
        make_offer(server=server, windows=((T0, T0 + 3 * HOUR),))
        buy(make_customer())
        waiting = place(make_customer(), hours=1, earliest_start=T0 + 2 * HOUR)
        match()
        submit_command(
            kind=Command.Kind.RELEASE_HOURS,
            server_id=server.pk,
            payload=payload_of(T0 + HOUR, T0 + 3 * HOUR),
            now=T0,
        )

        match()

        waiting.refresh_from_db()
        day = ServerDay.objects.get(server=server)
        assert waiting.status == Bid.Status.FILLED
        assert sum(day.used) == 4 + 8

    def test_that_are_not_sold_change_nothing(self):
        open_market()
        offer = make_offer()
        match()
        command = submit_command(
            kind=Command.Kind.RELEASE_HOURS,
            server_id=offer.server_id,
            payload=payload_of(T0, T0 + HOUR),
            now=T0,
        )

        match()

        command.refresh_from_db()
        assert command.outcome == "impossible"
        assert not ServerDay.objects.exists()


def payload_of(start, end, gpus: int = 1) -> dict[str, int]:
    slot = int(QUARTER.total_seconds())
    return {
        "from_slot": int(start.timestamp()) // slot,
        "to_slot": int(end.timestamp()) // slot,
        "gpus": gpus,
    }


class TestTheLog:
    def test_has_no_gap_and_starts_each_new_second_with_a_clock(self):
        open_market()
        make_offer()
        match()
        buy(make_customer(), now=T0 + timedelta(seconds=2), earliest_start=T0 + HOUR)

        match(T0 + timedelta(seconds=2))

        rows = Command.objects.order_by("sequence")
        assert numbers_of_log() == [1, 2, 3, 4, 5, 6]
        assert [row.kind for row in rows] == [
            "clock",
            "set_market_state",
            "change_server",
            "place_offer",
            "clock",
            "place_bid",
        ]
        assert Shard.objects.get().last_sequence == 6

    def test_gets_no_row_while_nothing_happens(self):
        open_market()
        match()
        before = numbers_of_log()

        report = match(T0 + timedelta(minutes=9, seconds=59))

        assert (report.numbered, numbers_of_log()) == (0, before)

    def test_gets_a_clock_when_the_next_reachable_start_moves(self):
        open_market()
        match()

        report = match(T0 + timedelta(minutes=10, seconds=1))

        assert report.numbered == 1

    def test_never_goes_back_in_time(self):
        open_market()
        match(T0 + HOUR)
        make_offer()

        match(T0)

        assert Shard.objects.get().last_clock_at == T0 + HOUR
        assert Command.objects.filter(kind="clock").count() == 1


class TestTheDatabase:
    def test_refuses_a_slot_sold_twice_whatever_the_kept_book_believes(
        self, django_capture_on_commit_callbacks
    ):
        open_market()
        offer = make_offer(server=ServerFactory.create(gpu_count=1))
        with django_capture_on_commit_callbacks(execute=True):
            match()
        ServerDay.objects.create(server=offer.server, day=T0.date(), capacity=1, used=[1] * 96)
        bid = buy(make_customer())

        with pytest.raises(IntegrityError, match="within_capacity"), transaction.atomic():
            match()

        bid.refresh_from_db()
        assert bid.status == Bid.Status.PENDING
        assert not Fill.objects.exists()

        # The book that was wrong is gone; the next one is read from the rows.
        match()
        bid.refresh_from_db()
        assert (bid.status, bid.refusal) == (Bid.Status.REFUSED, "no_fit")

    def test_is_asked_no_more_often_for_ten_orders_than_for_two(self):
        open_market()
        make_offer(server=ServerFactory.create(gpu_count=16))
        match()
        counts = []
        for orders in (2, 10):
            for customer in [make_customer() for _ in range(orders)]:
                buy(customer, limit_price_micro=500_000)
                place(customer, limit_price_micro=300_000)
            with CaptureQueriesContext(connection) as queries:
                match()
            counts.append(len(queries))

        assert counts[0] == counts[1]


class TestAnOffer:
    def test_is_open_with_its_number_once_listed(self):
        open_market()
        offer = make_offer()

        match()

        offer.refresh_from_db()
        assert (offer.status, offer.sequence) == (Offer.Status.OPEN, 4)

    def test_sells_nothing_after_its_withdrawal(self):
        open_market()
        offer = make_offer()
        match()
        withdraw(offer)
        bid = buy(make_customer())

        match()

        offer.refresh_from_db()
        bid.refresh_from_db()
        assert offer.status == Offer.Status.WITHDRAWN
        assert bid.status == Bid.Status.REFUSED

    def test_expires_when_its_last_window_is_over(self):
        open_market()
        offer = make_offer(windows=((T0, T0 + 3 * HOUR),))
        match()

        match(T0 + 3 * HOUR)

        offer.refresh_from_db()
        assert offer.status == Offer.Status.EXPIRED

    def test_of_the_same_related_group_is_skipped(self):
        open_market()
        customer = make_customer()
        server = ServerFactory.create()
        seller = server.organisation
        seller.memberships.create(user=member_of(customer), role="owner", created_at=T0)
        make_offer(server=server)
        bid = buy(customer)

        match()

        bid.refresh_from_db()
        decision = Decision.objects.get(bid=bid)
        assert bid.status == Bid.Status.REFUSED
        assert decision.candidates[0]["rule"] == "related"
