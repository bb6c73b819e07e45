"""Prices of the order book: what an ask means to a customer, and what a fill costs.

Bid and ask meet only in one currency for now: an ask in another currency has no customer price
and never fits. Exchange rates change `customer_price` and `fill_prices` and nothing else.
"""

from marketplace.book.types import Bid, Offer


def customer_price(*, ask_micro: int, ask_currency: str, currency: str) -> int | None:
    """Return what the ask costs in the customer's currency, or None when there is no rate.

    With rates, the result is rounded up to the tick, in the seller's favour.
    """
    return ask_micro if ask_currency == currency else None


def is_within_limit(*, offer: Offer, bid: Bid) -> bool:
    """Say whether the customer would pay no more than the limit at the offer's ask."""
    price_micro = customer_price(
        ask_micro=offer.ask_micro, ask_currency=offer.currency, currency=bid.currency
    )
    return price_micro is not None and price_micro <= bid.limit_micro


def fill_prices(*, offer: Offer, bid: Bid) -> tuple[int, int]:
    """Return the customer's and the seller's price: those of the order that was there first.

    The lower sequence number decides, whatever made the two meet. Both prices are equal while
    bid and ask share a currency.
    """
    price_micro = bid.limit_micro if bid.sequence < offer.sequence else offer.ask_micro
    return price_micro, price_micro
