"""What a failed rental left is sold again at or below its price, until it would have ended."""

from marketplace.book.outcomes import BestPrice, Filled, Rested, Rule
from marketplace.book.types import Ceiling, Release, WithdrawOffer
from tests.unit.book.builders import Market, slot


def failed_market(*, capacity: int = 1, gpus: int = 1) -> Market:
    """A server whose rental at 0.500 failed: its GPUs are free again from 14:45 to 18:45."""
    market = Market()
    market.server(1, capacity=capacity)
    market.offer(1)
    filled = market.bid(gpus=gpus, hours=4, buyer_group=9)
    assert filled.fill.customer_price_micro == 500_000
    market.server(1, capacity=capacity, suspended=True)
    hours = {"from_slot": slot("14:45"), "to_slot": slot("18:45"), "gpus": gpus}
    ceiling = Ceiling(price_micro=500_000, currency="EUR", **hours)
    market.tell(Release, server_id=1, ceiling=ceiling, **hours)
    market.tell(WithdrawOffer, offer_id=2)
    market.server(1, capacity=capacity)
    return market


def test_a_higher_ask_sells_none_of_the_hours_before_the_failed_rental_would_have_ended():
    market = failed_market()
    market.offer(1, ask_micro=500_001)

    during = market.bid(latest_start=slot("18:00"))
    after = market.bid()

    assert during.decision.excluded[0].rule == Rule.START
    assert isinstance(during, Rested)
    assert (after.fill.start_slot, after.fill.customer_price_micro) == (slot("19:00"), 500_001)


def test_an_ask_at_the_failed_rentals_price_sells_them():
    market = failed_market()
    market.offer(1, ask_micro=500_000)

    filled = market.bid()

    assert (filled.fill.start_slot, filled.fill.customer_price_micro) == (slot("15:00"), 500_000)


def test_a_waiting_bid_with_a_higher_limit_pays_the_ceiling_and_not_its_limit():
    market = failed_market()
    waiting = market.bid(limit_micro=900_000)

    _listed, filled = market.offer(1, ask_micro=400_000)

    assert filled.fill.bid_id == waiting.bid_id
    assert (filled.fill.customer_price_micro, filled.fill.seller_price_micro) == (500_000, 500_000)


def test_a_waiting_bid_pays_its_limit_for_hours_that_did_not_fail():
    market = failed_market()
    market.bid(limit_micro=900_000, earliest_start=slot("19:00"))

    _listed, filled = market.offer(1, ask_micro=400_000)

    assert filled.fill.customer_price_micro == 900_000


def test_the_other_gpus_of_the_server_are_sold_at_any_price():
    market = failed_market(capacity=3)
    market.offer(1, ask_micro=700_000)

    both = market.bid(gpus=2, hours=4, limit_micro=700_000)
    third = market.bid(limit_micro=700_000, latest_start=slot("18:00"))

    assert (both.fill.start_slot, both.fill.customer_price_micro) == (slot("14:45"), 700_000)
    assert isinstance(third, Rested)


def test_a_price_in_another_currency_cannot_be_compared_and_sells_none():
    market = failed_market()
    market.offer(1, ask_micro=100_000, currency="USD")

    bid = market.bid(currency="USD", latest_start=slot("18:00"))

    assert isinstance(bid, Rested)


def test_the_best_price_is_one_at_which_the_next_hours_are_sold():
    market = failed_market()
    market.offer(1, ask_micro=600_000)
    market.offer(2, ask_micro=800_000)

    best = market.book.best_price(gpu_model="h100-sxm", currency="EUR", gpus=1)

    # The cheaper offer's own next start comes with the first hours that did not fail.
    assert best == BestPrice(ask_micro=600_000, start_slot=slot("19:00"), offer_id=8)


def test_of_two_failures_the_lower_price_counts_where_both_hold():
    market = failed_market()
    hours = {"from_slot": slot("14:45"), "to_slot": slot("16:45"), "gpus": 1}
    market.offer(1, ask_micro=300_000)
    market.bid(hours=1, limit_micro=300_000, buyer_group=9, earliest_start=slot("15:45"))
    ceiling = Ceiling(price_micro=300_000, currency="EUR", **hours)
    market.tell(
        Release,
        server_id=1,
        from_slot=slot("15:30"),
        to_slot=slot("16:45"),
        gpus=1,
        ceiling=ceiling,
    )
    market.tell(WithdrawOffer, offer_id=8)
    market.offer(1, ask_micro=400_000)

    filled = market.bid()

    assert isinstance(filled, Filled)
    assert (filled.fill.start_slot, filled.fill.customer_price_micro) == (slot("17:00"), 400_000)
