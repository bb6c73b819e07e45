from billing.models.ledger import CURRENCIES, Account, Hold, Journal, Posting
from billing.models.payments import StripeEvent, TopUp
from billing.models.profiles import BillingProfile

__all__ = [
    "CURRENCIES",
    "Account",
    "BillingProfile",
    "Hold",
    "Journal",
    "Posting",
    "StripeEvent",
    "TopUp",
]
