"""The order book: events in, outcomes out, the same for everyone who replays them.

Contract
--------
Continuous, price-time, price of the order that was there first, all or nothing, one server.

Ordering
    Events come in strictly rising ``sequence``. The book's time is the last clock event; it never
    goes back. Offers of one GPU model and currency rank by (ask, sequence); waiting bids by
    (highest limit, sequence). Limits in two currencies are never compared.
A bid arrives
    It takes the first offer in rank that can serve all of it: all GPUs on one server, all hours in
    a row inside one window with the set-up slots before them, its filters, its start range, an ask
    within its limit. On that server it gets the earliest possible start. Otherwise it waits, or is
    refused when it is a buy-now.
Supply arrives (an offer, a release, a changed server)
    Waiting bids are tried in rank against that server's offer alone; each that fits is served. A
    bid that does not fit never blocks those behind it. On reopening, the waiting bids are tried in
    rank against all offers, one currency after the other in the order of their codes.
Price
    That of the order with the lower sequence number. Hours that a failed rental left are sold only
    by asks at or below its price, and never above it: it takes the place of a higher limit.
Ties
    Sequence numbers are unique, so no tie remains.

Guarantees: no fill above the limit or below the ask; no GPU counted twice in a slot; no fill
between related groups, with a suspended server or during a halt; after every event no waiting bid
fits an open offer (quiescence), except while halted; a clock event never creates a fill; the
result does not depend on how events are cut into batches or on a restart between two of them.

Known limits: linear walk over offers and over waiting bids, slot by slot in the calendar. An offer
in another currency never fits. Related groups are those of the orders when placed. A server has at
most one open offer, and an offer cannot be edited: withdraw and place. The horizon of
`HORIZON_DAYS` is checked where orders come in, not here.
"""

from bisect import insort
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from marketplace.book.calendar import ServerCalendar, earliest_paid_start, merge_windows
from marketplace.book.outcomes import (
    BestPrice,
    BidAnswer,
    Cancelled,
    Decision,
    Expired,
    Filled,
    Listed,
    NotOpen,
    OfferExpired,
    OfferReason,
    OfferRefused,
    Outcome,
    Reason,
    Refused,
    Rested,
    Withdrawn,
)
from marketplace.book.prices import fill_prices
from marketplace.book.search import (
    Search,
    Supply,
    cheapest_fit,
    excluding_filter,
    quoted_start,
    search,
)
from marketplace.book.types import (
    BUY_NOW_STALE_SECONDS,
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

Market = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """Everything a book needs to go on after a restart, in any order of rows.

    ``used`` maps a server to its GPUs in use by slot; slots without use may be left out, as may
    servers without ``ceilings``.
    """

    servers: Iterable[Server] = ()
    used: Mapping[int, Mapping[int, int]] = field(default_factory=dict)
    ceilings: Mapping[int, Iterable[Ceiling]] = field(default_factory=dict)
    offers: Iterable[Offer] = ()
    bids: Iterable[Bid] = ()
    now_seconds: int = 0
    last_sequence: int = 0
    is_halted: bool = False
    halted_models: frozenset[str] = frozenset()


class Book:
    """The open offers, waiting bids and calendars of all GPU models of one shard."""

    def __init__(self, *, now_seconds: int = 0) -> None:
        self.now_seconds = now_seconds
        self.last_sequence = 0
        self._is_halted = False
        self._halted_models: set[str] = set()
        self._calendars: dict[int, ServerCalendar] = {}
        self._offers: dict[int, Offer] = {}
        self._offer_of_server: dict[int, Offer] = {}
        self._ranked_offers: dict[Market, list[Offer]] = {}
        self._bids: dict[int, Bid] = {}
        self._ranked_bids: dict[Market, list[Bid]] = {}

    @classmethod
    def restore(cls, snapshot: Snapshot) -> "Book":
        """Rebuild a book between two events. Nothing is matched: a stored book is quiescent."""
        book = cls(now_seconds=snapshot.now_seconds)
        book.last_sequence = snapshot.last_sequence
        book._is_halted = snapshot.is_halted
        book._halted_models = set(snapshot.halted_models)
        for server in snapshot.servers:
            book._calendars[server.id] = ServerCalendar(
                server=server,
                used=snapshot.used.get(server.id),
                ceilings=snapshot.ceilings.get(server.id, ()),
            )
        for offer in snapshot.offers:
            book._add_offer(offer)
        for bid in snapshot.bids:
            book._add_bid(bid)
        return book

    def snapshot(self) -> Snapshot:
        """Return what `restore` needs, sorted by id."""
        calendars = [self._calendars[key] for key in sorted(self._calendars)]
        return Snapshot(
            servers=tuple(calendar.server for calendar in calendars),
            used={calendar.server.id: calendar.used_counts() for calendar in calendars},
            ceilings={one.server.id: tuple(one.ceilings) for one in calendars if one.ceilings},
            offers=tuple(self._offers[key] for key in sorted(self._offers)),
            bids=tuple(self._bids[key] for key in sorted(self._bids)),
            now_seconds=self.now_seconds,
            last_sequence=self.last_sequence,
            is_halted=self._is_halted,
            halted_models=frozenset(self._halted_models),
        )

    def apply(self, event: Event) -> list[Outcome]:
        """Apply the next event of the log and say what it did, in order."""
        assert event.sequence > self.last_sequence
        self.last_sequence = event.sequence
        if isinstance(event, Clock | Halt | Reopen):
            return self._apply_market_event(event)
        if isinstance(event, PlaceBid | CancelBid):
            return [self._apply_bid_event(event)]
        return self._apply_supply_event(event)

    def preview(self, bid: Bid) -> BidAnswer:
        """Say what placing this bid next would do, and change nothing.

        The bid's own sequence and placing time do not count: it is taken as placed right now.
        """
        return self._answer(
            replace(bid, sequence=self.last_sequence + 1, placed_at=self.now_seconds)
        )

    def best_price(
        self, *, gpu_model: str, currency: str, gpus: int, hours: int = 1
    ) -> BestPrice | None:
        """Return the lowest ask at which this can be bought from the offer's own next P.

        Related groups are ignored: the price is the same for everyone. None when the model is
        halted or nothing can be bought so.
        """
        if self.is_halted(gpu_model):
            return None
        for offer in self._ranked_offers.get((gpu_model, currency), ()):
            start_slot = self._quoted_start(offer=offer, gpus=gpus, hours=hours)
            if start_slot is not None:
                return BestPrice(
                    ask_micro=offer.ask_micro, start_slot=start_slot, offer_id=offer.id
                )
        return None

    def quote(self, bid: Bid) -> BestPrice | None:
        """Return the lowest ask that serves this bid from the offer's own next P.

        Its limit and start range do not count; its filters and related group do.
        """
        if self.is_halted(bid.gpu_model):
            return None
        for offer in self._ranked_offers.get((bid.gpu_model, bid.currency), ()):
            server = self._calendars[offer.server_id].server
            if excluding_filter(bid=bid, offer=offer, server=server) is None:
                start_slot = self._quoted_start(offer=offer, gpus=bid.gpus, hours=bid.hours)
                if start_slot is not None:
                    return BestPrice(
                        ask_micro=offer.ask_micro, start_slot=start_slot, offer_id=offer.id
                    )
        return None

    def supply(self, *, gpu_model: str, currency: str) -> Supply:
        """Return the offers that may be sold now, in rank: none while the model is halted.

        For reading only. Those of suspended servers are left out; whether hours are free is not
        asked.
        """
        if self.is_halted(gpu_model):
            return self._supply([])
        ranked = self._ranked_offers.get((gpu_model, currency), [])
        return self._supply(
            [one for one in ranked if not self._calendars[one.server_id].server.suspended]
        )

    def can_release(self, event: Release) -> bool:
        """Say whether these GPUs are in use in every slot of the range, so that they can come back."""
        calendar = self._calendars.get(event.server_id)
        slots = range(event.from_slot, event.to_slot)
        return calendar is not None and calendar.least_used(slots=slots) >= event.gpus

    def used_counts(self, server_id: int) -> dict[int, int]:
        """Return the GPUs in use on a server by slot, without the slots that have none."""
        return self._calendars[server_id].used_counts()

    def is_halted(self, gpu_model: str) -> bool:
        """Say whether fills of this model are stopped, by its own halt or the general one."""
        return self._is_halted or gpu_model in self._halted_models

    # Market state and time

    def _apply_market_event(self, event: Clock | Halt | Reopen) -> list[Outcome]:
        if isinstance(event, Clock):
            return self._advance(event.now_seconds)
        self._set_halted(event.gpu_model, halted=isinstance(event, Halt))
        return self._serve_reopened(event.gpu_model) if isinstance(event, Reopen) else []

    def _advance(self, now_seconds: int) -> list[Outcome]:
        self.now_seconds = max(self.now_seconds, now_seconds)
        late_bids = [bid for bid in self._bids.values() if self._is_too_late(bid)]
        over_offers = [offer for offer in self._offers.values() if self._is_over(offer)]
        outcomes: list[Outcome] = []
        for bid in sorted(late_bids, key=lambda bid: bid.sequence):
            self._remove_bid(bid)
            outcomes.append(Expired(bid_id=bid.id))
        for offer in sorted(over_offers, key=lambda offer: offer.sequence):
            self._remove_offer(offer)
            outcomes.append(OfferExpired(offer_id=offer.id))
        return outcomes

    def _is_too_late(self, bid: Bid) -> bool:
        # No set-up time here: a server that needs less than today's ones may still be listed.
        return bid.latest_start < earliest_paid_start(now_seconds=self.now_seconds, setup_slots=0)

    def _is_over(self, offer: Offer) -> bool:
        return max(end for _, end in offer.windows) <= slot_of(self.now_seconds)

    def _set_halted(self, gpu_model: str | None, *, halted: bool) -> None:
        if gpu_model is None:
            self._is_halted = halted
        elif halted:
            self._halted_models.add(gpu_model)
        else:
            self._halted_models.discard(gpu_model)

    def _serve_reopened(self, gpu_model: str | None) -> list[Outcome]:
        outcomes: list[Outcome] = []
        for market in sorted(self._ranked_bids):
            if gpu_model in (None, market[0]):
                offers = self._ranked_offers.get(market, [])
                outcomes += self._serve_waiting(market=market, offers=offers)
        return outcomes

    # Bids

    def _apply_bid_event(self, event: PlaceBid | CancelBid) -> Outcome:
        if isinstance(event, PlaceBid):
            return self._place_bid(event.bid)
        return self._cancel_bid(event.bid_id)

    def _place_bid(self, bid: Bid) -> BidAnswer:
        assert bid.id not in self._bids
        answer = self._answer(bid)
        if isinstance(answer, Filled):
            self._occupy(answer.fill)
        elif isinstance(answer, Rested):
            self._add_bid(bid)
        return answer

    def _answer(self, bid: Bid) -> BidAnswer:
        """Decide about an arriving bid without changing anything."""
        if self._is_too_late(bid):
            return self._refusal(bid, Reason.TOO_LATE)
        if bid.is_buy_now and self.now_seconds - bid.placed_at > BUY_NOW_STALE_SECONDS:
            return self._refusal(bid, Reason.STALE)
        if self.is_halted(bid.gpu_model):
            return self._unfilled(bid, self._decision(bid, Reason.HALTED))
        supply = self._supply(self._ranked_offers.get((bid.gpu_model, bid.currency), []))
        found = search(bid=bid, supply=supply)
        if found.chosen is not None:
            return self._filled(bid, found)
        fit = cheapest_fit(bid=bid, supply=supply)
        reason = Reason.NO_FIT if fit is None else Reason.PRICE
        decision = self._decision(bid, reason, found)
        return self._unfilled(bid, replace(decision, cheapest_fit=fit.id if fit else None))

    def _refusal(self, bid: Bid, reason: Reason) -> Refused:
        return Refused(bid_id=bid.id, reason=reason, decision=self._decision(bid, reason))

    def _unfilled(self, bid: Bid, decision: Decision) -> Rested | Refused:
        if bid.is_buy_now:
            return Refused(bid_id=bid.id, reason=decision.reason, decision=decision)
        return Rested(bid_id=bid.id, decision=decision)

    def _decision(self, bid: Bid, reason: Reason, found: Search | None = None) -> Decision:
        found = found or Search()
        return Decision(
            bid_id=bid.id,
            sequence=self.last_sequence,
            reason=reason,
            chosen=found.chosen.id if found.chosen else None,
            excluded=tuple(found.excluded),
            unlisted=found.unlisted,
        )

    def _cancel_bid(self, bid_id: int) -> Outcome:
        bid = self._bids.get(bid_id)
        if bid is None:
            return NotOpen(bid_id=bid_id)
        self._remove_bid(bid)
        return Cancelled(bid_id=bid_id)

    # Supply

    def _apply_supply_event(
        self, event: PlaceOffer | WithdrawOffer | ServerChanged | Release
    ) -> list[Outcome]:
        if isinstance(event, PlaceOffer):
            return self._place_offer(event.offer)
        if isinstance(event, WithdrawOffer):
            return [self._withdraw_offer(event.offer_id)]
        if isinstance(event, ServerChanged):
            return self._change_server(event.server)
        return self._release(event)

    def _place_offer(self, offer: Offer) -> list[Outcome]:
        reason = self._offer_refusal(offer)
        if reason is not None:
            return [OfferRefused(offer_id=offer.id, reason=reason)]
        self._add_offer(offer)
        return [Listed(offer_id=offer.id), *self._serve_server(offer.server_id)]

    def _offer_refusal(self, offer: Offer) -> OfferReason | None:
        if offer.server_id not in self._calendars:
            return OfferReason.UNKNOWN_SERVER
        if offer.server_id in self._offer_of_server:
            return OfferReason.SERVER_HAS_OFFER
        return OfferReason.WINDOWS_OVER if self._is_over(offer) else None

    def _withdraw_offer(self, offer_id: int) -> Outcome:
        offer = self._offers.get(offer_id)
        if offer is None:
            return NotOpen(offer_id=offer_id)
        self._remove_offer(offer)
        return Withdrawn(offer_id=offer_id)

    def _change_server(self, server: Server) -> list[Outcome]:
        calendar = self._calendars.get(server.id)
        if calendar is None:
            self._calendars[server.id] = ServerCalendar(server=server)
        else:
            calendar.server = server
        return self._serve_server(server.id)

    def _release(self, event: Release) -> list[Outcome]:
        slots = range(event.from_slot, event.to_slot)
        calendar = self._calendars[event.server_id]
        calendar.release(slots=slots, gpus=event.gpus)
        if event.ceiling is not None:
            calendar.ceilings.append(event.ceiling)
        return self._serve_server(event.server_id)

    def _serve_server(self, server_id: int) -> list[Outcome]:
        """Try the waiting bids on one server. No other offer can serve them: see quiescence."""
        offer = self._offer_of_server.get(server_id)
        if offer is None:
            return []
        return self._serve_waiting(market=(offer.gpu_model, offer.currency), offers=[offer])

    def _serve_waiting(self, *, market: Market, offers: list[Offer]) -> list[Outcome]:
        """Serve the waiting bids of a market in rank, once each: free time only shrinks here."""
        if self.is_halted(market[0]):
            return []
        supply = self._supply(offers)
        outcomes: list[Outcome] = []
        for bid in tuple(self._ranked_bids.get(market, ())):
            found = search(bid=bid, supply=supply)
            if found.chosen is not None:
                filled = self._filled(bid, found)
                self._remove_bid(bid)
                self._occupy(filled.fill)
                outcomes.append(filled)
        return outcomes

    def _supply(self, offers: list[Offer]) -> Supply:
        return Supply(offers=offers, calendars=self._calendars, now_seconds=self.now_seconds)

    def _quoted_start(self, *, offer: Offer, gpus: int, hours: int) -> int | None:
        return quoted_start(
            offer=offer,
            calendar=self._calendars[offer.server_id],
            gpus=gpus,
            hours=hours,
            now_seconds=self.now_seconds,
        )

    # Fills

    def _filled(self, bid: Bid, found: Search) -> Filled:
        assert found.chosen is not None
        assert found.start_slot is not None
        offer = found.chosen
        customer_price_micro, seller_price_micro = fill_prices(offer=offer, bid=bid)
        calendar = self._calendars[offer.server_id]
        fill = Fill(
            bid_id=bid.id,
            offer_id=offer.id,
            server_id=offer.server_id,
            start_slot=found.start_slot,
            hours=bid.hours,
            gpus=bid.gpus,
            setup_slots=calendar.server.setup_slots,
            customer_price_micro=customer_price_micro,
            seller_price_micro=seller_price_micro,
            sequence=self.last_sequence,
        )
        # Both prices are in one currency for now, and so is the ceiling.
        price_micro = calendar.highest_price(
            slots=fill.occupied_slots,
            gpus=fill.gpus,
            price_micro=seller_price_micro,
            currency=offer.currency,
        )
        fill = replace(fill, customer_price_micro=price_micro, seller_price_micro=price_micro)
        return Filled(fill=fill, decision=self._decision(bid, Reason.BEST_OFFER, found))

    def _occupy(self, fill: Fill) -> None:
        self._calendars[fill.server_id].book(slots=fill.occupied_slots, gpus=fill.gpus)

    # Ranked lists

    def _add_offer(self, offer: Offer) -> None:
        offer = replace(offer, windows=merge_windows(offer.windows))
        self._offers[offer.id] = self._offer_of_server[offer.server_id] = offer
        ranked = self._ranked_offers.setdefault((offer.gpu_model, offer.currency), [])
        insort(ranked, offer, key=lambda offer: (offer.ask_micro, offer.sequence))

    def _remove_offer(self, offer: Offer) -> None:
        del self._offers[offer.id]
        del self._offer_of_server[offer.server_id]
        self._ranked_offers[offer.gpu_model, offer.currency].remove(offer)

    def _add_bid(self, bid: Bid) -> None:
        self._bids[bid.id] = bid
        ranked = self._ranked_bids.setdefault((bid.gpu_model, bid.currency), [])
        insort(ranked, bid, key=lambda bid: (-bid.limit_micro, bid.sequence))

    def _remove_bid(self, bid: Bid) -> None:
        del self._bids[bid.id]
        self._ranked_bids[bid.gpu_model, bid.currency].remove(bid)
