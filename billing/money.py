"""Amounts of money and their rounding. Pure: standard library only.

Amounts are whole minor units (cents); unit prices are whole micro-units of the currency per
GPU-hour. Net, tax and the seller's share are cumulative per rental: what hour ``n`` costs is the
rounded total to ``n`` less the rounded total to ``n - 1``, so the hours add up to the cent.
"""

from dataclasses import dataclass
from enum import StrEnum

MICRO_PER_MINOR = 10_000
MICRO_PER_UNIT = 1_000_000
MINOR_PER_UNIT = 100
BPS = 10_000
MINUTES_PER_HOUR = 60

# Unit prices lie on this grid and within these bounds, in every currency.
TICK_MICRO = 1_000
PRICE_MIN_MICRO = 10_000
PRICE_MAX_MICRO = 100_000_000


class Currency(StrEnum):
    """The currencies of wallets and offers."""

    EUR = "EUR"
    USD = "USD"
    GBP = "GBP"


@dataclass(frozen=True, slots=True)
class Tally:
    """Amounts of a rental up to some hour, or of one hour, in minor units."""

    net_minor: int
    vat_minor: int
    seller_minor: int

    @property
    def gross_minor(self) -> int:
        return self.net_minor + self.vat_minor

    def __sub__(self, other: "Tally") -> "Tally":
        return Tally(
            self.net_minor - other.net_minor,
            self.vat_minor - other.vat_minor,
            self.seller_minor - other.seller_minor,
        )


@dataclass(frozen=True, slots=True)
class Terms:
    """What prices a rental: fixed at the fill, the same for each of its hours."""

    gpus: int
    customer_price_micro: int
    seller_price_micro: int
    vat_bps: int
    fee_bps: int


def divide_half_up(numerator: int, denominator: int) -> int:
    """Return the quotient rounded to the nearest whole number, halves up: the tax offices' rule."""
    assert numerator >= 0
    assert denominator > 0
    return (2 * numerator + denominator) // (2 * denominator)


def net_minor(*, price_micro: int, gpus: int, hours: int) -> int:
    """Return the price of ``gpus`` for ``hours``, before tax, in minor units, half up."""
    return divide_half_up(price_micro * gpus * hours, MICRO_PER_MINOR)


def vat_minor(*, net_minor: int, vat_bps: int) -> int:
    """Return the tax on a net amount, in minor units, half up."""
    return divide_half_up(net_minor * vat_bps, BPS)


def total_to(*, terms: Terms, hours: int) -> Tally:
    """Return the amounts of a rental's first ``hours`` hours.

    The seller's share is rounded down: the fraction of a cent stays with the platform, which
    thereby never owes more than it was paid.
    """
    net = net_minor(price_micro=terms.customer_price_micro, gpus=terms.gpus, hours=hours)
    seller = (terms.seller_price_micro * terms.gpus * hours * (BPS - terms.fee_bps)) // (
        MICRO_PER_MINOR * BPS
    )
    return Tally(
        net_minor=net,
        vat_minor=vat_minor(net_minor=net, vat_bps=terms.vat_bps),
        seller_minor=seller,
    )


def hour_tally(*, terms: Terms, number: int) -> Tally:
    """Return the amounts of hour ``number`` (the first is 1)."""
    assert number >= 1
    return total_to(terms=terms, hours=number) - total_to(terms=terms, hours=number - 1)


def hold_minor(*, price_micro: int, gpus: int, hours: int, vat_bps: int) -> int:
    """Return what a bid sets aside: exactly the sum of its charges at ``price_micro``."""
    net = net_minor(price_micro=price_micro, gpus=gpus, hours=hours)
    return net + vat_minor(net_minor=net, vat_bps=vat_bps)


def undelivered_share(*, hour: Tally, minutes: int) -> Tally:
    """Return the part of an hour that ``minutes`` undelivered minutes give back, half up."""
    assert 0 <= minutes <= MINUTES_PER_HOUR
    return Tally(
        net_minor=divide_half_up(hour.net_minor * minutes, MINUTES_PER_HOUR),
        vat_minor=divide_half_up(hour.vat_minor * minutes, MINUTES_PER_HOUR),
        seller_minor=divide_half_up(hour.seller_minor * minutes, MINUTES_PER_HOUR),
    )
