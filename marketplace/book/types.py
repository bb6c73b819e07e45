"""Plain values of the order book: time grid, orders, fills and events.

A slot is an integer: the number of quarter hours since the Unix epoch, UTC. Ranges of slots are
``[from, to)``. Prices are whole micro-units of a currency per GPU-hour. Nothing here reads a
clock; what comes from outside is validated before it becomes one of these values, and the
assertions only guard our own invariants.
"""

from dataclasses import dataclass

SLOT_MINUTES = 15
SLOT_SECONDS = SLOT_MINUTES * 60
SLOTS_PER_HOUR = 60 // SLOT_MINUTES
SETUP_MARGIN_SECONDS = 300
MAX_HOURS = 168
HORIZON_DAYS = 28
BUY_NOW_STALE_SECONDS = 30

Windows = tuple[tuple[int, int], ...]


def slot_of(seconds: int) -> int:
    """Return the slot that is running at these Unix seconds."""
    return seconds // SLOT_SECONDS


def seconds_of(slot: int) -> int:
    """Return the Unix seconds at which a slot begins."""
    return slot * SLOT_SECONDS


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A machine with identical GPUs. ``capacity`` counts the healthy ones."""

    id: int
    capacity: int
    setup_slots: int
    suspended: bool = False

    def __post_init__(self) -> None:
        assert self.capacity >= 0
        assert self.setup_slots >= 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """Hours of one server for sale. ``sequence`` is its place in time."""

    id: int
    sequence: int
    server_id: int
    seller_group: int
    gpu_model: str
    ask_micro: int
    currency: str
    windows: Windows
    min_gpus: int = 1
    gpu_step: int = 1
    min_hours: int = 1
    region: str = ""
    tier: str = ""

    def __post_init__(self) -> None:
        assert self.ask_micro > 0
        assert self.windows
        assert all(start < end for start, end in self.windows)
        assert min(self.min_gpus, self.gpu_step, self.min_hours) >= 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Bid:
    """A customer's order: all of it on one server, or nothing.

    ``earliest_start`` and ``latest_start`` are slots of paid time, both inclusive. An empty set of
    regions or tiers accepts any.
    """

    id: int
    sequence: int
    buyer_group: int
    gpu_model: str
    gpus: int
    hours: int
    limit_micro: int
    currency: str
    earliest_start: int
    latest_start: int
    is_buy_now: bool
    placed_at: int
    regions: frozenset[str] = frozenset()
    tiers: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        assert self.gpus >= 1
        assert 1 <= self.hours <= MAX_HOURS
        assert self.limit_micro > 0
        assert self.earliest_start <= self.latest_start


@dataclass(frozen=True, slots=True, kw_only=True)
class Fill:
    """The match of one bid with one offer. ``start_slot`` is the first paid slot."""

    bid_id: int
    offer_id: int
    server_id: int
    start_slot: int
    hours: int
    gpus: int
    setup_slots: int
    customer_price_micro: int
    seller_price_micro: int
    sequence: int

    @property
    def occupied_from(self) -> int:
        """The first set-up slot, the start of what the calendar counts."""
        return self.start_slot - self.setup_slots

    @property
    def end_slot(self) -> int:
        """The end of paid time, exclusive."""
        return self.start_slot + self.hours * SLOTS_PER_HOUR

    @property
    def occupied_slots(self) -> range:
        return range(self.occupied_from, self.end_slot)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ceiling:
    """GPUs of a server that sell at most at a price in ``[from_slot, to_slot)``."""

    from_slot: int
    to_slot: int
    gpus: int
    price_micro: int
    currency: str

    def allows(self, *, price_micro: int, currency: str) -> bool:
        """Say whether a price is at or below the ceiling. In another currency none is, for now."""
        return currency == self.currency and price_micro <= self.price_micro


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock:
    """Time has come to ``now_seconds``."""

    sequence: int
    now_seconds: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceBid:
    sequence: int
    bid: Bid

    def __post_init__(self) -> None:
        assert self.bid.sequence == self.sequence


@dataclass(frozen=True, slots=True, kw_only=True)
class CancelBid:
    sequence: int
    bid_id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceOffer:
    sequence: int
    offer: Offer

    def __post_init__(self) -> None:
        assert self.offer.sequence == self.sequence


@dataclass(frozen=True, slots=True, kw_only=True)
class WithdrawOffer:
    sequence: int
    offer_id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerChanged:
    """A server was added, or its capacity, set-up time or suspension changed."""

    sequence: int
    server: Server


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """Sold hours come back to a server: ``gpus`` fewer in use in ``[from_slot, to_slot)``.

    With a ceiling the server failed them: they may be sold again only at or below it.
    """

    sequence: int
    server_id: int
    from_slot: int
    to_slot: int
    gpus: int
    ceiling: Ceiling | None = None

    def __post_init__(self) -> None:
        assert self.from_slot <= self.to_slot
        assert self.gpus >= 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Halt:
    """Stop fills of one GPU model, or of all when it is None."""

    sequence: int
    gpu_model: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reopen:
    """Undo the halt of one GPU model, or the general halt when it is None."""

    sequence: int
    gpu_model: str | None = None


Event = (
    Clock
    | PlaceBid
    | CancelBid
    | PlaceOffer
    | WithdrawOffer
    | ServerChanged
    | Release
    | Halt
    | Reopen
)
