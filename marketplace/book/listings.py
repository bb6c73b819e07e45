"""What a market has on its shelves: the best buyable offers, and how many free hours there are.

An offer counts as buyable when its smallest size can be bought at its ask from its own next P, as
a quote does: the first listing of a market that sells single GPUs by the hour is its quote. Free
time is counted slot by slot, only as many GPUs at once as a bid could take, set-up slots included.
"""

from dataclasses import dataclass

from marketplace.book.calendar import ServerCalendar
from marketplace.book.search import Supply, quoted_start
from marketplace.book.types import (
    MAX_HOURS,
    SLOT_SECONDS,
    SLOTS_PER_HOUR,
    Offer,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """A buyable offer, its next P for its smallest size, and how much more it sells from there.

    ``max_gpus`` are free for ``min_hours`` and ``min_gpus`` for ``max_hours``.
    """

    offer: Offer
    start_slot: int
    min_gpus: int
    max_gpus: int
    max_hours: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Shelf:
    """The best listings of a market, the number of all, and its free GPU-slots ahead."""

    best: tuple[Listing, ...]
    buyable: int
    free_gpu_slots: int


def shelf_of(*, supply: Supply, most: int, slots_ahead: int) -> Shelf:
    """Describe what a market sells: at most ``most`` listings, free time in ``slots_ahead``."""
    first_slot = -(-supply.now_seconds // SLOT_SECONDS)
    slots_counted = range(first_slot, first_slot + slots_ahead)
    best: list[Listing] = []
    buyable = free_gpu_slots = 0
    for offer in supply.offers:
        calendar = supply.calendars[offer.server_id]
        at_ask = calendar.at_price(price_micro=offer.ask_micro, currency=offer.currency)
        free_gpu_slots += _free_gpu_slots(offer, at_ask, slots=slots_counted)
        start_slot = _start_of_smallest(offer, calendar, now_seconds=supply.now_seconds)
        if start_slot is not None:
            buyable += 1
            if len(best) < most:
                best.append(_listing(offer, at_ask, start_slot=start_slot))
    return Shelf(best=tuple(best), buyable=buyable, free_gpu_slots=free_gpu_slots)


def smallest_size(offer: Offer) -> int:
    """Return the fewest GPUs that the offer sells: the first of its steps at its minimum."""
    return -(-offer.min_gpus // offer.gpu_step) * offer.gpu_step


def _start_of_smallest(offer: Offer, calendar: ServerCalendar, *, now_seconds: int) -> int | None:
    return quoted_start(
        offer=offer,
        calendar=calendar,
        gpus=smallest_size(offer),
        hours=offer.min_hours,
        now_seconds=now_seconds,
    )


def _listing(offer: Offer, calendar: ServerCalendar, *, start_slot: int) -> Listing:
    smallest = smallest_size(offer)
    setup_from = start_slot - calendar.server.setup_slots
    least = range(setup_from, start_slot + offer.min_hours * SLOTS_PER_HOUR)
    free = min(calendar.free_counts(slots=least))
    return Listing(
        offer=offer,
        start_slot=start_slot,
        min_gpus=smallest,
        max_gpus=free - free % offer.gpu_step,
        max_hours=_hours_in_a_row(offer, calendar, start_slot=start_slot, gpus=smallest),
    )


def _hours_in_a_row(offer: Offer, calendar: ServerCalendar, *, start_slot: int, gpus: int) -> int:
    window_to = next(to for start, to in offer.windows if start <= start_slot < to)
    last = min(window_to, start_slot + MAX_HOURS * SLOTS_PER_HOUR)
    blocked = calendar.first_blocked(slots=range(start_slot, last), gpus=gpus)
    return (blocked - start_slot) // SLOTS_PER_HOUR


def _free_gpu_slots(offer: Offer, calendar: ServerCalendar, *, slots: range) -> int:
    smallest, step = smallest_size(offer), offer.gpu_step
    return sum(
        free - free % step
        for start, to in offer.windows
        for free in calendar.free_counts(slots=range(max(start, slots.start), min(to, slots.stop)))
        if free >= smallest
    )
