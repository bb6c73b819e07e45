"""Read rows as values of the book: open orders at a restart, and the events of the log.

What can change outside the log (a server's suspension, the market's state) is read from the log
itself: a book restored between two batches is the book that was there.
"""

from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from django.db.models import QuerySet

from marketplace.book import types as book
from marketplace.book.matching import Book, Snapshot
from marketplace.book.outcomes import Outcome
from marketplace.models import SLOTS_PER_DAY, Bid, Command, MarketState, Offer, ServerDay, Shard
from marketplace.operations.batches import DONE
from marketplace.operations.slots import seconds_at, slot_at

# Hours given back may begin in a slot that was running at the last batch, also at midnight.
DAYS_KEPT = timedelta(days=1)


def restore_book(
    *, shard: Shard, gpu_model_id: int | None = None, now: datetime | None = None
) -> Book:
    """Rebuild the book as the last batch left it, of all models or of one alone.

    Exact under the shard's lock; without it a reader may see a batch half. A reader gives ``now``
    to ask what the book would answer at that time.
    """
    offers = Offer.objects.filter(status=Offer.Status.OPEN)
    bids = Bid.objects.filter(status=Bid.Status.RESTING)
    if gpu_model_id is not None:
        offers = offers.filter(gpu_model_id=gpu_model_id)
        bids = bids.filter(gpu_model_id=gpu_model_id)
    last_clock_at = shard.last_clock_at or datetime.fromtimestamp(0, tz=UTC)
    states = _halts()
    snapshot = Snapshot(
        offers=[book_offer(offer) for offer in _with_offer_facts(offers)],
        bids=[book_bid(bid) for bid in bids.select_related("gpu_model")],
        servers=_servers(gpu_model_id=gpu_model_id),
        used=_used(since=(last_clock_at - DAYS_KEPT).date(), gpu_model_id=gpu_model_id),
        ceilings=_ceilings(since_slot=slot_at(last_clock_at), gpu_model_id=gpu_model_id),
        now_seconds=seconds_at(max(last_clock_at, now) if now else last_clock_at),
        last_sequence=shard.last_sequence,
        is_halted=states.pop(None, True),
        halted_models=frozenset(slug for slug, is_halted in states.items() if slug and is_halted),
    )
    return Book.restore(snapshot)


def empty_book() -> Book:
    """Return the book before its first event: nothing listed, the market before launch."""
    return Book.restore(Snapshot(is_halted=True))


def with_order_facts(commands: QuerySet[Command]) -> QuerySet[Command]:
    """Fetch what `event_of` reads of each command's order, in a fixed number of queries."""
    return commands.select_related(
        "bid__gpu_model", "offer__gpu_model", "offer__server", "server"
    ).prefetch_related("offer__windows")


def apply_command(books: Book, command: Command, *, sequence: int) -> list[Outcome] | None:
    """Apply a numbered command to the book: the one way, live and in a replay.

    Return None, and change nothing, when hours that are not sold would come back.
    """
    event = event_of(command, sequence=sequence)
    if isinstance(event, book.Release) and not books.can_release(event):
        return None
    return books.apply(event)


def event_of(command: Command, *, sequence: int) -> book.Event:
    """Return the event that a numbered command stands for."""
    match Command.Kind(command.kind):
        case Command.Kind.CLOCK:
            return book.Clock(sequence=sequence, now_seconds=command.payload["now_seconds"])
        case Command.Kind.PLACE_BID | Command.Kind.CANCEL_BID:
            return _bid_event(command, sequence=sequence)
        case Command.Kind.PLACE_OFFER | Command.Kind.WITHDRAW_OFFER:
            return _offer_event(command, sequence=sequence)
        case Command.Kind.CHANGE_SERVER | Command.Kind.RELEASE_HOURS:
            return _server_event(command, sequence=sequence)
        case Command.Kind.SET_MARKET_STATE:
            return _market_event(command, sequence=sequence)


def book_bid(bid: Bid, *, sequence: int | None = None) -> book.Bid:
    """Return a bid as the book sees it, with its own number unless one is given."""
    number = bid.sequence if sequence is None else sequence
    assert number is not None
    return book.Bid(
        id=bid.pk or 0,
        sequence=number,
        buyer_group=bid.group_id,
        gpu_model=bid.gpu_model.slug,
        gpus=bid.gpus,
        hours=bid.hours,
        limit_micro=bid.limit_price_micro,
        currency=bid.currency,
        earliest_start=slot_at(bid.earliest_start),
        latest_start=slot_at(bid.latest_start),
        is_buy_now=bid.kind == Bid.Kind.BUY_NOW,
        placed_at=seconds_at(bid.placed_at),
        regions=frozenset(bid.regions),
        tiers=frozenset(bid.tiers),
    )


def book_offer(offer: Offer, *, sequence: int | None = None) -> book.Offer:
    """Return an offer as the book sees it, with its own number unless one is given."""
    number = offer.sequence if sequence is None else sequence
    assert number is not None
    return book.Offer(
        id=offer.pk,
        sequence=number,
        server_id=offer.server_id,
        seller_group=offer.group_id,
        gpu_model=offer.gpu_model.slug,
        ask_micro=offer.ask_price_micro,
        currency=offer.currency,
        windows=tuple(
            sorted((slot_at(row.starts_at), slot_at(row.ends_at)) for row in offer.windows.all())
        ),
        min_gpus=offer.min_gpus,
        gpu_step=offer.gpu_step,
        min_hours=offer.min_hours,
        region=offer.server.region,
        tier=offer.server.tier,
    )


def _bid_event(command: Command, *, sequence: int) -> book.Event:
    bid = command.bid
    assert bid is not None
    if command.kind == Command.Kind.PLACE_BID:
        return book.PlaceBid(sequence=sequence, bid=book_bid(bid, sequence=sequence))
    return book.CancelBid(sequence=sequence, bid_id=bid.pk)


def _offer_event(command: Command, *, sequence: int) -> book.Event:
    offer = command.offer
    assert offer is not None
    if command.kind == Command.Kind.PLACE_OFFER:
        return book.PlaceOffer(sequence=sequence, offer=book_offer(offer, sequence=sequence))
    return book.WithdrawOffer(sequence=sequence, offer_id=offer.pk)


def _server_event(command: Command, *, sequence: int) -> book.Event:
    assert command.server_id is not None
    if command.kind == Command.Kind.CHANGE_SERVER:
        server = _server(server_id=command.server_id, payload=command.payload)
        return book.ServerChanged(sequence=sequence, server=server)
    return book.Release(
        sequence=sequence,
        server_id=command.server_id,
        from_slot=command.payload["from_slot"],
        to_slot=command.payload["to_slot"],
        gpus=command.payload["gpus"],
        ceiling=_ceiling(command.payload) if "ceiling_micro" in command.payload else None,
    )


def _ceiling(payload: Mapping[str, Any]) -> book.Ceiling:
    return book.Ceiling(
        from_slot=payload["from_slot"],
        to_slot=payload["to_slot"],
        gpus=payload["gpus"],
        price_micro=payload["ceiling_micro"],
        currency=payload["currency"],
    )


def _market_event(command: Command, *, sequence: int) -> book.Event:
    gpu_model = command.payload["gpu_model"]
    if command.payload["state"] == MarketState.State.OPEN:
        return book.Reopen(sequence=sequence, gpu_model=gpu_model)
    return book.Halt(sequence=sequence, gpu_model=gpu_model)


def _server(*, server_id: int, payload: dict[str, int]) -> book.Server:
    return book.Server(
        id=server_id,
        capacity=payload["capacity"],
        setup_slots=payload["setup_slots"],
        suspended=bool(payload["suspended"]),
    )


def _with_offer_facts(offers: QuerySet[Offer]) -> QuerySet[Offer]:
    return offers.select_related("gpu_model", "server").prefetch_related("windows")


def _servers(*, gpu_model_id: int | None) -> list[book.Server]:
    changes = Command.objects.filter(
        kind=Command.Kind.CHANGE_SERVER, sequence__isnull=False, server_id__isnull=False
    )
    if gpu_model_id is not None:
        changes = changes.filter(server__gpu_model_id=gpu_model_id)
    last = changes.order_by("server_id", "-sequence").distinct("server_id")
    return [
        _server(server_id=server_id, payload=payload)
        for server_id, payload in last.values_list("server__pk", "payload")
    ]


def _used(*, since: date, gpu_model_id: int | None) -> dict[int, dict[int, int]]:
    days = ServerDay.objects.filter(day__gte=since)
    if gpu_model_id is not None:
        days = days.filter(server__gpu_model_id=gpu_model_id)
    used: dict[int, dict[int, int]] = {}
    for server_id, day, counts in days.values_list("server_id", "day", "used"):
        used.setdefault(server_id, {}).update(_used_of_day(day, counts=counts))
    return used


def _ceilings(*, since_slot: int, gpu_model_id: int | None) -> dict[int, list[book.Ceiling]]:
    """Return the ceilings that a slot still to come may have, by server."""
    failed = Command.objects.filter(
        kind=Command.Kind.RELEASE_HOURS,
        sequence__isnull=False,
        outcome=DONE,
        payload__has_key="ceiling_micro",
        payload__to_slot__gt=since_slot,
    )
    if gpu_model_id is not None:
        failed = failed.filter(server__gpu_model_id=gpu_model_id)
    ceilings: dict[int, list[book.Ceiling]] = {}
    for server_id, payload in failed.order_by("sequence").values_list("server__pk", "payload"):
        ceilings.setdefault(server_id, []).append(_ceiling(payload))
    return ceilings


def _used_of_day(day: date, *, counts: Iterable[int]) -> dict[int, int]:
    first = first_slot_of(day)
    return {first + offset: count for offset, count in enumerate(counts) if count}


def first_slot_of(day: date) -> int:
    """Return the slot that begins at midnight UTC; the day has ``SLOTS_PER_DAY`` of them."""
    slot = slot_at(datetime.combine(day, time(), tzinfo=UTC))
    assert slot % SLOTS_PER_DAY == 0
    return slot


def _halts() -> dict[str | None, bool]:
    """Return whether the market (under None) and each model with a state of its own is halted."""
    numbered = Command.objects.filter(
        kind=Command.Kind.SET_MARKET_STATE, sequence__isnull=False
    ).order_by("sequence")
    return {
        payload["gpu_model"]: payload["state"] != MarketState.State.OPEN
        for payload in numbered.values_list("payload", flat=True)
    }
