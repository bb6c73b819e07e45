"""What a server may earn: an estimate from stated assumptions. Pure.

Assumed: every rental takes all GPUs and the same number of hours, at the ask, and none fails. A
rental occupies the server for its paid hours and for the unpaid set-up before them. The shares are
those of real charges; only their rounding is taken once over the whole period, not per rental.
"""

from dataclasses import dataclass
from fractions import Fraction

from billing.money import BPS, Tally, Terms, total_to
from marketplace.book.types import SLOTS_PER_HOUR

DAYS = 30
HOURS_A_DAY = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Assumptions:
    """A seller's guess: how much is sold in a day, in rentals of how many hours."""

    gpus: int
    ask_micro: int
    sold_hours_a_day: int
    hours_a_rental: int
    setup_slots: int
    fee_bps: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Earnings:
    """Before tax. Prices per GPU-hour in micro-units, rounded down; amounts over `DAYS` days."""

    gpu_hours: int
    gross_minor: int
    net_minor: int
    per_paid_hour_micro: int
    per_occupied_hour_micro: int

    @property
    def fee_minor(self) -> int:
        return self.gross_minor - self.net_minor


def most_sold_hours_a_day(*, hours_a_rental: int, setup_slots: int) -> int:
    """Return how many whole paid hours fit into a day, each rental's set-up included."""
    return int(HOURS_A_DAY * _paid_share(hours_a_rental=hours_a_rental, setup_slots=setup_slots))


def estimate(assumed: Assumptions) -> Earnings:
    """Return what these assumptions come to over `DAYS` days."""
    hours = assumed.sold_hours_a_day * DAYS
    total = _total(assumed, hours=hours)
    per_paid_micro = Fraction(assumed.ask_micro * (BPS - assumed.fee_bps), BPS)
    share = _paid_share(hours_a_rental=assumed.hours_a_rental, setup_slots=assumed.setup_slots)
    return Earnings(
        gpu_hours=assumed.gpus * hours,
        gross_minor=total.net_minor,
        net_minor=total.seller_minor,
        per_paid_hour_micro=int(per_paid_micro),
        per_occupied_hour_micro=int(per_paid_micro * share),
    )


def _total(assumed: Assumptions, *, hours: int) -> Tally:
    terms = Terms(
        gpus=assumed.gpus,
        customer_price_micro=assumed.ask_micro,
        seller_price_micro=assumed.ask_micro,
        vat_bps=0,
        fee_bps=assumed.fee_bps,
    )
    return total_to(terms=terms, hours=hours)


def _paid_share(*, hours_a_rental: int, setup_slots: int) -> Fraction:
    """Return the paid part of the time that a rental occupies its server."""
    return hours_a_rental / (hours_a_rental + Fraction(setup_slots, SLOTS_PER_HOUR))
