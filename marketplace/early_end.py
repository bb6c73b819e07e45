"""What ending a rental early costs. Pure: standard library and the rounding of money.

Due in full: the hours that have begun, once access was opened, and the offer's minimum when that is
above one hour. Of the price of the other hours, which go back to the exchange, a fee is due; it is
taxed, rounded and shared with the seller like an hour. A rental of one hour pays no fee.
"""

from dataclasses import dataclass

from billing.money import (
    BPS,
    MICRO_PER_MINOR,
    Tally,
    Terms,
    divide_half_up,
    total_to,
    vat_minor,
)

NOTHING = Tally(net_minor=0, vat_minor=0, seller_minor=0)


@dataclass(frozen=True, slots=True)
class EarlyEnd:
    """The first ``due_hours`` are charged in full; ``fee`` is for the ``released_hours``."""

    due_hours: int
    released_hours: int
    fee: Tally


def end_early(
    *, terms: Terms, hours: int, begun_hours: int, min_hours: int, break_fee_bps: int
) -> EarlyEnd:
    """Return what is due when a rental of ``hours`` ends after ``begun_hours``.

    ``begun_hours`` is zero while access was not opened, at least one from then on.
    """
    assert 0 <= begun_hours <= hours
    due_hours = max(begun_hours, min(min_hours, hours) if min_hours > 1 else 0)
    released_hours = hours - due_hours
    if hours == 1 or released_hours == 0:
        return EarlyEnd(due_hours, released_hours, NOTHING)
    fee = _fee(terms=terms, hours=hours, due_hours=due_hours, break_fee_bps=break_fee_bps)
    return EarlyEnd(due_hours, released_hours, fee)


def _fee(*, terms: Terms, hours: int, due_hours: int, break_fee_bps: int) -> Tally:
    """Return the fee: net half up, never above the released price, the seller's share down."""
    due, full = total_to(terms=terms, hours=due_hours), total_to(terms=terms, hours=hours)
    gpu_hours = terms.gpus * (hours - due_hours)
    net = divide_half_up(
        terms.customer_price_micro * gpu_hours * break_fee_bps, MICRO_PER_MINOR * BPS
    )
    net = min(net, full.net_minor - due.net_minor)
    if net == 0:
        return NOTHING
    # The tax stays cumulative over the rental, so that the sum never passes what was held.
    vat = vat_minor(net_minor=due.net_minor + net, vat_bps=terms.vat_bps) - due.vat_minor
    seller = (terms.seller_price_micro * gpu_hours * break_fee_bps * (BPS - terms.fee_bps)) // (
        MICRO_PER_MINOR * BPS * BPS
    )
    return Tally(net_minor=net, vat_minor=vat, seller_minor=seller)
