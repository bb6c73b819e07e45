"""Webhooks: signed as Stripe signs, at least once, and wrong in every way on demand."""

import threading
from collections.abc import Iterator
from typing import Any

import pytest
import stripe

from tests.stripe_double_fixture import DoubleHandle
from tests.unit.stripe_double.orders import open_session
from tests.unit.stripe_double.receiver import Receiver, running_receiver

PAYMENT = [
    "payment_intent.created",
    "charge.succeeded",
    "payment_intent.succeeded",
    "checkout.session.completed",
]


@pytest.fixture
def receiver(double: DoubleHandle) -> Iterator[Receiver]:
    with running_receiver() as running:
        double.send_webhooks_to(running.url)
        yield running


class TestSending:
    def test_every_event_of_a_payment_arrives_signed(
        self, client: Any, double: DoubleHandle, receiver: Receiver
    ) -> None:
        double.pay(open_session(client).id)

        assert double.wait_for_webhooks()
        assert receiver.types == PAYMENT
        for body, signature in zip(receiver.bodies, receiver.signatures, strict=True):
            event = client.construct_event(body, signature, double.webhook_secret)
            assert event.livemode is False

    def test_a_signature_by_another_secret_does_not_verify(
        self, client: Any, double: DoubleHandle, receiver: Receiver
    ) -> None:
        double.pay(open_session(client).id)
        double.wait_for_webhooks()

        with pytest.raises(stripe.SignatureVerificationError):
            client.construct_event(receiver.bodies[0], receiver.signatures[0], "whsec_other")

    def test_the_event_can_be_read_again_by_its_id(
        self, client: Any, double: DoubleHandle, receiver: Receiver
    ) -> None:
        double.pay(open_session(client).id)
        double.wait_for_webhooks()

        event = client.v1.events.retrieve(receiver.events[-1]["id"])

        assert event.type == "checkout.session.completed"
        assert event.pending_webhooks == 0

    def test_a_refused_webhook_comes_again_until_it_is_taken(
        self, client: Any, double: DoubleHandle, receiver: Receiver
    ) -> None:
        receiver.statuses = [500, 200, 200, 200, 302, 200]
        double.pay(open_session(client).id)

        assert double.wait_for_webhooks()
        assert receiver.types == [*PAYMENT, "payment_intent.created", "payment_intent.created"]

    def test_an_unreachable_site_gets_its_webhooks_when_it_is_back(
        self, client: Any, double: DoubleHandle
    ) -> None:
        with running_receiver() as gone:
            address = gone.url
        double.send_webhooks_to(address)
        double.pay(open_session(client).id)
        threading.Event().wait(0.15)

        with running_receiver() as back:
            double.send_webhooks_to(back.url)
            assert double.wait_for_webhooks()

            assert sorted(back.types) == sorted(PAYMENT)

    def test_patience_ends(self, client: Any, double: DoubleHandle, receiver: Receiver) -> None:
        receiver.statuses = [500] * 50
        client.v1.customers.create({})

        assert double.wait_for_webhooks()
        assert receiver.types == ["customer.created"] * 6
        assert double.events()[0]["pending_webhooks"] == 1


class TestChaos:
    def test_duplicates_arrive_as_often_as_asked(
        self, client: Any, double: DoubleHandle, receiver: Receiver
    ) -> None:
        double.chaos("duplicate", copies=3)
        client.v1.customers.create({})

        assert double.wait_for_webhooks()
        assert receiver.types == ["customer.created"] * 3
        assert len({event["id"] for event in receiver.events}) == 1

    def test_one_event_can_be_sent_ten_times_at_once(
        self, client: Any, double: DoubleHandle, receiver: Receiver
    ) -> None:
        client.v1.customers.create({})
        double.wait_for_webhooks()
        receiver.gate = threading.Barrier(10)

        statuses = double.resend(double.events()[0]["id"], copies=10)

        assert statuses == [200] * 10
        assert receiver.gate.broken is False

    def test_dropped_webhooks_leave_their_events_to_be_listed(
        self, client: Any, double: DoubleHandle, receiver: Receiver
    ) -> None:
        double.chaos("drop")
        double.pay(open_session(client).id)

        assert double.wait_for_webhooks()
        assert receiver.bodies == []
        listed = client.v1.events.list({"type": "checkout.session.completed"}).data
        assert len(listed) == 1

    def test_chaos_ends_after_the_acts_it_was_asked_for(
        self, client: Any, double: DoubleHandle, receiver: Receiver
    ) -> None:
        double.chaos("drop", acts=1)
        client.v1.customers.create({"name": "lost"})
        client.v1.customers.create({"name": "sent"})

        assert double.wait_for_webhooks()
        assert [event["data"]["object"]["name"] for event in receiver.events] == ["sent"]

    def test_reordered_webhooks_arrive_backwards(
        self, client: Any, double: DoubleHandle, receiver: Receiver
    ) -> None:
        double.chaos("reorder")
        double.pay(open_session(client).id)

        assert double.wait_for_webhooks()
        assert receiver.types == PAYMENT[::-1]

    def test_delayed_webhooks_arrive_later(
        self, client: Any, double: DoubleHandle, receiver: Receiver
    ) -> None:
        double.chaos("delay", delay_seconds=0.4)
        client.v1.customers.create({})

        assert double.wait_for_webhooks(seconds=0.1) is False
        assert receiver.bodies == []
        assert double.wait_for_webhooks()
        assert receiver.types == ["customer.created"]


class TestListing:
    def test_lists_events_page_by_page_newest_first(
        self, client: Any, double: DoubleHandle
    ) -> None:
        for number in range(5):
            client.v1.customers.create({"name": f"c{number}"})

        pages = client.v1.events.list({"limit": 2})

        names = [event.data.object["name"] for event in pages.auto_paging_iter()]
        assert names == ["c4", "c3", "c2", "c1", "c0"]
        assert pages.has_more is True

    def test_goes_back_to_the_page_before(self, client: Any) -> None:
        made = [client.v1.customers.create({"name": f"c{number}"}).id for number in range(4)]

        page = client.v1.customers.list({"ending_before": made[0], "limit": 2})

        assert [customer.id for customer in page.data] == [made[2], made[1]]

    def test_filters_by_time(self, client: Any, double: DoubleHandle) -> None:
        client.v1.customers.create({})
        created = double.events()[0]["created"]

        inside = client.v1.events.list({"created": {"gte": created, "lt": created + 1}})
        outside = client.v1.events.list({"created": {"gt": created}})

        assert (len(inside.data), len(outside.data)) == (1, 0)

    @pytest.mark.parametrize(
        "params",
        [
            {"limit": 0},
            {"limit": 101},
            {"limit": "ten"},
            {"created": {"after": 1}},
            {"created": "yesterday"},
            {"starting_after": "evt_nobody"},
            {"color": "red"},
        ],
    )
    def test_refuses_a_list_that_makes_no_sense(
        self, client: Any, params: dict[str, object]
    ) -> None:
        with pytest.raises(stripe.InvalidRequestError):
            client.v1.events.list(params)
