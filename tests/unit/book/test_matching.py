import time
from dataclasses import replace

import pytest

from marketplace.book.matching import Book
from marketplace.book.outcomes import (
    BestPrice,
    Cancelled,
    Decision,
    Exclusion,
    Expired,
    Filled,
    Listed,
    NotOpen,
    OfferExpired,
    OfferReason,
    OfferRefused,
    Reason,
    Refused,
    Rested,
    Rule,
    Withdrawn,
)
from marketplace.book.prices import customer_price
from marketplace.book.types import (
    CancelBid,
    Clock,
    Fill,
    Halt,
    PlaceOffer,
    Release,
    Reopen,
    WithdrawOffer,
)
from tests.unit.book.builders import Market, at, new_offer, slot


def test_a_bid_takes_the_cheapest_offer_at_its_ask():
    market = Market(now="14:37")
    market.offer(1, ask_micro=550_000)
    market.offer(2, ask_micro=500_000)

    answer = market.bid(gpus=2, hours=3, limit_micro=600_000)

    assert answer == Filled(
        fill=Fill(
            bid_id=5,
            offer_id=4,
            server_id=2,
            start_slot=slot("14:45"),
            hours=3,
            gpus=2,
            setup_slots=1,
            customer_price_micro=500_000,
            seller_price_micro=500_000,
            sequence=5,
        ),
        decision=Decision(bid_id=5, sequence=5, reason=Reason.BEST_OFFER, chosen=4),
    )
    assert market.book.used_counts(2) == dict.fromkeys(range(slot("14:30"), slot("17:45")), 2)


def test_at_equal_ask_the_offer_listed_first_wins_even_when_it_starts_later():
    market = Market(now="14:37")
    market.offer(1, windows=((slot("16:00"), slot("20:00")),))
    market.offer(2)

    answer = market.bid()

    assert (answer.fill.server_id, answer.fill.start_slot) == (1, slot("16:15"))


def test_a_waiting_bid_is_served_at_its_own_limit_by_a_later_offer():
    market = Market()
    waiting = market.bid(limit_micro=550_000)
    listed, filled = market.offer(1, ask_micro=500_000)

    assert isinstance(waiting, Rested)
    assert listed == Listed(offer_id=3)
    assert filled.fill.bid_id == waiting.bid_id
    assert filled.fill.customer_price_micro == 550_000
    assert filled.fill.seller_price_micro == 550_000


def test_a_waiting_bid_served_by_hours_that_come_back_pays_the_earlier_ask():
    market = Market()
    market.offer(1, ask_micro=500_000, windows=((slot("14:30"), slot("15:45")),))
    market.bid(gpus=8)
    waiting = market.bid(limit_micro=600_000)
    market.clock("14:31")

    (filled,) = market.tell(
        Release,
        server_id=1,
        from_slot=slot("14:30"),
        to_slot=slot("15:45"),
        gpus=8,
    )

    assert isinstance(waiting, Rested)
    assert filled.fill.bid_id == waiting.bid_id
    assert filled.fill.customer_price_micro == 500_000


def test_waiting_bids_are_served_highest_limit_first_then_oldest():
    market = Market()
    low, first, second, high = (
        market.bid(gpus=8, limit_micro=limit, hours=4) for limit in (5, 6, 6, 7)
    )

    _, *fills = market.offer(1, ask_micro=5, windows=((slot("14:30"), slot("23:30")),))

    assert [filled.fill.bid_id for filled in fills] == [high.bid_id, first.bid_id]
    waiting = {bid.id for bid in market.book.snapshot().bids}
    assert waiting == {low.bid_id, second.bid_id}


def test_a_bid_that_does_not_fit_never_blocks_those_behind_it():
    market = Market()
    market.bid(gpus=9, limit_micro=9)
    behind = market.bid(gpus=1, limit_micro=5)

    _, filled = market.offer(1, ask_micro=5)

    assert filled.fill.bid_id == behind.bid_id


def test_a_buy_now_over_the_limit_is_refused_and_names_the_offer_that_would_serve_it():
    market = Market()
    market.offer(1, ask_micro=500_000)

    answer = market.bid(limit_micro=499_999, is_buy_now=True)

    assert answer == Refused(
        bid_id=3,
        reason=Reason.PRICE,
        decision=Decision(
            bid_id=3,
            sequence=3,
            reason=Reason.PRICE,
            excluded=(Exclusion(offer_id=2, rule=Rule.PRICE),),
            cheapest_fit=2,
        ),
    )
    assert market.book.snapshot().bids == ()


def test_a_buy_now_is_refused_as_stale_after_more_than_thirty_seconds():
    market = Market(now="14:31")
    market.offer(1)

    stale = market.bid(is_buy_now=True, placed_at=at("14:30:29"))
    fresh = market.bid(is_buy_now=True, placed_at=at("14:30:30"))

    assert (stale.reason, stale.decision.excluded) == (Reason.STALE, ())
    assert isinstance(fresh, Filled)


def test_a_waiting_bid_is_never_stale():
    market = Market(now="14:31")
    market.offer(1)

    assert isinstance(market.bid(placed_at=at("14:00")), Filled)


def test_a_bid_whose_latest_start_is_past_is_refused():
    market = Market(now="14:41")

    answer = market.bid(latest_start=slot("14:45"))

    assert (answer.reason, isinstance(answer, Refused)) == (Reason.TOO_LATE, True)


@pytest.mark.parametrize(
    ("rule", "bid", "offer"),
    [
        (Rule.RELATED, {"buyer_group": 2}, {}),
        (Rule.REGION, {"regions": frozenset({"de", "nl"})}, {}),
        (Rule.TIER, {"tiers": frozenset({"community"})}, {}),
        (Rule.GPUS, {"gpus": 9}, {}),
        (Rule.GPUS, {"gpus": 2}, {"min_gpus": 4}),
        (Rule.GPUS, {"gpus": 3}, {"gpu_step": 2}),
        (Rule.HOURS, {"hours": 3}, {"min_hours": 4}),
        (Rule.PRICE, {"limit_micro": 499_999}, {}),
        (Rule.START, {"latest_start": slot("14:45"), "hours": 9}, {}),
    ],
)
def test_a_waiting_bid_records_the_rule_that_excluded_an_offer(rule, bid, offer):
    market = Market()
    market.offer(1, **offer)

    answer = market.bid(**bid)

    assert isinstance(answer, Rested)
    assert answer.decision.excluded == (Exclusion(offer_id=2, rule=rule),)
    assert answer.decision.reason == (Reason.PRICE if rule == Rule.PRICE else Reason.NO_FIT)


def test_a_suspended_server_sells_nothing_until_it_is_back():
    market = Market()
    market.offer(1)
    market.server(1, suspended=True)

    waiting = market.bid()
    (filled,) = market.server(1, suspended=False)

    assert waiting.decision.excluded == (Exclusion(offer_id=2, rule=Rule.SUSPENDED),)
    assert filled.fill.bid_id == waiting.bid_id


def test_a_bid_that_meets_every_condition_exactly_is_filled():
    market = Market()
    market.offer(1, min_gpus=4, gpu_step=4, min_hours=2, ask_micro=500_000)

    answer = market.bid(
        gpus=4,
        hours=2,
        limit_micro=500_000,
        regions=frozenset({"fr"}),
        tiers=frozenset({"secure"}),
        latest_start=slot("14:45"),
    )

    assert isinstance(answer, Filled)


def test_a_decision_lists_twenty_offers_and_counts_the_rest():
    market = Market()
    for server_id in range(1, 26):
        market.offer(server_id, ask_micro=server_id)

    decision = market.bid(gpus=9).decision

    assert [exclusion.offer_id for exclusion in decision.excluded] == list(range(2, 42, 2))
    assert decision.unlisted == 5


def test_an_offer_in_another_currency_or_of_another_model_is_not_looked_at():
    market = Market()
    market.offer(1, currency="USD")
    market.offer(2, gpu_model="l4")

    decision = market.bid().decision

    assert (decision.excluded, decision.cheapest_fit) == ((), None)
    assert customer_price(ask_micro=5, ask_currency="USD", currency="EUR") is None


def test_a_halted_model_lets_bids_wait_and_cancel_and_serves_them_in_order_on_reopening():
    market = Market()
    market.offer(1, windows=((slot("14:30"), slot("15:45")),))
    market.offer(2, gpu_model="l4")
    market.tell(Halt, gpu_model="h100-sxm")

    low, high, cancelled = (market.bid(gpus=8, limit_micro=n * 10**6) for n in (1, 2, 3))
    refused = market.bid(is_buy_now=True)
    other_model = market.bid(gpu_model="l4")
    cancelling = market.tell(CancelBid, bid_id=cancelled.bid_id)
    (filled,) = market.tell(Reopen, gpu_model="h100-sxm")

    assert cancelling == [Cancelled(bid_id=cancelled.bid_id)]
    assert low.decision.reason == Reason.HALTED
    assert refused.reason == Reason.HALTED
    assert isinstance(other_model, Filled)
    assert (filled.fill.bid_id, filled.fill.customer_price_micro) == (high.bid_id, 500_000)


def test_a_general_halt_and_a_halt_of_a_model_are_lifted_apart():
    market = Market()
    market.offer(1)
    for gpu_model in (None, "h100-sxm"):
        market.tell(Halt, gpu_model=gpu_model)
    waiting = market.bid()

    general = market.tell(Reopen)
    (filled,) = market.tell(Reopen, gpu_model="h100-sxm")

    assert general == []
    assert filled.fill.bid_id == waiting.bid_id


def test_reopening_serves_one_currency_after_the_other_whatever_their_limits():
    market = Market()
    market.offer(1, currency="EUR")
    market.offer(2, currency="USD")
    market.tell(Halt)
    dollars = market.bid(currency="USD", limit_micro=2 * 10**6)
    euros = market.bid(currency="EUR", limit_micro=10**6)

    fills = market.tell(Reopen)

    assert [filled.fill.bid_id for filled in fills] == [euros.bid_id, dollars.bid_id]


def test_a_halted_market_serves_nothing_to_a_new_offer_and_quotes_nothing():
    market = Market()
    market.bid()
    market.tell(Halt)

    outcomes = market.offer(1)

    assert outcomes == [Listed(offer_id=market.book.last_sequence)]
    assert market.book.best_price(gpu_model="h100-sxm", currency="EUR", gpus=1) is None


def test_the_clock_expires_bids_and_offers_by_age_and_never_goes_back():
    market = Market()
    market.offer(1, windows=((slot("14:30"), slot("14:45")),), ask_micro=10**6)
    market.offer(2, windows=((slot("14:30"), slot("15:00")),), ask_micro=10**6)
    early = market.bid(latest_start=slot("14:45"))
    late = market.bid(latest_start=slot("15:00"))

    assert market.clock("14:40") == []
    assert market.clock("14:45") == [Expired(bid_id=early.bid_id), OfferExpired(offer_id=2)]
    assert market.clock("14:00") == []
    assert market.book.now_seconds == at("14:45")
    assert [bid.id for bid in market.book.snapshot().bids] == [late.bid_id]


def test_a_withdrawn_offer_serves_nobody_and_cannot_be_withdrawn_twice():
    market = Market()
    market.offer(1)

    def withdraw():
        return market.tell(WithdrawOffer, offer_id=2)

    assert withdraw() == [Withdrawn(offer_id=2)]
    assert withdraw() == [NotOpen(offer_id=2)]
    assert isinstance(market.bid(), Rested)


def test_cancelling_a_filled_bid_changes_nothing():
    market = Market()
    market.offer(1)
    filled = market.bid()
    before = market.book.used_counts(1)

    outcomes = market.tell(CancelBid, bid_id=filled.fill.bid_id)

    assert outcomes == [NotOpen(bid_id=filled.fill.bid_id)]
    assert market.book.used_counts(1) == before


def test_an_offer_is_refused_without_its_server_beside_another_or_when_it_is_over():
    market = Market()
    market.offer(1)
    market.server(2)

    def place(server_id: int, **attributes):
        offer = new_offer(market.next_sequence, server_id=server_id, **attributes)
        (outcome,) = market.tell(PlaceOffer, offer=offer)
        return outcome

    over = ((slot("14:00"), slot("14:30")),)
    assert place(3) == OfferRefused(offer_id=4, reason=OfferReason.UNKNOWN_SERVER)
    assert place(1) == OfferRefused(offer_id=5, reason=OfferReason.SERVER_HAS_OFFER)
    assert place(2, windows=over) == OfferRefused(offer_id=6, reason=OfferReason.WINDOWS_OVER)
    assert [offer.id for offer in market.book.snapshot().offers] == [2]


def test_a_partly_used_offer_keeps_its_place():
    market = Market()
    market.offer(1)
    market.offer(2)

    servers = [market.bid(gpus=4).fill.server_id for _ in range(2)]

    assert servers == [1, 1]


def test_gpus_added_to_a_server_serve_a_waiting_bid():
    market = Market()
    market.offer(1)
    waiting = market.bid(gpus=9)

    (filled,) = market.server(1, capacity=16)

    assert filled.fill.bid_id == waiting.bid_id


def test_a_server_that_lost_gpus_below_what_is_sold_sells_no_more():
    market = Market()
    market.offer(1, windows=((slot("14:30"), slot("15:45")),))
    market.bid(gpus=4)

    market.server(1, capacity=2)

    assert isinstance(market.bid(), Rested)


def test_the_best_price_skips_what_cannot_be_bought_now():
    market = Market(now="14:37")
    market.offer(1, ask_micro=1)
    market.offer(2, ask_micro=2, min_hours=2)
    market.offer(4, ask_micro=3)
    market.offer(3, ask_micro=4, min_gpus=2)
    market.offer(5, ask_micro=5)
    market.offer(6, ask_micro=6, windows=((slot("14:00"), slot("15:30")),))
    market.server(1, suspended=True)
    sold = market.bid(gpus=8, limit_micro=3, earliest_start=slot("15:15"))

    best = market.book.best_price(gpu_model="h100-sxm", currency="EUR", gpus=1)

    assert sold.fill.server_id == 4
    assert best == BestPrice(ask_micro=5, start_slot=slot("14:45"), offer_id=10)
    assert market.book.best_price(gpu_model="l4", currency="EUR", gpus=1) is None


def test_a_buy_now_waits_for_the_set_up_slots_of_the_quoted_start():
    market = Market(now="14:37")
    market.offer(1)
    market.bid(gpus=8)

    best = market.book.best_price(gpu_model="h100-sxm", currency="EUR", gpus=1)

    assert best == BestPrice(ask_micro=500_000, start_slot=slot("16:00"), offer_id=2)


def test_hours_can_come_back_only_where_they_are_in_use():
    market = Market()
    market.offer(1)
    market.bid(gpus=2)

    def can_release(*, server_id: int = 1, start: str = "14:30", end: str = "15:45", gpus: int = 2):
        event = Release(
            sequence=market.next_sequence,
            server_id=server_id,
            from_slot=slot(start),
            to_slot=slot(end),
            gpus=gpus,
        )
        return market.book.can_release(event)

    assert can_release()
    assert can_release(start="15:00", end="15:15", gpus=1)
    assert not can_release(gpus=3)
    assert not can_release(end="16:00")
    assert not can_release(server_id=2)


def test_a_preview_ignores_the_bids_own_sequence_and_placing_time():
    market = Market()
    market.offer(1, ask_micro=500_000)
    bid = replace(market.new_bid(is_buy_now=True), sequence=0, placed_at=0)

    previewed = market.book.preview(bid)

    assert isinstance(previewed, Filled)
    assert previewed.fill.customer_price_micro == 500_000
    assert market.book.used_counts(1) == {}


def test_events_out_of_sequence_are_our_own_fault():
    book = Book(now_seconds=at("14:30"))
    book.apply(Clock(sequence=2, now_seconds=at("14:31")))

    with pytest.raises(AssertionError):
        book.apply(Clock(sequence=2, now_seconds=at("14:32")))


def test_four_hundred_offers_and_a_hundred_waiting_bids_take_milliseconds():
    market = Market()
    for server_id in range(1, 401):
        market.offer(server_id, ask_micro=10**6 + server_id)
    for _ in range(100):
        market.bid(hours=8, limit_micro=10**6)

    started = time.process_time()
    for _ in range(20):
        market.bid(hours=8, gpus=9, limit_micro=10**7, buyer_group=3)
        market.server(1)
    elapsed_seconds = time.process_time() - started

    # Some 0.05 s here; the margin is for a slow machine, not for a slower book.
    assert elapsed_seconds < 2
