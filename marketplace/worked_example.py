"""One order from the bid to its last hour, as the public page of the rule tells it. Pure.

Nothing here is a figure of its own: the book that matches real orders decides, and the functions
that hold, charge and give back real money count. The story: four offers of one GPU model, a bid for
two GPUs and three hours, a stop of some minutes in the second hour; then the same bid at a lower
limit, which waits until somebody offers less.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from billing.money import Tally, Terms, hold_minor, hour_tally, net_minor, undelivered_share
from marketplace.book.matching import Book
from marketplace.book.outcomes import Decision, Filled, Outcome, Rested
from marketplace.book.types import (
    Bid,
    Clock,
    Fill,
    Offer,
    PlaceBid,
    PlaceOffer,
    Server,
    ServerChanged,
    seconds_of,
    slot_of,
)
from marketplace.early_end import EarlyEnd, end_early
from marketplace.rental_time import Period, hour_period, undelivered_minutes

CURRENCY = "EUR"
BALANCE_MINOR = 10_00
GPUS = 2
HOURS = 3
LIMIT_MICRO = 360_000
LOWER_LIMIT_MICRO = 340_000
PLACED = timedelta(hours=14, minutes=37)
# A stop within the second paid hour, from the last good check to the next one.
STOPPED = (timedelta(hours=16, minutes=52), timedelta(hours=17, minutes=14))
STOPPED_HOUR = 2
SERVED = "served"
NOT_ASKED = "not_asked"

CUSTOMER = 1
SELLER = 2
GPU_MODEL = "example"


@dataclass(frozen=True, slots=True)
class Listing:
    """An offer of the example: when it was listed, what it asks, until when it sells."""

    name: str
    listed: timedelta
    ask_micro: int
    gpus: int
    until: timedelta


LISTINGS = (
    Listing("C", timedelta(hours=8, minutes=3), 350_000, 8, timedelta(hours=17, minutes=45)),
    Listing("D", timedelta(hours=8, minutes=30), 400_000, 8, timedelta(hours=23)),
    Listing("A", timedelta(hours=9, minutes=12), 330_000, 1, timedelta(hours=23)),
    Listing("B", timedelta(hours=10, minutes=40), 350_000, 4, timedelta(hours=23)),
)
LATE_LISTING = Listing("E", timedelta(hours=14, minutes=51), 320_000, 2, timedelta(hours=23))


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """An offer as the bid met it. ``verdict`` is a rule of the book, `SERVED` or `NOT_ASKED`."""

    name: str
    listed_at: datetime
    until: datetime
    ask_micro: int
    gpus: int
    verdict: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """The wallet after an act: ``bid``, ``fill``, ``hour``, ``credit`` or ``end``."""

    at: datetime
    act: str
    paid_minor: int = 0
    held_minor: int = 0
    free_minor: int = 0
    hour: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """The same bid at a lower limit: it waits, and a later offer serves it at its own limit."""

    placed_at: datetime
    ask_micro: int
    listed_at: datetime
    starts_at: datetime
    price_micro: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkedExample:
    """Everything that the page shows. Amounts in minor units of `CURRENCY`, prices in micro-units."""

    placed_at: datetime
    setup_starts_at: datetime
    hours: tuple[Period, ...]
    candidates: tuple[Candidate, ...]
    terms: Terms
    held_minor: int
    price_minor: Tally
    stopped: Period
    stopped_minutes: int
    credit: Tally
    steps: tuple[Step, ...]
    endings: tuple[EarlyEnd, ...]
    waiting: Waiting
    gpus: int = GPUS
    limit_micro: int = LIMIT_MICRO
    lower_limit_micro: int = LOWER_LIMIT_MICRO
    balance_minor: int = BALANCE_MINOR

    @property
    def first_hour(self) -> Period:
        return self.hours[0]

    @property
    def last_hour(self) -> Period:
        return self.hours[-1]

    @property
    def held_vat_minor(self) -> int:
        return self.held_minor - self.held_net_minor

    @property
    def held_net_minor(self) -> int:
        return net_minor(price_micro=LIMIT_MICRO, gpus=GPUS, hours=HOURS)

    @property
    def freed_minor(self) -> int:
        return self.held_minor - self.price_minor.gross_minor

    @property
    def paid_minor(self) -> int:
        return self.price_minor.gross_minor - self.credit.gross_minor


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """What the site has set: tax, the fee of the platform and the fee of an early end."""

    vat_bps: int
    fee_bps: int
    break_fee_bps: int
    setup_slots: int


def work_example(*, midnight: datetime, rates: Rates) -> WorkedExample:
    """Play the story on the day that begins at ``midnight``, in the reader's zone."""
    book = _Market(midnight, setup_slots=rates.setup_slots)
    filled = book.place(limit_micro=LIMIT_MICRO)
    assert isinstance(filled, Filled)
    fill = filled.fill
    starts_at = _time(fill.start_slot, midnight)
    terms = Terms(
        gpus=GPUS,
        customer_price_micro=fill.customer_price_micro,
        seller_price_micro=fill.seller_price_micro,
        vat_bps=rates.vat_bps,
        fee_bps=rates.fee_bps,
    )
    stopped = Period(midnight + STOPPED[0], midnight + STOPPED[1])
    hours = tuple(hour_period(starts_at=starts_at, number=n) for n in range(1, HOURS + 1))
    minutes = undelivered_minutes(hour=hours[STOPPED_HOUR - 1], missing=[stopped])
    credit = undelivered_share(hour=hour_tally(terms=terms, number=STOPPED_HOUR), minutes=minutes)
    held = hold_minor(price_micro=LIMIT_MICRO, gpus=GPUS, hours=HOURS, vat_bps=rates.vat_bps)
    return WorkedExample(
        placed_at=midnight + PLACED,
        setup_starts_at=_time(fill.occupied_from, midnight),
        hours=hours,
        candidates=tuple(_candidates(filled.decision, midnight=midnight)),
        terms=terms,
        held_minor=held,
        price_minor=_sum(hour_tally(terms=terms, number=n) for n in range(1, HOURS + 1)),
        stopped=stopped,
        stopped_minutes=minutes,
        credit=credit,
        steps=tuple(_steps(midnight + PLACED, hours, terms=terms, held=held, credit=credit)),
        endings=tuple(
            end_early(
                terms=terms,
                hours=HOURS,
                begun_hours=begun,
                min_hours=1,
                break_fee_bps=rates.break_fee_bps,
            )
            for begun in range(HOURS + 1)
        ),
        waiting=_wait(midnight, setup_slots=rates.setup_slots),
    )


class _Market:
    """A book with the four offers, in which one bid is placed at a time."""

    def __init__(self, midnight: datetime, *, setup_slots: int) -> None:
        self._midnight = midnight
        self._setup_slots = setup_slots
        self._book = Book()
        for listing in LISTINGS:
            self.list(listing)

    def list(self, listing: Listing) -> Fill | None:
        """List an offer; return the fill of the bid that it served, if any."""
        number = ord(listing.name)
        self._tell_time(listing.listed)
        server = Server(id=number, capacity=listing.gpus, setup_slots=self._setup_slots)
        self._book.apply(ServerChanged(sequence=self._next(), server=server))
        offer = Offer(
            id=number,
            sequence=self._next(),
            server_id=number,
            seller_group=SELLER,
            gpu_model=GPU_MODEL,
            ask_micro=listing.ask_micro,
            currency=CURRENCY,
            windows=((self._slot(listing.listed), self._slot(listing.until)),),
        )
        outcomes = self._book.apply(PlaceOffer(sequence=offer.sequence, offer=offer))
        return next((one.fill for one in outcomes if isinstance(one, Filled)), None)

    def place(self, *, limit_micro: int) -> Outcome:
        """Place the bid; return the book's answer."""
        self._tell_time(PLACED)
        bid = Bid(
            id=1,
            sequence=self._next(),
            buyer_group=CUSTOMER,
            gpu_model=GPU_MODEL,
            gpus=GPUS,
            hours=HOURS,
            limit_micro=limit_micro,
            currency=CURRENCY,
            earliest_start=self._slot(PLACED),
            latest_start=self._slot(timedelta(days=1)),
            is_buy_now=False,
            placed_at=self._book.now_seconds,
        )
        (answer,) = self._book.apply(PlaceBid(sequence=bid.sequence, bid=bid))
        return answer

    def _tell_time(self, moment: timedelta) -> None:
        seconds = int((self._midnight + moment).timestamp())
        self._book.apply(Clock(sequence=self._next(), now_seconds=seconds))

    def _next(self) -> int:
        return self._book.last_sequence + 1

    def _slot(self, moment: timedelta) -> int:
        return slot_of(int((self._midnight + moment).timestamp()))


def _wait(midnight: datetime, *, setup_slots: int) -> Waiting:
    market = _Market(midnight, setup_slots=setup_slots)
    answer = market.place(limit_micro=LOWER_LIMIT_MICRO)
    assert isinstance(answer, Rested)
    fill = market.list(LATE_LISTING)
    assert fill is not None
    return Waiting(
        placed_at=midnight + PLACED,
        ask_micro=LATE_LISTING.ask_micro,
        listed_at=midnight + LATE_LISTING.listed,
        starts_at=_time(fill.start_slot, midnight),
        price_micro=fill.customer_price_micro,
    )


def _candidates(decision: Decision, *, midnight: datetime) -> Iterator[Candidate]:
    """Yield the offers in the order in which the book looks at them."""
    excluded = {one.offer_id: one.rule.value for one in decision.excluded}
    for listing in sorted(LISTINGS, key=lambda one: (one.ask_micro, one.listed)):
        number = ord(listing.name)
        yield Candidate(
            name=listing.name,
            listed_at=midnight + listing.listed,
            until=midnight + listing.until,
            ask_micro=listing.ask_micro,
            gpus=listing.gpus,
            verdict=SERVED if number == decision.chosen else excluded.get(number, NOT_ASKED),
        )


def _steps(
    placed_at: datetime, hours: tuple[Period, ...], *, terms: Terms, held: int, credit: Tally
) -> Iterator[Step]:
    """Yield the wallet after each act; balance less held is free."""
    balance = BALANCE_MINOR
    wallet = Step(at=placed_at, act="bid", held_minor=held, free_minor=balance - held)
    yield wallet
    tallies = [hour_tally(terms=terms, number=number) for number in range(1, len(hours) + 1)]
    held = sum(tally.gross_minor for tally in tallies)
    yield replace(wallet, act="fill", held_minor=held, free_minor=balance - held)
    for number, (hour, tally) in enumerate(zip(hours, tallies, strict=True), start=1):
        held, balance = held - tally.gross_minor, balance - tally.gross_minor
        yield Step(
            at=hour.starts_at,
            act="hour",
            hour=number,
            paid_minor=tally.gross_minor,
            held_minor=held,
            free_minor=balance - held,
        )
        if number == STOPPED_HOUR + 1:
            balance += credit.gross_minor
            yield Step(
                at=hour.starts_at,
                act="credit",
                hour=STOPPED_HOUR,
                paid_minor=-credit.gross_minor,
                held_minor=held,
                free_minor=balance - held,
            )
    yield Step(at=hours[-1].ends_at, act="end", held_minor=held, free_minor=balance - held)


def _sum(tallies: Iterator[Tally]) -> Tally:
    total = Tally(net_minor=0, vat_minor=0, seller_minor=0)
    for tally in tallies:
        total = Tally(
            total.net_minor + tally.net_minor,
            total.vat_minor + tally.vat_minor,
            total.seller_minor + tally.seller_minor,
        )
    return total


def _time(slot: int, midnight: datetime) -> datetime:
    return datetime.fromtimestamp(seconds_of(slot), tz=UTC).astimezone(midnight.tzinfo)
