"""A slow, independent account of the market: sets of slots and brute force, no sorted lists.

It follows the events and believes the book's fills, so that any question about what *could* have
been served at a moment can be answered without the book.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from marketplace.book.outcomes import (
    Cancelled,
    Expired,
    Filled,
    Listed,
    OfferExpired,
    Outcome,
    Rested,
    Withdrawn,
)
from marketplace.book.types import (
    Bid,
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
)


@dataclass
class World:
    now_seconds: int
    servers: dict[int, Server] = field(default_factory=dict)
    known_bids: dict[int, Bid] = field(default_factory=dict)
    known_offers: dict[int, Offer] = field(default_factory=dict)
    open_offers: dict[int, Offer] = field(default_factory=dict)
    waiting: dict[int, Bid] = field(default_factory=dict)
    halts: set[str | None] = field(default_factory=set)
    taken: Counter[tuple[int, int]] = field(default_factory=Counter)
    ceilings: list[tuple[int, Ceiling]] = field(default_factory=list)

    def hear(self, event: Event) -> None:
        """Note what an event says by itself, before anything is matched."""
        match event:
            case Clock():
                self.now_seconds = max(self.now_seconds, event.now_seconds)
            case PlaceBid():
                self.known_bids[event.bid.id] = event.bid
            case PlaceOffer():
                self.known_offers[event.offer.id] = event.offer
            case ServerChanged():
                self.servers[event.server.id] = event.server
            case Release():
                for slot in range(event.from_slot, event.to_slot):
                    self.taken[event.server_id, slot] -= event.gpus
                if event.ceiling is not None:
                    self.ceilings.append((event.server_id, event.ceiling))
            case Halt():
                self.halts.add(event.gpu_model)
            case Reopen():
                self.halts.discard(event.gpu_model)
            case _:
                pass

    def believe(self, outcome: Outcome) -> None:
        """Note what the book says it did."""
        match outcome:
            case Filled(fill=fill):
                self.waiting.pop(fill.bid_id, None)
                for slot in occupied(fill):
                    self.taken[fill.server_id, slot] += fill.gpus
            case Rested(bid_id=bid_id):
                self.waiting[bid_id] = self.known_bids[bid_id]
            case Cancelled(bid_id=bid_id) | Expired(bid_id=bid_id):
                del self.waiting[bid_id]
            case Listed(offer_id=offer_id):
                self.open_offers[offer_id] = self.known_offers[offer_id]
            case Withdrawn(offer_id=offer_id) | OfferExpired(offer_id=offer_id):
                del self.open_offers[offer_id]
            case _:
                pass

    def is_halted(self, gpu_model: str) -> bool:
        return None in self.halts or gpu_model in self.halts

    def first_start(self, bid: Bid, offer: Offer) -> int | None:
        """The earliest start at which the offer can serve all of the bid within its limit."""
        if self.is_halted(bid.gpu_model) or not self.suits(bid, offer):
            return None
        for start in range(bid.earliest_start, bid.latest_start + 1):
            if self.is_free(offer, gpus=bid.gpus, hours=bid.hours, start=start):
                return start
        return None

    def suits(self, bid: Bid, offer: Offer) -> bool:
        return (
            offer.gpu_model == bid.gpu_model
            and offer.currency == bid.currency
            and offer.ask_micro <= bid.limit_micro
            and offer.seller_group != bid.buyer_group
            and (not bid.regions or offer.region in bid.regions)
            and (not bid.tiers or offer.tier in bid.tiers)
            and self.sells(offer, gpus=bid.gpus, hours=bid.hours)
        )

    def sells(self, offer: Offer, *, gpus: int, hours: int) -> bool:
        return (
            not self.servers[offer.server_id].suspended
            and gpus >= offer.min_gpus
            and gpus % offer.gpu_step == 0
            and hours >= offer.min_hours
        )

    def is_free(self, offer: Offer, *, gpus: int, hours: int, start: int) -> bool:
        paid = range(start, start + 4 * hours)
        return self.is_next_start(offer, gpus=gpus, hours=hours, start=start) and all(
            self.has_free(offer, gpus=gpus, slot=slot) for slot in paid
        )

    def is_next_start(self, offer: Offer, *, gpus: int, hours: int, start: int) -> bool:
        """Say whether set-up may begin for this start; the paid slots need not be free."""
        begin = start - self.servers[offer.server_id].setup_slots
        if start * 900 < self.now_seconds + 300 or begin < self.now_seconds // 900:
            return False
        return all(
            any(first <= slot < end for first, end in offer.windows)
            for slot in range(begin, start + 4 * hours)
        ) and all(self.has_free(offer, gpus=gpus, slot=slot) for slot in range(begin, start))

    def has_free(
        self, offer: Offer, *, gpus: int, slot: int, price_micro: int | None = None
    ) -> bool:
        """Say whether the slot has so many GPUs at the offer's ask, or at another price."""
        server = self.servers[offer.server_id]
        price_micro = offer.ask_micro if price_micro is None else price_micro
        too_cheap = sum(
            ceiling.gpus
            for server_id, ceiling in self.ceilings
            if server_id == server.id
            and ceiling.from_slot <= slot < ceiling.to_slot
            and not (ceiling.currency == offer.currency and ceiling.price_micro >= price_micro)
        )
        return self.taken[server.id, slot] + too_cheap + gpus <= server.capacity

    def price_of(self, bid: Bid, offer: Offer, slots: range) -> int:
        """The first order's price, or the highest one below it that every slot can be sold at."""
        price = bid.limit_micro if bid.sequence < offer.sequence else offer.ask_micro
        while not all(
            self.has_free(offer, gpus=bid.gpus, slot=slot, price_micro=price) for slot in slots
        ):
            price -= 1
        return price

    def best_for(self, bid: Bid) -> tuple[Offer, int] | None:
        fits = [
            (offer.ask_micro, offer.sequence, start, offer)
            for offer in self.open_offers.values()
            if (start := self.first_start(bid, offer)) is not None
        ]
        return min(fits)[3:1:-1] if fits else None

    def waiting_in_rank(self) -> list[Bid]:
        """Waiting bids, market by market: limits in two currencies are never compared."""
        return sorted(
            self.waiting.values(),
            key=lambda bid: (bid.gpu_model, bid.currency, -bid.limit_micro, bid.sequence),
        )

    def servable(self) -> Iterator[tuple[Bid, Offer, int]]:
        """Waiting bids in rank that some open offer could serve now, with their best offer."""
        for bid in self.waiting_in_rank():
            best = self.best_for(bid)
            if best is not None:
                yield bid, *best


def occupied(fill: Fill) -> range:
    return range(fill.start_slot - fill.setup_slots, fill.start_slot + 4 * fill.hours)
