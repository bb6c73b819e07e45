"""Who lives in the small world of the browser tests, beside the demo's own cast."""

from dataclasses import dataclass

from billing.money import Currency
from config.demo.keys import PASSWORD

__all__ = ["KEYBOARD_USER", "PASSWORD", "SCRIPTLESS_USER", "SELLER", "WAITING_CUSTOMER", "Shopper"]


@dataclass(frozen=True, slots=True)
class Shopper:
    """A customer with a login, an SSH key and money in one wallet."""

    name: str
    email: str
    currency: Currency


WAITING_CUSTOMER = Shopper("Wanda Stern", "wanda@example.com", Currency.EUR)
KEYBOARD_USER = Shopper("Kim Taster", "kim@example.com", Currency.GBP)
SCRIPTLESS_USER = Shopper("Nora Plain", "nora@example.com", Currency.GBP)


@dataclass(frozen=True, slots=True)
class Founder:
    """The owner of a verified company that has no server yet."""

    name: str
    email: str
    company: str


SELLER = Founder("Olive Rack", "olive@example.com", "Olive Racks Ltd")
