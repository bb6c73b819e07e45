"""What happens in the demo's history, and when: the same plan from the same seed.

Times are whole minutes before the end of the history. The plan says who wants what; prices and
matches are the exchange's answer. Pure: no database, no clock.
"""

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum, unique

from billing.money import MICRO_PER_MINOR, Currency
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

HOUR = 60
DAY = 24 * HOUR
SEED = 20_260
# Orders of the last day and a half are small, so that the best offers keep free GPUs.
QUIET_END = 36 * HOUR


@unique
class Fate(StrEnum):
    """What becomes of an order once it is placed."""

    SERVED = "served"
    LATE = "late"
    NEVER_DELIVERED = "never_delivered"
    STOPPED = "stopped"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """A machine's hours are offered at an ask; an earlier offer of it is withdrawn first."""

    minute: int
    machine: Machine
    ask_micro: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """A customer orders: at the best offer without a limit, else at most at ``limit_micro``.

    ``starts_in`` and ``waits`` are minutes from the order; ``waits`` None leaves the default.
    """

    minute: int
    customer: Customer
    card: Card
    currency: Currency
    gpus: int
    hours: int
    limit_micro: int | None = None
    tiers: tuple[str, ...] = ()
    starts_in: int | None = None
    waits: int | None = None
    fate: Fate = Fate.SERVED
    label: str = ""


Act = Listing | Order


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
    orders={Currency.USD: 19, Currency.EUR: 13, Currency.GBP: 10},
    bursts_per_day=6,
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
        *_waiting_orders(fleet, scale),
        *(_camilles_story() if scale.has_camilles_story else ()),
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
    return sorted((_early_in(hour, chance.randrange(2, 12)) for hour in chosen), reverse=True)


def _early_in(hours_before: int, minutes: int = 3) -> int:
    """Return the minute that lies so many minutes into the hour that ends ``hours_before``."""
    return (hours_before + 1) * HOUR - minutes


def _listings(
    fleet: Sequence[Machine], scale: Scale, chance: random.Random
) -> Iterator[Listing]:
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
            yield Listing(minute=_early_in(hour), machine=machine, ask_micro=ask_micro)


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
        if machine.percent != 100:  # noqa: PLR2004  once a market, at its best machine
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
    is_certified = machine.card.is_featured and machine.currency == Currency.USD and number % 4 == 3
    is_large = minute > QUIET_END and not is_certified and chance.random() < 0.2  # noqa: PLR2004
    gpus = chance.choice((2, 2, machine.gpus)) if is_large else 1
    hours = chance.choice((1, 1, 2, 2, 2, 3, 3, 4, 4, 5, 6, 6, 8, 8, 10, 12))
    if chance.random() < 0.06:  # noqa: PLR2004
        hours = 24
    # A bid above any ask fills at once at the ask; the rest buys now.
    limit_micro = _part(machine, 130) if chance.random() < 0.4 else None  # noqa: PLR2004
    return Order(
        minute=minute,
        customer=buyer,
        card=machine.card,
        currency=machine.currency,
        gpus=min(gpus, machine.gpus),
        hours=min(hours, 6) if gpus >= 4 else hours,  # noqa: PLR2004
        limit_micro=limit_micro,
        tiers=(CERTIFIED,) if is_certified else (),
        fate=_fate(minute, hours=hours, chance=chance),
    )


def _fate(minute: int, *, hours: int, chance: random.Random) -> Fate:
    roll = chance.random()
    if minute < DAY:
        return Fate.SERVED
    if roll < 0.01:  # noqa: PLR2004
        return Fate.LATE
    if roll < 0.035 and hours >= 3:  # noqa: PLR2004
        return Fate.STOPPED
    return Fate.SERVED


def _waiting_orders(fleet: Sequence[Machine], scale: Scale) -> Iterator[Order]:
    """Yield the orders that rest: some fill at a new listing, some are cancelled, expire or wait."""
    for number, machine in enumerate(fleet):
        if machine.percent != 100 or not machine.card.is_featured:  # noqa: PLR2004
            continue
        buyers = [one for one in CUSTOMERS if machine.currency in one.currencies]
        yield from _resting(machine, buyers, number=number, relisted=_last_listing(scale))
        if number % 3 == 0:
            yield from _evening(machine, buyers[number % len(buyers)], number=number)


def _evening(machine: Machine, buyer: Customer, *, number: int) -> Iterator[Order]:
    """Yield an order that still runs at the end of the history."""
    yield Order(
        minute=_early_in(3 + number % 4),
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
        (relisted - 12, 91, 8 * HOUR, Fate.CANCELLED if number % 3 == 0 else Fate.SERVED),
        (4 + number % 4, 95, 3 * DAY, Fate.SERVED),
        (2 + number % 3, 88, 2 * DAY, Fate.SERVED),
    )
    for place, (hours_before, percent, waits, fate) in enumerate(cases):
        cents = machine.ask_micro * percent // (100 * MICRO_PER_MINOR)
        yield Order(
            minute=_early_in(hours_before),
            customer=buyers[(number + 5 * place) % len(buyers)],
            card=machine.card,
            currency=machine.currency,
            gpus=1,
            hours=(2, 4, 6, 3)[place],
            limit_micro=cents * MICRO_PER_MINOR,
            waits=waits,
            fate=fate,
        )


def _camilles_story() -> Iterator[Order]:
    """Yield the orders of the customer whose login the demo gives away: something of everything."""
    by_slug = {card.slug: card for card in FEATURED}
    for days, slug, currency, gpus, hours, fate, label in (
        (18, "rtx-4090", Currency.EUR, 1, 4, Fate.SERVED, "premiers essais"),
        (15, "l40s", Currency.USD, 1, 6, Fate.SERVED, ""),
        (12, "h100-sxm", Currency.EUR, 2, 5, Fate.SERVED, "LoRA 70B"),
        (9, "rtx-pro-6000-blackwell", Currency.EUR, 1, 3, Fate.NEVER_DELIVERED, ""),
        (6, "a100-sxm-80", Currency.GBP, 1, 8, Fate.STOPPED, "classification"),
        (4, "rtx-5090", Currency.EUR, 1, 3, Fate.LATE, ""),
        (2, "h200-sxm", Currency.USD, 1, 4, Fate.SERVED, "évaluation"),
    ):
        yield Order(
            minute=_early_in(days * 24),
            customer=CAMILLE,
            card=by_slug[slug],
            currency=currency,
            gpus=gpus,
            hours=hours,
            fate=fate,
            label=label,
        )
    yield from _camilles_open_orders(by_slug)


def _camilles_open_orders(by_slug: dict[str, Card]) -> Iterator[Order]:
    """Yield what runs, what begins tomorrow and what waits at the end of the history."""

    def order(minute: int, slug: str, currency: Currency, **terms: object) -> Order:
        facts = {"gpus": 1, "hours": 8} | terms
        return Order(
            minute=minute, customer=CAMILLE, card=by_slug[slug], currency=currency, **facts  # type: ignore[arg-type]  names above
        )

    yield order(_early_in(5), "rtx-4090", Currency.EUR, hours=12, label="QLoRA 13B")
    yield order(_early_in(3), "h100-sxm", Currency.USD, hours=10, label="LoRA 30B")
    card = by_slug["l40s"]
    yield order(
        _early_in(2),
        "l40s",
        Currency.USD,
        hours=6,
        limit_micro=card.ask_micro(Currency.USD) + 10 * MICRO_PER_MINOR,
        starts_in=22 * HOUR,
        waits=26 * HOUR,
        label="nuit de demain",
    )
    card = by_slug["rtx-pro-6000-blackwell"]
    yield order(
        _early_in(1),
        card.slug,
        Currency.EUR,
        hours=24,
        limit_micro=card.ask_micro(Currency.EUR) * 9 // 10 // MICRO_PER_MINOR * MICRO_PER_MINOR,
        waits=5 * DAY,
        label="si le prix baisse",
    )
