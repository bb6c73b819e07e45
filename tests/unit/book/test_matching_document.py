"""The worked example of the matching document is what the book does."""

import re
from dataclasses import dataclass
from pathlib import Path

from marketplace.book.matching import Book
from marketplace.book.outcomes import (
    Cancelled,
    Expired,
    Filled,
    Listed,
    NotOpen,
    Outcome,
    Refused,
    Rested,
    Withdrawn,
)
from marketplace.book.types import (
    Bid,
    CancelBid,
    Clock,
    Event,
    Offer,
    PlaceBid,
    PlaceOffer,
    Release,
    Server,
    ServerChanged,
    WithdrawOffer,
    slot_of,
)

DOCUMENT = Path(__file__).parents[3] / "docs" / "algorithms" / "matching.md"
DAY_SECONDS = 1_800_057_600  # a midnight, UTC
SERVERS = (
    Server(id=1, capacity=2, setup_slots=1),
    Server(id=2, capacity=8, setup_slots=1),
    Server(id=3, capacity=8, setup_slots=1),
)
PLAIN_WORDS: dict[type, str] = {
    Listed: "listed",
    Withdrawn: "withdrawn",
    Cancelled: "cancelled",
    NotOpen: "not open",
}


@dataclass(frozen=True)
class Row:
    number: int
    time: str
    event: str
    server: str
    gpus: str
    hours: str
    price: str
    note: str
    outcome: str

    @property
    def sequence(self) -> int:
        return 10 + 2 * self.number

    def noted(self, word: str, default: str = "") -> str:
        found = re.search(rf"{word} (\S+)", self.note)
        return found[1] if found else default


def test_the_worked_example_of_the_document_is_what_the_book_does():
    book = Book(now_seconds=DAY_SECONDS)
    for sequence, server in enumerate(SERVERS, start=1):
        book.apply(ServerChanged(sequence=sequence, server=server))

    rows = document_rows()
    told = [(row.number, "; ".join(tell(outcome) for outcome in play(book, row))) for row in rows]

    assert len(rows) == 19
    assert told == [(row.number, row.outcome) for row in rows]


def document_rows() -> list[Row]:
    lines = DOCUMENT.read_text(encoding="utf-8").splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [Row(int(row[0]), *row[1:]) for row in cells if row[0].isdigit()]


def play(book: Book, row: Row) -> list[Outcome]:
    clock = Clock(sequence=row.sequence - 1, now_seconds=seconds(row.time))
    outcomes = book.apply(clock)
    return outcomes if row.event == "clock" else outcomes + book.apply(event_of(row))


def event_of(row: Row) -> Event:
    match row.event:
        case "offer":
            return PlaceOffer(sequence=row.sequence, offer=offer_of(row))
        case "bid" | "buy now":
            return PlaceBid(sequence=row.sequence, bid=bid_of(row))
        case "withdraw":
            return WithdrawOffer(sequence=row.sequence, offer_id=int(row.noted("of")))
        case "cancel":
            return CancelBid(sequence=row.sequence, bid_id=int(row.noted("of")))
        case "release":
            return Release(
                sequence=row.sequence,
                server_id=int(row.server),
                from_slot=slot_of(seconds(row.noted("from"))),
                to_slot=slot_of(seconds(row.noted("to"))),
                gpus=int(row.gpus),
            )
    raise AssertionError(row)


def offer_of(row: Row) -> Offer:
    return Offer(
        id=row.number,
        sequence=row.sequence,
        server_id=int(row.server),
        seller_group=1,
        gpu_model="h100-sxm",
        ask_micro=micro(row.price),
        currency="EUR",
        windows=((slot_of(seconds("14:00")), slot_of(seconds("20:00"))),),
    )


def bid_of(row: Row) -> Bid:
    return Bid(
        id=row.number,
        sequence=row.sequence,
        buyer_group=2,
        gpu_model="h100-sxm",
        gpus=int(row.gpus),
        hours=int(row.hours),
        limit_micro=micro(row.price),
        currency="EUR",
        earliest_start=slot_of(seconds(row.time)),
        latest_start=slot_of(seconds(row.noted("until", "18:00"))),
        is_buy_now=row.event == "buy now",
        placed_at=seconds(row.time),
    )


def tell(outcome: Outcome) -> str:
    match outcome:
        case Filled(fill=fill):
            thousandths = fill.customer_price_micro // 1000
            price = f"{thousandths // 1000}.{thousandths % 1000:03}"
            return (
                f"{fill.bid_id} filled by {fill.offer_id} at {clock(fill.start_slot)} for {price}"
            )
        case Rested(decision=decision):
            return f"waits: {decision.reason}"
        case Refused(reason=reason):
            return f"refused: {reason}"
        case Expired(bid_id=bid_id):
            return f"{bid_id} expired"
        case _:
            return PLAIN_WORDS[type(outcome)]


def micro(price: str) -> int:
    units, thousandths = price.split(".")
    return int(units) * 1_000_000 + int(thousandths) * 1000


def seconds(time: str) -> int:
    hour, minute, second = (*map(int, time.split(":")), 0)[:3]
    return DAY_SECONDS + hour * 3600 + minute * 60 + second


def clock(slot: int) -> str:
    minutes = (slot * 900 - DAY_SECONDS) // 60
    return f"{minutes // 60}:{minutes % 60:02}"
