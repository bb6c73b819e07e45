"""Opening, halting and reopening the market and single models."""

from datetime import timedelta

import pytest

from billing.models import TopUpGate
from marketplace.accounts.models import AuditEntry
from marketplace.models import Bid, Command, MarketState, Shard
from marketplace.operations.bids import OrderRefused, cancel_bid
from marketplace.operations.book_rows import restore_book
from marketplace.operations.market_state import MarketStateRefused, set_market_state
from marketplace.queries.exchange import market_state
from tests.exchange import buy, make_customer, make_offer, match, open_market, place
from tests.factories import T0, GpuModelFactory, UserFactory

pytestmark = pytest.mark.django_db

State = MarketState.State
TEN_MINUTES = timedelta(minutes=10)


def test_opening_opens_wallets_for_money_and_is_logged():
    open_market()

    assert TopUpGate.objects.get().is_open is True
    assert AuditEntry.objects.get(action="market.set_state").details["state"] == "open"


def test_the_same_state_again_changes_nothing():
    open_market()
    open_market()

    assert Command.objects.filter(kind="set_market_state").count() == 1


@pytest.mark.parametrize("reason", ["", "  ", "x" * 201])
def test_a_change_needs_a_short_reason(reason):
    staff = UserFactory.create(is_staff=True)

    with pytest.raises(MarketStateRefused) as refusal:
        set_market_state(state=State.OPEN, reason=reason, staff_id=staff.pk, now=T0)

    assert refusal.value.field == "reason"
    assert MarketState.objects.get().state == State.PRELAUNCH


def test_an_open_market_never_goes_back_before_launch():
    open_market()

    for state in (State.PRELAUNCH, State.REOPENING):
        with pytest.raises(MarketStateRefused):
            open_market(state=state)

    assert MarketState.objects.get().state == State.OPEN


def test_a_halt_keeps_waiting_bids_and_reopening_serves_them():
    open_market()
    bid = place(make_customer())
    match()
    open_market(state=State.HALTED)
    make_offer()
    match()
    open_market()

    match(T0 + TEN_MINUTES - timedelta(seconds=1))
    bid.refresh_from_db()
    assert bid.status == Bid.Status.RESTING
    match(T0 + TEN_MINUTES)

    bid.refresh_from_db()
    assert bid.status == Bid.Status.FILLED
    assert MarketState.objects.get().state == State.OPEN


def test_while_a_market_reopens_orders_can_only_be_cancelled():
    open_market()
    customer = make_customer()
    bid = place(customer)
    match()
    open_market(state=State.HALTED)
    open_market()
    match()

    with pytest.raises(OrderRefused, match="only cancel"):
        place(customer)
    cancel_bid(bid_id=bid.pk, organisation_id=customer.pk, actor_id=bid.placed_by_id, now=T0)
    match()

    bid.refresh_from_db()
    assert bid.status == Bid.Status.CANCELLED


def test_a_market_halted_again_while_it_reopens_stays_halted():
    open_market()
    match()
    open_market(state=State.HALTED)
    open_market()
    open_market(state=State.HALTED)

    match(T0 + TEN_MINUTES)

    assert MarketState.objects.get().state == State.HALTED
    assert restore_book(shard=Shard.objects.get()).is_halted("rtx-4090")


def test_reopening_one_model_leaves_the_market_alone():
    open_market()
    staff = UserFactory.create(is_staff=True)
    model = GpuModelFactory.create(slug="h100-sxm")
    for state in (State.HALTED, State.OPEN):
        set_market_state(
            state=state, reason="Test", staff_id=staff.pk, now=T0, gpu_model_id=model.pk
        )
    assert market_state(gpu_model_id=model.pk) == State.REOPENING

    match(T0 + TEN_MINUTES)

    assert market_state(gpu_model_id=model.pk) == State.OPEN
    assert not restore_book(shard=Shard.objects.get()).is_halted("h100-sxm")


def test_a_halted_model_leaves_the_others_open():
    open_market()
    staff = UserFactory.create(is_staff=True)
    halted = GpuModelFactory.create(slug="h100-sxm")
    make_offer()
    match()

    set_market_state(
        state=State.HALTED, reason="Test", staff_id=staff.pk, now=T0, gpu_model_id=halted.pk
    )
    bid = buy(make_customer())
    match()

    bid.refresh_from_db()
    assert bid.status == Bid.Status.FILLED
    assert market_state(gpu_model_id=halted.pk) == State.HALTED
    assert market_state(gpu_model_id=bid.gpu_model_id) == State.OPEN


def test_a_buy_now_placed_before_a_halt_is_refused_after_it():
    open_market()
    make_offer()
    match()
    bid = buy(make_customer())
    Command.objects.filter(bid=bid).delete()
    open_market(state=State.HALTED)
    Command.objects.create(
        shard_id=1, kind="place_bid", bid=bid, organisation=bid.organisation, placed_at=T0
    )

    match()

    bid.refresh_from_db()
    assert (bid.status, bid.refusal) == (Bid.Status.REFUSED, "halted")
