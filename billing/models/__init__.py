from billing.models.ledger import CURRENCIES, Account, Hold, HoldMove, Journal, Posting
from billing.models.payments import StripeCursor, StripeEvent, TopUp, TopUpGate
from billing.models.profiles import BillingProfile

__all__ = [
    "CURRENCIES",
    "Account",
    "BillingProfile",
    "Hold",
    "HoldMove",
    "Journal",
    "Posting",
    "StripeCursor",
    "StripeEvent",
    "TopUp",
    "TopUpGate",
]
