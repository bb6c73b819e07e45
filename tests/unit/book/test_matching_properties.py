"""What holds in the order book whatever the stream of events."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from marketplace.book.matching import Book, Snapshot
from marketplace.book.outcomes import (
    Expired,
    Filled,
    OfferExpired,
    Outcome,
    Reason,
    Refused,
    Rested,
    Rule,
)
from marketplace.book.types import (
    Bid,
    Clock,
    Event,
    Fill,
    Offer,
    PlaceBid,
    PlaceOffer,
    Server,
    ServerChanged,
    slot_of,
)
from tests.unit.book.oracle import World, occupied
from tests.unit.book.streams import (
    START_SECONDS,
    Player,
    bids,
    offers,
    opening_steps,
    play,
    streams,
)


@dataclass(frozen=True)
class Moment:
    """The world just before an outcome is believed; at the end of an event there is none."""

    world: World
    event: Event
    outcome: Outcome | None

    @property
    def fill(self) -> Fill | None:
        return self.outcome.fill if isinstance(self.outcome, Filled) else None


def moments(stream) -> Iterator[Moment]:
    player = Player()
    world = World(now_seconds=START_SECONDS)
    capacities, steps = stream
    for step in [*opening_steps(capacities), *steps]:
        played = player.step(step)
        if played is not None:
            event, outcomes = played
            world.hear(event)
            for outcome in outcomes:
                yield Moment(world, event, outcome)
                world.believe(outcome)
            yield Moment(world, event, None)


def fills(stream) -> Iterator[tuple[World, Event, Fill, Bid, Offer]]:
    for moment in moments(stream):
        fill = moment.fill
        if fill is not None:
            world = moment.world
            bid, offer = world.known_bids[fill.bid_id], world.known_offers[fill.offer_id]
            yield world, moment.event, fill, bid, offer


@given(streams)
def test_no_fill_is_above_the_limit_or_below_the_ask(stream):
    for _, _, fill, bid, offer in fills(stream):
        assert fill.customer_price_micro <= bid.limit_micro
        assert fill.seller_price_micro >= offer.ask_micro
        assert bid.currency == offer.currency
        assert fill.customer_price_micro == fill.seller_price_micro


@given(streams)
def test_a_fill_has_the_price_of_the_first_order_or_the_ceiling_of_its_hours(stream):
    for world, _, fill, bid, offer in fills(stream):
        assert fill.customer_price_micro == world.price_of(bid, offer, occupied(fill))


@given(streams)
def test_no_gpu_is_sold_twice_in_a_slot(stream):
    for world, _, fill, _, offer in fills(stream):
        server = world.servers[offer.server_id]
        assert fill.server_id == server.id
        assert all(
            world.taken[server.id, slot] + fill.gpus <= server.capacity for slot in occupied(fill)
        )


@given(streams)
def test_every_occupied_slot_lies_in_a_window_and_minimums_are_kept(stream):
    for world, _, fill, _, offer in fills(stream):
        assert world.sells(offer, gpus=fill.gpus, hours=fill.hours)
        assert all(
            any(first <= slot < end for first, end in offer.windows) for slot in occupied(fill)
        )


@given(streams)
def test_a_bid_is_filled_at_most_once_and_whole(stream):
    filled = set()
    for world, _, fill, bid, offer in fills(stream):
        assert bid.id not in filled
        filled.add(bid.id)
        assert (fill.gpus, fill.hours) == (bid.gpus, bid.hours)
        assert bid.earliest_start <= fill.start_slot <= bid.latest_start
        assert fill.setup_slots == world.servers[offer.server_id].setup_slots
        assert not bid.regions or offer.region in bid.regions
        assert not bid.tiers or offer.tier in bid.tiers


@given(streams)
def test_paid_time_starts_after_the_margin_and_set_up_not_before_the_running_slot(stream):
    for world, _, fill, _, _ in fills(stream):
        assert fill.start_slot * 900 >= world.now_seconds + 300
        assert fill.start_slot - fill.setup_slots >= world.now_seconds // 900


@given(streams)
def test_nothing_is_traded_inside_a_related_group_on_a_suspended_server_or_in_a_halt(stream):
    for world, _, _, bid, offer in fills(stream):
        assert bid.buyer_group != offer.seller_group
        assert not world.servers[offer.server_id].suspended
        assert not world.is_halted(bid.gpu_model)


@given(streams)
def test_after_every_event_no_waiting_bid_fits_an_open_offer(stream):
    for moment in moments(stream):
        if moment.outcome is None:
            assert next(moment.world.servable(), None) is None


@given(streams)
def test_a_bid_gets_the_first_offer_in_rank_at_its_earliest_start(stream):
    for world, _, fill, bid, offer in fills(stream):
        assert world.best_for(bid) == (offer, fill.start_slot)


@given(streams)
def test_a_bid_is_left_unfilled_only_when_no_offer_could_serve_it(stream):
    for moment in moments(stream):
        if isinstance(moment.outcome, Rested | Refused):
            bid = moment.world.known_bids[moment.outcome.bid_id]
            is_stale = bid.is_buy_now and moment.world.now_seconds - bid.placed_at > 30
            assert is_stale or moment.world.best_for(bid) is None
            assert isinstance(moment.outcome, Rested) or bid.is_buy_now or is_late(bid, moment)


def is_late(bid: Bid, moment: Moment) -> bool:
    return bid.latest_start * 900 < moment.world.now_seconds + 300


@given(streams)
def test_arriving_supply_serves_the_first_waiting_bid_in_rank_that_fits(stream):
    for world, event, fill, bid, offer in fills(stream):
        if not isinstance(event, PlaceBid):
            assert next(world.servable()) == (bid, offer, fill.start_slot)


@given(streams)
def test_a_clock_event_only_expires(stream):
    for moment in moments(stream):
        if isinstance(moment.event, Clock) and moment.outcome is not None:
            assert isinstance(moment.outcome, Expired | OfferExpired)


@given(streams)
def test_a_clock_event_expires_exactly_what_can_no_longer_be_met(stream):
    for moment in moments(stream):
        world = moment.world
        if isinstance(moment.outcome, Expired):
            assert is_late(world.waiting[moment.outcome.bid_id], moment)
        if isinstance(moment.outcome, OfferExpired):
            windows = world.open_offers[moment.outcome.offer_id].windows
            assert all(end <= slot_of(world.now_seconds) for _, end in windows)
        if moment.outcome is None:
            assert not any(is_late(bid, moment) for bid in world.waiting.values())


@given(streams)
def test_used_slots_are_those_of_fills_less_releases(stream):
    *_, last = moments(stream)
    book = play(stream).book
    for server_id in last.world.servers:
        taken = {slot: n for (pk, slot), n in last.world.taken.items() if pk == server_id and n}
        assert book.used_counts(server_id) == taken


def shuffled(snapshot: Snapshot, randomly) -> Snapshot:
    rows: list[list[Any]] = [list(snapshot.servers), list(snapshot.offers), list(snapshot.bids)]
    for values in rows:
        randomly.shuffle(values)
    return replace(snapshot, servers=rows[0], offers=rows[1], bids=rows[2])


@given(streams, st.sets(st.integers(0, 26)), st.randoms(use_true_random=False))
def test_a_replay_restarted_anywhere_gives_the_same_outcomes_and_book(stream, restarts, randomly):
    live = play(stream)
    book = Book(now_seconds=START_SECONDS)

    replayed = []
    for position, event in enumerate(live.log):
        if position in restarts:
            book = Book.restore(shuffled(book.snapshot(), randomly))
        replayed.append(book.apply(event))

    assert replayed == live.outcomes
    assert book.snapshot() == live.book.snapshot()


@given(streams, bids)
def test_a_preview_is_what_placing_the_bid_does_and_changes_nothing(stream, bid):
    player = play(stream)
    before = player.book.snapshot()
    bid = player.number_bid(bid).bid

    previewed = player.book.preview(bid)

    assert player.book.snapshot() == before
    placed = player.book.apply(
        PlaceBid(sequence=bid.sequence, bid=replace(bid, placed_at=player.book.now_seconds))
    )
    assert [without_sequence(previewed)] == [without_sequence(answer) for answer in placed]


def without_sequence(answer: Any) -> Any:
    answer = replace(answer, decision=replace(answer.decision, sequence=0))
    if isinstance(answer, Filled):
        return replace(answer, fill=replace(answer.fill, sequence=0))
    return answer


@given(streams, st.integers(1, 3), st.integers(1, 2))
def test_the_best_price_is_the_lowest_one_buyable_from_an_offers_next_start(stream, gpus, hours):
    *_, last = moments(stream)
    book = play(stream).book

    best = book.best_price(gpu_model="h100", currency="EUR", gpus=gpus, hours=hours)

    quotes = [
        (offer.ask_micro, offer.sequence, start)
        for offer in last.world.open_offers.values()
        if (start := quoted_start(last.world, offer, gpus=gpus, hours=hours)) is not None
    ]
    expected = min(quotes) if quotes else None
    assert (best and (best.ask_micro, best.offer_id, best.start_slot)) == expected
    if best is not None:
        assert_buyable(book, best, gpus=gpus, hours=hours)


@given(streams, bids)
def test_a_quote_is_the_lowest_ask_that_serves_the_bid_from_an_offers_next_start(stream, bid):
    *_, last = moments(stream)
    player = play(stream)
    bid = player.number_bid(bid).bid
    any_limit = replace(bid, limit_micro=10**9)

    quote = player.book.quote(bid)

    quotes = [
        (offer.ask_micro, offer.sequence, start)
        for offer in last.world.open_offers.values()
        if last.world.suits(any_limit, offer)
        and (start := next_start(last.world, offer, gpus=bid.gpus, hours=bid.hours)) is not None
    ]
    is_open = not last.world.is_halted(bid.gpu_model)
    expected = min(quotes) if quotes and is_open else None
    assert (quote and (quote.ask_micro, quote.offer_id, quote.start_slot)) == expected


def quoted_start(world: World, offer: Offer, *, gpus: int, hours: int) -> int | None:
    is_in_market = (offer.gpu_model, offer.currency) == ("h100", "EUR")
    is_sold_so = is_in_market and world.sells(offer, gpus=gpus, hours=hours)
    if not is_sold_so or world.is_halted("h100"):
        return None
    return next_start(world, offer, gpus=gpus, hours=hours)


def next_start(world: World, offer: Offer, *, gpus: int, hours: int) -> int | None:
    """The offer's own next P, when the hours after it are free too."""
    if world.servers[offer.server_id].capacity < gpus:
        return None
    last_end = max(end for _, end in offer.windows)
    for start in range(world.now_seconds // 900, last_end + 1):
        if world.is_next_start(offer, gpus=gpus, hours=hours, start=start):
            is_buyable = world.is_free(offer, gpus=gpus, hours=hours, start=start)
            return start if is_buyable else None
    return None


def assert_buyable(book: Book, best, *, gpus: int, hours: int) -> None:
    stranger = Bid(
        id=999,
        sequence=999,
        buyer_group=999,
        gpu_model="h100",
        gpus=gpus,
        hours=hours,
        limit_micro=best.ask_micro,
        currency="EUR",
        earliest_start=slot_of(book.now_seconds),
        latest_start=best.start_slot + 1,
        is_buy_now=True,
        placed_at=book.now_seconds,
    )
    answer = book.preview(stranger)
    assert isinstance(answer, Filled)
    # At that price or better: a slot later, a cheaper offer may have become free.
    assert answer.fill.customer_price_micro <= best.ask_micro


@given(streams, bids, offers)
def test_one_more_offer_never_worsens_the_price_of_an_arriving_bid(stream, bid, offer):
    player = play(stream)
    placed = player.number_bid(bid).bid
    listed = replace(player.number_offer(offer).offer, server_id=4)
    snapshot = player.book.snapshot()
    wider = Book.restore(
        replace(
            snapshot,
            servers=(*snapshot.servers, Server(id=4, capacity=4, setup_slots=1)),
            offers=(*snapshot.offers, listed),
        )
    )

    without, with_offer = player.book.preview(placed), wider.preview(placed)

    if isinstance(without, Filled):
        assert isinstance(with_offer, Filled)
        assert with_offer.fill.customer_price_micro <= without.fill.customer_price_micro


@given(streams)
def test_a_decision_names_only_offers_that_could_not_serve_the_bid(stream):
    for moment in moments(stream):
        if isinstance(moment.outcome, Filled | Rested | Refused):
            decision = moment.outcome.decision
            bid = moment.world.known_bids[decision.bid_id]
            for exclusion in decision.excluded:
                offer = moment.world.known_offers[exclusion.offer_id]
                assert moment.world.first_start(bid, offer) is None
                is_over_limit = offer.ask_micro > bid.limit_micro
                assert exclusion.rule != Rule.PRICE or is_over_limit
            assert (decision.reason == Reason.BEST_OFFER) == isinstance(moment.outcome, Filled)
            assert (decision.cheapest_fit is not None) == (decision.reason == Reason.PRICE)


HOUR = (slot_of(START_SECONDS) + 4, slot_of(START_SECONDS) + 8)
unit_orders = st.lists(st.tuples(st.booleans(), st.integers(1, 6)), max_size=40)


@given(unit_orders)
def test_one_gpu_for_one_hour_trades_as_in_an_ordinary_price_time_book(orders):
    book = Book(now_seconds=START_SECONDS)
    sequence = 0
    trades = []
    for number, (is_bid, price) in enumerate(orders, start=1):
        if not is_bid:
            sequence += 1
            server = Server(id=number, capacity=1, setup_slots=0)
            book.apply(ServerChanged(sequence=sequence, server=server))
        sequence += 1
        place = unit_bid if is_bid else unit_offer
        trades += [
            (outcome.fill.bid_id, outcome.fill.offer_id, outcome.fill.customer_price_micro)
            for outcome in book.apply(place(number, sequence, price))
            if isinstance(outcome, Filled)
        ]

    assert trades == ordinary_trades(orders)


def ordinary_trades(orders: list[tuple[bool, int]]) -> list[tuple[int, int, int]]:
    resting_bids: list[tuple[int, int]] = []
    resting_offers: list[tuple[int, int]] = []
    trades = []
    for number, (is_bid, price) in enumerate(orders, start=1):
        if is_bid and resting_offers and min(resting_offers)[0] <= price:
            ask, offer = min(resting_offers)
            resting_offers.remove((ask, offer))
            trades.append((number, offer, ask))
        elif not is_bid and resting_bids and -min(resting_bids)[0] >= price:
            limit, bid = min(resting_bids)
            resting_bids.remove((limit, bid))
            trades.append((bid, number, -limit))
        elif is_bid:
            resting_bids.append((-price, number))
        else:
            resting_offers.append((price, number))
    return trades


def unit_bid(number: int, sequence: int, price: int) -> PlaceBid:
    return PlaceBid(
        sequence=sequence,
        bid=Bid(
            id=number,
            sequence=sequence,
            buyer_group=1,
            gpu_model="h100",
            gpus=1,
            hours=1,
            limit_micro=price,
            currency="EUR",
            earliest_start=HOUR[0],
            latest_start=HOUR[0],
            is_buy_now=False,
            placed_at=START_SECONDS,
        ),
    )


def unit_offer(number: int, sequence: int, price: int) -> PlaceOffer:
    return PlaceOffer(
        sequence=sequence,
        offer=Offer(
            id=number,
            sequence=sequence,
            server_id=number,
            seller_group=2,
            gpu_model="h100",
            ask_micro=price,
            currency="EUR",
            windows=(HOUR,),
        ),
    )
