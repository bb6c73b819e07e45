"""The example of the rule's page, played on the real exchange: same offer, same start, same money."""

from datetime import UTC, datetime, timedelta

import pytest

from billing.models import Account, Hold
from marketplace.models import Bid, Fill, RentalHour
from marketplace.operations.charging import charge_due_hours
from marketplace.operations.matching import match_shard
from marketplace.views.explain import example_rates
from marketplace.worked_example import (
    BALANCE_MINOR,
    GPUS,
    HOURS,
    LATE_LISTING,
    LIMIT_MICRO,
    LISTINGS,
    LOWER_LIMIT_MICRO,
    PLACED,
    Listing,
    work_example,
)
from tests.exchange import make_customer, make_offer, open_market, place
from tests.factories import ServerFactory

pytestmark = pytest.mark.django_db

MIDNIGHT = datetime(2026, 11, 2, tzinfo=UTC)
LATER = timedelta(days=1)


@pytest.fixture
def example():
    return work_example(midnight=MIDNIGHT, rates=example_rates())


@pytest.fixture(autouse=True)
def _market():
    open_market(now=MIDNIGHT)
    match_shard(now=MIDNIGHT)
    for listing in LISTINGS:
        list_one(listing)


def list_one(listing: Listing) -> None:
    now = MIDNIGHT + listing.listed
    begin = now.replace(minute=now.minute // 15 * 15)
    make_offer(
        server=ServerFactory.create(name=listing.name, gpu_count=listing.gpus),
        ask_micro=listing.ask_micro,
        windows=((begin, MIDNIGHT + listing.until),),
        now=now,
    )
    match_shard(now=now)


def bid_at(limit_micro: int) -> Bid:
    now = MIDNIGHT + PLACED
    customer = make_customer(amount_minor=BALANCE_MINOR)
    bid = place(customer, now=now, gpus=GPUS, hours=HOURS, limit_price_micro=limit_micro)
    match_shard(now=now)
    bid.refresh_from_db()
    return bid


def held_minor(bid: Bid) -> int:
    return Hold.objects.get(purpose=bid.hold_purpose).amount_minor


def test_the_exchange_decides_as_the_page_says(example):
    bid = bid_at(LIMIT_MICRO)

    fill = Fill.objects.get(bid=bid)
    served = next(one for one in example.candidates if one.verdict == "served")
    assert fill.offer.server.name == served.name
    assert fill.customer_price_micro == served.ask_micro
    assert fill.starts_at == example.first_hour.starts_at
    excluded = [one["rule"] for one in bid.decisions.get().candidates]
    assert excluded == [one.verdict for one in example.candidates[:2]]


def test_the_wallet_moves_as_the_page_says(example):
    bid = bid_at(LIMIT_MICRO)
    wallet = Account.objects.get(organisation=bid.organisation, kind=Account.Kind.WALLET)

    assert held_minor(bid) == example.price_minor.gross_minor
    assert wallet.free_minor == next(s for s in example.steps if s.act == "fill").free_minor

    rental = bid.fill.rental
    rental.state, rental.access_opened_at = rental.State.RUNNING, rental.starts_at
    rental.ready_at = rental.last_verified_at = rental.starts_at
    rental.save()
    charge_due_hours(now=rental.ends_at - timedelta(minutes=1))

    charged = [hour.net_minor + hour.vat_minor for hour in RentalHour.objects.order_by("number")]
    assert charged == [step.paid_minor for step in example.steps if step.act == "hour"]


def test_the_lower_bid_waits_for_the_later_offer_as_the_page_says(example):
    bid = bid_at(LOWER_LIMIT_MICRO)
    assert bid.status == Bid.Status.RESTING

    list_one(LATE_LISTING)

    fill = Fill.objects.get(bid=bid)
    assert fill.customer_price_micro == example.waiting.price_micro == LOWER_LIMIT_MICRO
    assert fill.starts_at == example.waiting.starts_at
