"""What visitors choose in the address of a page."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.core.exceptions import ValidationError

from billing.fields import PriceField
from billing.money import Currency

# The published tables are in dollars first, in both languages: the market's common unit.
DEFAULT_CURRENCY = Currency.USD
MAX_PREFILLED_HOURS = 168  # The longest rental.


@dataclass(frozen=True, slots=True)
class CurrencyChoice:
    """The currency of the page's prices, and the text that was refused, if any."""

    currency: Currency
    refused: str | None = None


def chosen_currency(query: Mapping[str, str]) -> CurrencyChoice:
    """Read ``currency`` from the address; an unknown one is told, never guessed."""
    text = query.get("currency", "")
    if not text:
        return CurrencyChoice(DEFAULT_CURRENCY)
    try:
        return CurrencyChoice(Currency(text.upper()))
    except ValueError:
        return CurrencyChoice(DEFAULT_CURRENCY, refused=text[:20])


def prefilled_hours(query: Mapping[str, str]) -> int:
    """Return the hours that a link puts into the order form; what is no such number is one hour.

    Only a suggestion: the order itself is checked where it is placed.
    """
    text = query.get("hours", "")
    if text.isascii() and text.isdigit() and 1 <= int(text[:4]) <= MAX_PREFILLED_HOURS:
        return int(text[:4])
    return 1


def read_price(text: str, *, currency: Currency) -> tuple[int | None, str]:
    """Return a typed price in micro-units, or None and the words that refuse it."""
    try:
        return PriceField(required=False, currency=currency).clean(text), ""
    except ValidationError as error:
        return None, error.messages[0]
