"""What visitors choose in the address of a page."""

from collections.abc import Mapping
from dataclasses import dataclass

from billing.money import Currency

# The published tables are in dollars first, in both languages: the market's common unit.
DEFAULT_CURRENCY = Currency.USD


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
