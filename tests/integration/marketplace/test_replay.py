"""The log alone gives the same fills, whatever the batches and restarts were."""

import random
from contextlib import suppress
from datetime import datetime, timedelta

import pytest

from marketplace.accounts.models import Organisation
from marketplace.book.types import Fill as BookFill
from marketplace.models import Bid, Command, Fill, Offer, Server
from marketplace.operations import matching
from marketplace.operations.bids import OrderRefused, cancel_bid
from marketplace.operations.book_cache import _kept
from marketplace.operations.commands import submit_command
from marketplace.operations.offers import OfferRefused
from marketplace.operations.replay import replay_fills
from marketplace.operations.servers import resume_server, suspend_server
from marketplace.operations.slots import slot_at, time_of
from tests.exchange import (
    DAY,
    HOUR,
    buy,
    make_customer,
    make_offer,
    match,
    open_market,
    place,
    withdraw,
)
from tests.factories import T0, ServerFactory

pytestmark = pytest.mark.django_db

CHANCE_OF_A_CEILING = 0.7


class Stream:
    """Random orders of a small market, the same for the same seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.now = T0
        self.customers = [make_customer(amount_minor=5_000_00) for _ in range(4)]
        self.servers = [ServerFactory.create(gpu_count=n) for n in (1, 2, 4, 8)]

    def step(self) -> None:
        often = [self.bid, self.buy, self.list, self.wait] * 3
        seldom = [self.cancel, self.withdraw, self.give_back, self.suspend]
        with suppress(OrderRefused, OfferRefused):
            self.random.choice([*often, *seldom])()

    def customer(self) -> Organisation:
        return self.random.choice(self.customers)

    def server(self) -> Server:
        server: Server = self.random.choice(self.servers)
        return server

    def price_micro(self) -> int:
        return self.random.randrange(300, 500, 20) * 1_000

    def bid(self) -> None:
        place(
            self.customer(),
            now=self.now,
            gpus=self.random.choice((1, 1, 2, 4)),
            hours=self.random.randint(1, 4),
            limit_price_micro=self.price_micro(),
        )

    def buy(self) -> None:
        buy(
            self.customer(),
            now=self.now,
            gpus=self.random.choice((1, 1, 2)),
            hours=self.random.randint(1, 4),
            limit_price_micro=self.price_micro(),
            earliest_start=time_of(slot_at(self.now) + 4),
        )

    def list(self) -> None:
        start = time_of(slot_at(self.now) + self.random.randint(0, 8))
        make_offer(
            server=self.server(),
            ask_micro=self.price_micro(),
            windows=((start, start + DAY),),
            now=self.now,
        )

    def cancel(self) -> None:
        bid = Bid.objects.filter(status__in=["pending", "resting"]).order_by("pk").last()
        if bid:
            cancel_bid(
                bid_id=bid.pk,
                organisation_id=bid.organisation_id,
                actor_id=bid.placed_by_id,
                now=self.now,
            )

    def withdraw(self) -> None:
        offer = Offer.objects.filter(status__in=["pending", "open"]).order_by("pk").first()
        if offer:
            withdraw(offer, now=self.now)

    def give_back(self) -> None:
        fill = Fill.objects.filter(starts_at__gt=self.now).order_by("pk").first()
        if fill and not Command.objects.filter(kind="release_hours", payload__fill=fill.pk):
            payload: dict[str, int | str] = {
                "from_slot": slot_at(fill.setup_starts_at),
                "to_slot": slot_at(fill.ends_at),
                "gpus": fill.gpus,
                "fill": fill.pk,
            }
            if self.random.random() < CHANCE_OF_A_CEILING:
                payload |= {"ceiling_micro": fill.seller_price_micro, "currency": "EUR"}
            submit_command(
                kind=Command.Kind.RELEASE_HOURS,
                server_id=fill.server_id,
                payload=payload,
                now=self.now,
            )

    def suspend(self) -> None:
        server = self.server()
        server.refresh_from_db()
        act = resume_server if server.is_suspended else suspend_server
        act(server_id=server.pk, actor_id=None, now=self.now)

    def wait(self) -> None:
        self.now += timedelta(seconds=self.random.choice((1, 20, 700, 2_000)))


def facts_of(fill: BookFill) -> tuple[int | datetime, ...]:
    starts_at = time_of(fill.start_slot)
    prices = (fill.customer_price_micro, fill.seller_price_micro)
    size = (fill.hours, fill.gpus, fill.setup_slots)
    return (fill.sequence, fill.bid_id, fill.offer_id, fill.server_id, starts_at, *prices, *size)


def stored_facts() -> list[tuple[int | datetime, ...]]:
    rows = Fill.objects.order_by("pk").values_list(
        "sequence",
        "bid_id",
        "offer_id",
        "server_id",
        "starts_at",
        "customer_price_micro",
        "seller_price_micro",
        "hours",
        "gpus",
        "setup_slots",
    )
    return list(rows)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_replaying_the_log_gives_the_stored_fills(seed, monkeypatch):
    # A small batch cuts the log in many places; without a commit each batch restores its book.
    monkeypatch.setattr(matching, "BATCH_COMMANDS", 3)
    open_market()
    stream = Stream(seed)
    for number in range(150):
        stream.step()
        if number % 5 == 0:
            while match(stream.now).has_more:
                pass

    while match(stream.now + HOUR).has_more:
        pass

    assert [facts_of(fill) for fill in replay_fills()] == stored_facts()
    assert Fill.objects.count() > 10


@pytest.mark.parametrize("seed", [4, 5])
def test_a_kept_book_gives_the_same_fills_as_a_restored_one(
    seed, django_capture_on_commit_callbacks
):
    _kept.clear()
    open_market()
    stream = Stream(seed)
    for number in range(150):
        stream.step()
        if number % 3 == 0:
            with django_capture_on_commit_callbacks(execute=True):
                match(stream.now)

    assert _kept
    assert [facts_of(fill) for fill in replay_fills()] == stored_facts()
    assert Fill.objects.count() > 10
