"""Orders for the book's example tests: say only what the test is about."""

from typing import Any

from marketplace.book.matching import Book
from marketplace.book.types import (
    Bid,
    Clock,
    Offer,
    PlaceBid,
    PlaceOffer,
    Server,
    ServerChanged,
    slot_of,
)

MIDNIGHT_SECONDS = 1_800_057_600  # a midnight, UTC


def at(time: str) -> int:
    """Unix seconds of a time of the test's day."""
    hour, minute, second = (*map(int, time.split(":")), 0)[:3]
    return MIDNIGHT_SECONDS + hour * 3600 + minute * 60 + second


def slot(time: str) -> int:
    return slot_of(at(time))


class Market:
    """A book that numbers what it is told. Order ids are sequence numbers.

    Answers are not typed: a test says which outcome it expects by using it.
    """

    def __init__(self, now: str = "14:30") -> None:
        self.book = Book(now_seconds=at(now))

    @property
    def next_sequence(self) -> int:
        return self.book.last_sequence + 1

    def tell(self, kind: Any, **values) -> list[Any]:
        """Apply an event of this kind."""
        return list(self.book.apply(kind(sequence=self.next_sequence, **values)))

    def server(self, number: int, **attributes) -> list[Any]:
        defaults: dict[str, Any] = {"id": number, "capacity": 8, "setup_slots": 1}
        server = Server(**{**defaults, **attributes})
        return self.tell(ServerChanged, server=server)

    def clock(self, now: str) -> list[Any]:
        return self.tell(Clock, now_seconds=at(now))

    def offer(self, server_id: int, **attributes) -> list[Any]:
        """Place an offer; its server is added when the book does not know it."""
        known = {server.id for server in self.book.snapshot().servers}
        if server_id not in known:
            self.server(server_id)
        offer = new_offer(self.next_sequence, server_id=server_id, **attributes)
        return self.tell(PlaceOffer, offer=offer)

    def bid(self, **attributes) -> Any:
        bid = self.new_bid(**attributes)
        (answer,) = self.tell(PlaceBid, bid=bid)
        return answer

    def new_bid(self, **attributes) -> Bid:
        defaults: dict[str, Any] = {
            "id": self.next_sequence,
            "sequence": self.next_sequence,
            "buyer_group": 1,
            "gpu_model": "h100-sxm",
            "gpus": 1,
            "hours": 1,
            "limit_micro": 600_000,
            "currency": "EUR",
            "earliest_start": slot_of(self.book.now_seconds),
            "latest_start": slot("23:00"),
            "is_buy_now": False,
            "placed_at": self.book.now_seconds,
        }
        return Bid(**{**defaults, **attributes})


def new_offer(sequence: int, **attributes) -> Offer:
    defaults: dict[str, Any] = {
        "id": sequence,
        "sequence": sequence,
        "seller_group": 2,
        "gpu_model": "h100-sxm",
        "ask_micro": 500_000,
        "currency": "EUR",
        "windows": ((slot("14:00"), slot("23:00")),),
        "region": "fr",
        "tier": "secure",
    }
    return Offer(**{**defaults, **attributes})
