"""Gather what a batch of events did, as the rows that will say so. Nothing is written here."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date
from typing import assert_never

from marketplace.book import outcomes as told
from marketplace.book.types import Fill
from marketplace.models import SLOTS_PER_DAY, Bid, Command, Offer
from marketplace.operations.slots import time_of

IMPOSSIBLE = "impossible"
DONE = "done"


@dataclass(slots=True)
class BidChange:
    """Where a bid stands after the batch. ``sequence`` None leaves its number alone."""

    status: Bid.Status
    refusal: str = ""
    sequence: int | None = None


@dataclass(slots=True)
class OfferChange:
    """Where an offer stands after the batch. ``sequence`` None leaves its number alone."""

    status: Offer.Status
    sequence: int | None = None


@dataclass(slots=True)
class Batch:
    """The effects of a batch; the last one counts where an order was touched twice.

    ``used`` maps a server and a day to the change of its GPUs in use, slot by slot of the day.
    ``answers`` gives each command's outcome by its id.
    """

    fills: list[Fill] = field(default_factory=list)
    decisions: list[told.Decision] = field(default_factory=list)
    bids: dict[int, BidChange] = field(default_factory=dict)
    offers: dict[int, OfferChange] = field(default_factory=dict)
    used: dict[tuple[int, date], list[int]] = field(default_factory=dict)
    answers: dict[int, str] = field(default_factory=dict)

    def add(
        self, command: Command, *, sequence: int, outcomes: Iterable[told.Outcome] | None
    ) -> None:
        """Take in what one numbered command did; None says that it was impossible."""
        if outcomes is None:
            self.answers[command.pk] = IMPOSSIBLE
            return
        for outcome in outcomes:
            self._add_outcome(outcome)
        self._add_command(command, sequence=sequence)

    def bids_in(self, *statuses: Bid.Status) -> list[int]:
        """Return the bids that the batch left in one of these states, by id."""
        return sorted(pk for pk, change in self.bids.items() if change.status in statuses)

    def _add_command(self, command: Command, *, sequence: int) -> None:
        self.answers[command.pk] = DONE
        if command.kind == Command.Kind.PLACE_BID:
            assert command.bid_id is not None
            bid = self.bids[command.bid_id]
            bid.sequence = sequence
            self.answers[command.pk] = bid.refusal or bid.status.value
        elif command.kind == Command.Kind.PLACE_OFFER:
            assert command.offer_id is not None
            self.offers[command.offer_id].sequence = sequence
        elif command.kind == Command.Kind.RELEASE_HOURS:
            assert command.server_id is not None
            slots = range(command.payload["from_slot"], command.payload["to_slot"])
            self._use(server_id=command.server_id, slots=slots, gpus=-command.payload["gpus"])

    def _add_outcome(self, outcome: told.Outcome) -> None:
        match outcome:
            case told.Filled() | told.Rested() | told.Refused():
                self._add_answer(outcome)
            case told.Cancelled():
                self._change_bid(outcome.bid_id, Bid.Status.CANCELLED)
            case told.Expired():
                self._change_bid(outcome.bid_id, Bid.Status.EXPIRED)
            case told.NotOpen():
                pass
            case told.Listed() | told.OfferRefused() | told.Withdrawn() | told.OfferExpired():
                self._change_offer(outcome)
            case _:
                assert_never(outcome)

    def _add_answer(self, outcome: told.BidAnswer) -> None:
        self.decisions.append(outcome.decision)
        match outcome:
            case told.Filled():
                self._add_fill(outcome.fill)
            case told.Rested():
                self._change_bid(outcome.bid_id, Bid.Status.RESTING)
            case told.Refused():
                self._change_bid(outcome.bid_id, Bid.Status.REFUSED, refusal=outcome.reason.value)
            case _:
                assert_never(outcome)

    def _add_fill(self, fill: Fill) -> None:
        self.fills.append(fill)
        self._change_bid(fill.bid_id, Bid.Status.FILLED)
        self._use(server_id=fill.server_id, slots=fill.occupied_slots, gpus=fill.gpus)

    def _change_bid(self, bid_id: int, status: Bid.Status, *, refusal: str = "") -> None:
        earlier = self.bids.get(bid_id)
        sequence = earlier.sequence if earlier else None
        self.bids[bid_id] = BidChange(status=status, refusal=refusal, sequence=sequence)

    def _change_offer(
        self, outcome: told.Listed | told.OfferRefused | told.Withdrawn | told.OfferExpired
    ) -> None:
        earlier = self.offers.get(outcome.offer_id)
        sequence = earlier.sequence if earlier else None
        match outcome:
            case told.Listed():
                status = Offer.Status.OPEN
            case told.Withdrawn():
                status = Offer.Status.WITHDRAWN
            case told.OfferRefused() | told.OfferExpired():
                # An offer is refused only because its windows ended before it got its number.
                status = Offer.Status.EXPIRED
            case _:
                assert_never(outcome)
        self.offers[outcome.offer_id] = OfferChange(status=status, sequence=sequence)

    def _use(self, *, server_id: int, slots: range, gpus: int) -> None:
        for slot in slots:
            counts = self.used.setdefault((server_id, time_of(slot).date()), [0] * SLOTS_PER_DAY)
            counts[slot % SLOTS_PER_DAY] += gpus
