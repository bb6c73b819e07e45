"""What the people of the demo do, and when: in whole minutes before the end of the history."""

from dataclasses import dataclass
from enum import StrEnum, unique

from billing.money import Currency
from config.demo.cast import Card, Customer, Machine

HOUR = 60
DAY = 24 * HOUR


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


def early_in(hours_before: int, minutes: int = 3) -> int:
    """Return the minute that lies so many minutes into the hour that ends ``hours_before``."""
    return (hours_before + 1) * HOUR - minutes
