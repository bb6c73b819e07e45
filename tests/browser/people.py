"""Who lives in the small world of the browser tests, beside the demo's own sellers."""

from config.demo.cast import CAMILLE, EUR, GBP, Company, Customer
from config.demo.keys import PASSWORD

__all__ = ["CAMILLE", "KEYBOARD_USER", "PASSWORD", "SCRIPTLESS_USER", "SELLER", "WAITING_CUSTOMER"]

WAITING_CUSTOMER = Customer("wanda", "Wanda Stern", "FR", (EUR,), "Lyon")
KEYBOARD_USER = Customer("kim", "Kim Taster", "FR", (GBP,), "Metz")
SCRIPTLESS_USER = Customer("nora", "Nora Plain", "FR", (GBP,), "Nice")
SHOPPERS = (WAITING_CUSTOMER, KEYBOARD_USER, SCRIPTLESS_USER)
# A verified seller that has no server yet.
SELLER = Company("olive", "Olive Racks Ltd", "Olive Rack", "olive@demo.example", "uk")
