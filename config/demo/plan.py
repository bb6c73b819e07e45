"""What happens in the demo's history, and when: the same plan from the same seed.

Times are whole minutes before the end of the history. The plan says who wants what; prices and
matches are the exchange's answer. Pure: no database, no clock.
"""

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from billing.money import MICRO_PER_MINOR, Currency
from config.demo.acts import DAY, HOUR, Act, Fate, Listing, Order, early_in
from config.demo.camille import camilles_story
from config.demo.cast import (
    CAMILLE,
    CERTIFIED,
    CUSTOMERS,
    FEATURED,
    OTHERS,
    Card,
    Customer,
    Machine,
    machines,
)

SEED = 20_260
# GPUs of an order, 0 for all of a machine; hours of one.
_SIZES = (1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 0)
_LENGTHS = (1, 1, 2, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5, 6, 6, 8, 8, 10, 12, 24)
LONGEST_OF_MANY = 6
FEWEST_TO_STOP = 3
# Orders of the last day and a half are small, so that the best offers keep free GPUs.
QUIET_END = 36 * HOUR
# Hours before the end in which the last day's short orders come in; all are over by the end.
LAST_DAYS_HOURS = (29, 26, 23, 20, 17, 14, 11, 8, 5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """How large a world is. ``fills_per_market`` is roughly what is ordered in each currency."""

    days: int
    cards: tuple[Card, ...]
    orders: dict[Currency, int]
    bursts_per_day: int
    has_camilles_story: bool = True


FULL = Scale(
    days=21,
    cards=FEATURED + OTHERS,
    orders={Currency.USD: 18, Currency.EUR: 7, Currency.GBP: 6},
    bursts_per_day=5,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The cast and the acts of a history, in order of time."""

    days: int
    machines: tuple[Machine, ...]
    customers: tuple[Customer, ...]
    acts: tuple[Act, ...]


def build_plan(*, scale: Scale = FULL, seed: int = SEED) -> Plan:
    """Return the plan of a world: the same for the same scale and seed."""
    chance = random.Random(seed)  # noqa: S311  a story, not a secret
    fleet = machines(scale.cards)
    bursts = _bursts(scale, chance)
    acts: list[Act] = [
        *_listings(fleet, scale, chance),
        *_orders(fleet, scale, bursts, chance),
        *_last_days_orders(fleet),
        *_waiting_orders(fleet, scale),
        *(camilles_story() if scale.has_camilles_story else ()),
    ]
    acts.sort(key=lambda act: -act.minute)
    return Plan(days=scale.days, machines=fleet, customers=CUSTOMERS, acts=tuple(acts))


def _bursts(scale: Scale, chance: random.Random) -> list[int]:
    """Return the minutes in which orders come in, oldest first.

    All in an hour's first quarter: machines delivered by hand then start on the hour, so that one
    step serves many of them.
    """
    hours = range(6, scale.days * 24 - 12)
    chosen = chance.sample(hours, min(len(hours), scale.days * scale.bursts_per_day))
    return sorted((early_in(hour, chance.randrange(2, 12)) for hour in chosen), reverse=True)


def _listings(fleet: Sequence[Machine], scale: Scale, chance: random.Random) -> Iterator[Listing]:
    """Yield three listings of each machine: at the start, past the middle, in the last days."""
    hours = scale.days * 24
    for number, machine in enumerate(fleet):
        first, second = chance.choice(((112, 107), (95, 106), (103, 109), (98, 105)))
        # A few at a time, an hour apart.
        batch = number // 6
        for hour, ask_micro in (
            (hours - 1, _part(machine, first)),
            (hours * 11 // 20 - batch, _part(machine, second)),
            (_last_listing(scale) - batch, machine.ask_micro),
        ):
            yield Listing(minute=early_in(hour), machine=machine, ask_micro=ask_micro)


def _last_listing(scale: Scale) -> int:
    """Return how many hours before the end the last listings begin."""
    return scale.days * 24 // 5


def _part(machine: Machine, percent: int) -> int:
    """Return the machine's last ask times a percentage, up to the next cent."""
    cents = -(-machine.ask_micro * percent // (100 * MICRO_PER_MINOR))
    return cents * MICRO_PER_MINOR


def _orders(
    fleet: Sequence[Machine], scale: Scale, bursts: Sequence[int], chance: random.Random
) -> Iterator[Order]:
    """Yield the orders of every market, spread over the whole history."""
    for machine in fleet:
        if not machine.is_best:
            continue
        buyers = [one for one in CUSTOMERS if machine.currency in one.currencies]
        count = scale.orders[machine.currency] if machine.card.is_featured else 6
        turn = chance.randrange(len(buyers))
        for number in range(count):
            place = int((number + chance.random()) * len(bursts) / count)
            buyer = buyers[(turn + number) % len(buyers)]
            yield _order(machine, buyer, minute=bursts[place], number=number, chance=chance)


def _order(
    machine: Machine, buyer: Customer, *, minute: int, number: int, chance: random.Random
) -> Order:
    is_certified = _wants_certified(machine, number=number)
    gpus = 1 if is_certified or minute < QUIET_END else chance.choice(_SIZES) or machine.gpus
    hours = chance.choice(_LENGTHS)
    return Order(
        minute=minute,
        customer=buyer,
        card=machine.card,
        currency=machine.currency,
        gpus=min(gpus, machine.gpus),
        hours=min(hours, LONGEST_OF_MANY) if gpus > 2 else hours,  # noqa: PLR2004  a pair is few
        # A bid above any ask fills at once at the ask; the rest buys now.
        limit_micro=_part(machine, 130) if chance.randrange(5) < 3 else None,  # noqa: PLR2004
        tiers=(CERTIFIED,) if is_certified else (),
        fate=_fate(minute, hours=hours, chance=chance),
    )


def _wants_certified(machine: Machine, *, number: int) -> bool:
    """Say whether an order insists on a certified data centre, and so passes the best offer by."""
    is_offered = machine.card.is_featured and machine.currency == Currency.USD
    return is_offered and number % 4 == 1


def _fate(minute: int, *, hours: int, chance: random.Random) -> Fate:
    """Return what becomes of an order: of a hundred, one machine is late and two are left early."""
    roll = chance.randrange(100)
    if minute < DAY:
        return Fate.SERVED
    if roll == 0:
        return Fate.LATE
    return Fate.STOPPED if roll <= 3 and hours >= FEWEST_TO_STOP else Fate.SERVED  # noqa: PLR2004


def _last_days_orders(fleet: Sequence[Machine]) -> Iterator[Order]:
    """Yield short orders of the last day in dollars, so that its curve of prices has points."""
    for number, machine in enumerate(fleet):
        if not (machine.is_best and machine.card.is_featured and machine.currency == Currency.USD):
            continue
        buyers = [one for one in CUSTOMERS if Currency.USD in one.currencies and one != CAMILLE]
        for place, hours_before in enumerate(LAST_DAYS_HOURS):
            yield Order(
                minute=early_in(hours_before),
                customer=buyers[(number + place) % len(buyers)],
                card=machine.card,
                currency=machine.currency,
                gpus=1,
                hours=1 + (number + place) % 3,
                tiers=(CERTIFIED,) if (number + place) % 4 == 0 else (),
            )


def _waiting_orders(fleet: Sequence[Machine], scale: Scale) -> Iterator[Order]:
    """Yield the orders that rest: some fill at a new listing, some are cancelled, expire or wait."""
    for number, machine in enumerate(fleet):
        if not (machine.is_best and machine.card.is_featured):
            continue
        # The customer whose login everybody has tells a story of her own.
        buyers = [one for one in CUSTOMERS if machine.currency in one.currencies and one != CAMILLE]
        yield from _resting(machine, buyers, number=number, relisted=_last_listing(scale))
        if number % 3 == 0:
            yield from _evening(machine, buyers[number % len(buyers)], number=number)


def _evening(machine: Machine, buyer: Customer, *, number: int) -> Iterator[Order]:
    """Yield an order that still runs at the end of the history."""
    yield Order(
        minute=early_in(3 + number % 4),
        customer=buyer,
        card=machine.card,
        currency=machine.currency,
        gpus=1,
        hours=10 + number % 7,
    )


def _resting(
    machine: Machine, buyers: Sequence[Customer], *, number: int, relisted: int
) -> Iterator[Order]:
    cases: Iterable[tuple[int, int, int, Fate]] = (
        # hours before the end, percent of the last ask, how long it waits, fate
        (relisted + 9, 103, 2 * DAY, Fate.SERVED),
        (relisted - 8, 91, 8 * HOUR, Fate.CANCELLED if number % 3 == 0 else Fate.SERVED),
        (4 + number % 4, 95, 3 * DAY, Fate.SERVED),
        (2 + number % 3, 88, 2 * DAY, Fate.SERVED),
    )
    for place, (hours_before, percent, waits, fate) in enumerate(cases):
        cents = machine.ask_micro * percent // (100 * MICRO_PER_MINOR)
        yield Order(
            minute=early_in(hours_before),
            customer=buyers[(number + 5 * place) % len(buyers)],
            card=machine.card,
            currency=machine.currency,
            gpus=1,
            hours=(2, 4, 6, 3)[place],
            limit_micro=cents * MICRO_PER_MINOR,
            waits=waits,
            fate=fate,
        )
