"""Random streams of events for the order book, small numbers so that ties are common."""

from dataclasses import dataclass, field, replace
from functools import partial

from hypothesis import strategies as st

from marketplace.book.matching import Book
from marketplace.book.outcomes import Filled, Outcome
from marketplace.book.types import (
    Bid,
    CancelBid,
    Ceiling,
    Clock,
    Event,
    Fill,
    Halt,
    Offer,
    PlaceBid,
    PlaceOffer,
    Release,
    Reopen,
    Server,
    ServerChanged,
    WithdrawOffer,
    slot_of,
)

START_SECONDS = 1_800_000_000
SERVER_IDS = (1, 2, 3)


def mostly(common, *rare, times: int = 9) -> st.SearchStrategy:
    """Draw the common value most of the time.

    The rare ones stand in the middle: Hypothesis favours both ends of a list.
    """
    half = [common] * (times // 2)
    return st.sampled_from([*half, *rare, *half])


MODELS = mostly("h100", "l4", times=16)
CURRENCIES = mostly("EUR", "USD", times=16)
SMALL = st.integers(1, 6)
CAPACITIES = st.sampled_from([1, 2, 2, 3, 4])
SCOPES = st.sampled_from(["h100", None, "l4"])
SUBSETS = mostly(frozenset(), frozenset({"a"}), frozenset({"a", "b"}))

# The identities, sequences and times below are relative; `Player.number` makes them absolute.
servers = st.builds(
    Server,
    id=st.sampled_from(SERVER_IDS),
    capacity=CAPACITIES,
    setup_slots=st.integers(0, 2),
    suspended=mostly(False, True),
)
windows = st.lists(
    st.tuples(st.sampled_from([-4, 0, 0, 1, 8]), st.integers(5, 24)).map(
        lambda pair: (pair[0], sum(pair))
    ),
    min_size=1,
    max_size=2,
).map(tuple)
offers = st.builds(
    Offer,
    id=st.just(0),
    sequence=st.just(0),
    server_id=st.sampled_from(SERVER_IDS),
    seller_group=st.integers(6, 9),
    gpu_model=MODELS,
    ask_micro=SMALL,
    currency=CURRENCIES,
    windows=windows,
    min_gpus=mostly(1, 2),
    gpu_step=mostly(1, 2),
    min_hours=mostly(1, 2),
    region=st.sampled_from(["a", "b"]),
    tier=st.sampled_from(["a", "b"]),
)
bids = st.builds(
    lambda span, **rest: Bid(earliest_start=span[0], latest_start=sum(span), **rest),
    span=st.tuples(st.sampled_from([1, 1, 2, 4, 9]), st.sampled_from([0, 2, 4, 9, 20])),
    id=st.just(0),
    sequence=st.just(0),
    buyer_group=SMALL,
    gpu_model=MODELS,
    gpus=st.sampled_from([1, 1, 1, 2, 2, 3]),
    hours=st.sampled_from([1, 1, 1, 2, 2, 3]),
    limit_micro=SMALL,
    currency=CURRENCIES,
    is_buy_now=mostly(False, True, times=4),
    placed_at=mostly(0, -30, -31),
    regions=SUBSETS,
    tiers=SUBSETS,
)
NUMBERED_LATER = st.just(0)
placed_bids = st.builds(PlaceBid, sequence=NUMBERED_LATER, bid=bids)
placed_offers = st.builds(PlaceOffer, sequence=NUMBERED_LATER, offer=offers)
clocks = st.builds(
    Clock,
    sequence=NUMBERED_LATER,
    now_seconds=st.sampled_from([-60, 0, 60, 599, 600, 601, 900, 3000]),
)
cancels = st.builds(CancelBid, sequence=NUMBERED_LATER, bid_id=st.integers(0, 9))
withdrawals = st.builds(WithdrawOffer, sequence=NUMBERED_LATER, offer_id=st.integers(0, 9))
ceilings = st.builds(
    Ceiling,
    from_slot=st.just(0),
    to_slot=st.just(0),
    gpus=st.just(1),
    price_micro=SMALL,
    currency=CURRENCIES,
)
releases = st.builds(
    Release,
    sequence=NUMBERED_LATER,
    server_id=st.integers(0, 9),
    from_slot=st.integers(0, 4),
    to_slot=st.just(6),
    gpus=st.just(1),
    ceiling=st.none() | ceilings,
)
server_changes = st.builds(ServerChanged, sequence=NUMBERED_LATER, server=servers)
halts = st.builds(Halt, sequence=NUMBERED_LATER, gpu_model=SCOPES)
reopenings = st.builds(Reopen, sequence=NUMBERED_LATER, gpu_model=SCOPES)
# Sampled and not `one_of`, which drops repeated branches and with them these weights.
steps = mostly(
    placed_bids,
    *[placed_offers, releases] * 3,
    *[clocks, reopenings] * 2,
    *[cancels, withdrawals, server_changes, halts],
    times=16,
).flatmap(lambda kind: kind)


def opening_offer(server_id: int, offer: Offer) -> PlaceOffer:
    return PlaceOffer(sequence=0, offer=replace(offer, server_id=server_id))


def stream_of(length: int) -> st.SearchStrategy:
    opening_offers = [offers.map(partial(opening_offer, server_id)) for server_id in SERVER_IDS]
    return st.tuples(
        st.lists(CAPACITIES, min_size=3, max_size=3),
        st.tuples(*opening_offers),
        st.lists(steps, min_size=length, max_size=length),
        st.sampled_from([0, length // 3, length * 2 // 3]),
    ).map(lambda parts: (parts[0], with_offers_at(parts[3], parts[1], parts[2])))


def with_offers_at(
    position: int, opening: tuple[PlaceOffer, ...], later: list[Event]
) -> list[Event]:
    """Put the offers before or among the other steps: what comes before them waits for them."""
    return [*later[:position], *opening, *later[position:]]


# Stating the length keeps streams long: left to itself, the list would mostly be short.
streams = st.sampled_from([6, 12, 20, 30, 40]).flatmap(stream_of)


@dataclass
class Player:
    """Number the steps of a stream one by one and feed them to a book."""

    book: Book = field(default_factory=lambda: Book(now_seconds=START_SECONDS))
    log: list[Event] = field(default_factory=list)
    outcomes: list[list[Outcome]] = field(default_factory=list)
    fills: list[Fill] = field(default_factory=list)
    unreleased: list[Fill] = field(default_factory=list)

    def step(self, step: Event) -> tuple[Event, list[Outcome]] | None:
        """Apply one step; None when it means nothing yet, as a release before any fill."""
        event = self.number(step)
        if event is None:
            return None
        outcomes = self.book.apply(event)
        self.log.append(event)
        self.outcomes.append(outcomes)
        filled = [outcome.fill for outcome in outcomes if isinstance(outcome, Filled)]
        self.fills += filled
        self.unreleased += filled
        return event, outcomes

    def number(self, step: Event) -> Event | None:
        """Make the step absolute: the next sequence, real ids, slots and times."""
        sequence = len(self.log) + 1
        match step:
            case PlaceBid():
                return self.number_bid(step.bid)
            case PlaceOffer():
                return self.number_offer(step.offer)
            case Release():
                return self._number_release(step, sequence)
            case Clock():
                now_seconds = self.book.now_seconds + step.now_seconds
                return replace(step, sequence=sequence, now_seconds=now_seconds)
            case CancelBid():
                return replace(step, sequence=sequence, bid_id=self._nth(PlaceBid, step.bid_id))
            case WithdrawOffer():
                offer_id = self._nth(PlaceOffer, step.offer_id)
                return replace(step, sequence=sequence, offer_id=offer_id)
            case _:
                return replace(step, sequence=sequence)

    def number_bid(self, bid: Bid) -> PlaceBid:
        sequence = len(self.log) + 1
        now_slot = slot_of(self.book.now_seconds)
        bid = replace(
            bid,
            id=sequence,
            sequence=sequence,
            earliest_start=bid.earliest_start + now_slot,
            latest_start=bid.latest_start + now_slot,
            placed_at=bid.placed_at + self.book.now_seconds,
        )
        return PlaceBid(sequence=sequence, bid=bid)

    def number_offer(self, offer: Offer) -> PlaceOffer:
        sequence = len(self.log) + 1
        now_slot = slot_of(self.book.now_seconds)
        free_servers = [number for number in SERVER_IDS if number not in self.listed_servers()]
        server_id = offer.server_id
        if free_servers:
            server_id = free_servers[server_id % len(free_servers)]
        windows = tuple((first + now_slot, end + now_slot) for first, end in offer.windows)
        offer = replace(offer, id=sequence, sequence=sequence, server_id=server_id, windows=windows)
        return PlaceOffer(sequence=sequence, offer=offer)

    def listed_servers(self) -> set[int]:
        return {offer.server_id for offer in self.book.snapshot().offers}

    def _number_release(self, step: Release, sequence: int) -> Release | None:
        if not self.unreleased:
            return None
        fill = self.unreleased.pop(step.server_id % len(self.unreleased))
        begin, end = min(fill.occupied_from + step.from_slot, fill.end_slot), fill.end_slot
        return Release(
            sequence=sequence,
            server_id=fill.server_id,
            from_slot=begin,
            to_slot=end,
            gpus=fill.gpus,
            ceiling=step.ceiling
            and replace(step.ceiling, from_slot=begin, to_slot=end, gpus=fill.gpus),
        )

    def _nth(self, kind: type, position: int) -> int:
        placed = [event.sequence for event in self.log if isinstance(event, kind)]
        return placed[position % len(placed)] if placed else 0


def opening_steps(capacities: list[int]) -> list[Event]:
    return [
        ServerChanged(
            sequence=0, server=Server(id=number, capacity=capacity, setup_slots=number % 3)
        )
        for number, capacity in zip(SERVER_IDS, capacities, strict=True)
    ]


def play(stream: tuple[list[int], list[Event]]) -> Player:
    player = Player()
    capacities, stream_steps = stream
    for step in [*opening_steps(capacities), *stream_steps]:
        player.step(step)
    return player
