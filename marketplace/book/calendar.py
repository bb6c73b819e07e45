"""Count the GPUs in use per server and slot, and find the earliest start that fits.

A rental occupies its set-up slots and then its paid slots, all inside one window of the offer. The
paid start is the first slot boundary at least `SETUP_MARGIN_SECONDS` away whose set-up slots are
free; the first set-up slot may be the running one. Counts only: which physical GPU serves is
decided when the set-up begins.

Hours that a failed rental left have a ceiling: to a higher price they count as in use.

Known limits: the scan walks slot by slot; counts and ceilings of past slots stay until the next
restore. A ceiling holds for its number of GPUs also while those are sold again, so a server with
further GPUs may for that time keep one more from a higher price. Set-up slots count as sold ones.
"""

from collections import Counter
from collections.abc import Iterable, Mapping

from marketplace.book.types import (
    SETUP_MARGIN_SECONDS,
    SLOT_SECONDS,
    SLOTS_PER_HOUR,
    Ceiling,
    Server,
    Windows,
    slot_of,
)


def earliest_paid_start(*, now_seconds: int, setup_slots: int) -> int:
    """Return the first paid slot that a server with nothing in use could still meet."""
    after_margin = -(-(now_seconds + SETUP_MARGIN_SECONDS) // SLOT_SECONDS)
    return max(after_margin, slot_of(now_seconds) + setup_slots)


def merge_windows(windows: Windows) -> Windows:
    """Return the same slots as sorted ranges that neither overlap nor touch."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(windows):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return tuple(merged)


class ServerCalendar:
    """One server and its GPUs in use per slot. Slots without use have no entry."""

    __slots__ = ("_used", "ceilings", "server")

    def __init__(
        self,
        *,
        server: Server,
        used: Mapping[int, int] | None = None,
        ceilings: Iterable[Ceiling] = (),
    ) -> None:
        self.server = server
        self.ceilings = list(ceilings)
        self._used = {slot: count for slot, count in (used or {}).items() if count}

    def used_counts(self) -> dict[int, int]:
        """Return a copy of the GPUs in use, by slot."""
        return dict(sorted(self._used.items()))

    def least_used(self, *, slots: range) -> int:
        """Return the GPUs in use in the least used slot of the range; zero when it is empty."""
        return min((self._used.get(slot, 0) for slot in slots), default=0)

    def free_counts(self, *, slots: range) -> list[int]:
        """Return the GPUs free in each slot of the range, in order."""
        capacity, used = self.server.capacity, self._used
        # Under a ceiling more may count as in use than the server has.
        return [max(0, capacity - used.get(slot, 0)) for slot in slots]

    def first_blocked(self, *, slots: range, gpus: int) -> int:
        """Return the first slot of the range with fewer GPUs free, its end when there is none."""
        most_used = self.server.capacity - gpus
        blocked = (slot for slot, used in self._used.items() if used > most_used and slot in slots)
        return min(blocked, default=slots.stop)

    def book(self, *, slots: range, gpus: int) -> None:
        """Take GPUs in every slot of the range."""
        for slot in slots:
            self._used[slot] = self._used.get(slot, 0) + gpus
            assert self._used[slot] <= self.server.capacity

    def release(self, *, slots: range, gpus: int) -> None:
        """Give GPUs back in every slot of the range."""
        for slot in slots:
            left = self._used.get(slot, 0) - gpus
            assert left >= 0
            if left:
                self._used[slot] = left
            else:
                self._used.pop(slot, None)

    def at_price(self, *, price_micro: int, currency: str) -> "ServerCalendar":
        """Return the calendar as this price sees it: what may not be sold at it counts as in use.

        For reading only: it is the calendar itself when no ceiling is in the way.
        """
        closed = [
            ceiling
            for ceiling in self.ceilings
            if not ceiling.allows(price_micro=price_micro, currency=currency)
        ]
        if not closed:
            return self
        used = Counter(self._used)
        for ceiling in closed:
            used.update(dict.fromkeys(range(ceiling.from_slot, ceiling.to_slot), ceiling.gpus))
        return ServerCalendar(server=self.server, used=used)

    def highest_price(self, *, slots: range, gpus: int, price_micro: int, currency: str) -> int:
        """Return the most, up to ``price_micro``, that these slots may be sold at.

        They must be free at some price.
        """
        lower = {c.price_micro for c in self.ceilings if c.currency == currency}
        prices = [price_micro, *sorted((p for p in lower if p < price_micro), reverse=True)]
        return next(
            price
            for price in prices
            if self.at_price(price_micro=price, currency=currency).is_free(slots=slots, gpus=gpus)
        )

    def is_free(self, *, slots: range, gpus: int) -> bool:
        """Say whether so many GPUs are free in every slot of the range."""
        return self._last_blocked(gpus=gpus, slots=slots) is None

    def earliest_start(
        self, *, gpus: int, hours: int, windows: Windows, first: int, last: int
    ) -> int | None:
        """Return the earliest paid start in ``[first, last]`` that fits, or None.

        ``windows`` are merged ones. ``first`` must already respect `earliest_paid_start`.
        """
        setup_slots = self.server.setup_slots
        length = setup_slots + hours * SLOTS_PER_HOUR
        for window_from, window_to in windows:
            begin = self._first_run(
                gpus=gpus,
                length=length,
                lowest=max(first - setup_slots, window_from),
                highest=min(last - setup_slots, window_to - length),
            )
            if begin is not None:
                return begin + setup_slots
        return None

    def next_start(
        self, *, gpus: int, hours: int, windows: Windows, now_seconds: int
    ) -> int | None:
        """Return P: the first reachable paid slot whose set-up slots are free.

        The window must leave room for the hours after P; whether they are free is not asked.
        """
        setup_slots = self.server.setup_slots
        first = earliest_paid_start(now_seconds=now_seconds, setup_slots=setup_slots)
        for window_from, window_to in windows:
            begin = self._first_run(
                gpus=gpus,
                length=setup_slots,
                lowest=max(first - setup_slots, window_from),
                highest=window_to - setup_slots - hours * SLOTS_PER_HOUR,
            )
            if begin is not None:
                return begin + setup_slots
        return None

    def _first_run(self, *, gpus: int, length: int, lowest: int, highest: int) -> int | None:
        begin = lowest
        while begin <= highest:
            blocked = self._last_blocked(gpus=gpus, slots=range(begin, begin + length))
            if blocked is None:
                return begin
            # Every begin up to the blocked slot would occupy it too.
            begin = blocked + 1
        return None

    def _last_blocked(self, *, gpus: int, slots: range) -> int | None:
        most_used = self.server.capacity - gpus
        for slot in reversed(slots):
            if self._used.get(slot, 0) > most_used:
                return slot
        return None
