"""The card numbers that the hosted page understands, and what happens to each.

They are Stripe's published test numbers, so that the same journeys run against Stripe's test mode.
"""

import hashlib
from dataclasses import dataclass

DECLINED = "Your card was declined."


@dataclass(frozen=True, kw_only=True)
class Card:
    """One card and its fate. ``decline_code`` None means that the bank accepts."""

    number: str
    brand: str = "visa"
    decline_code: str | None = None
    decline_message: str | None = None
    needs_authentication: bool = False
    refund_status: str = "succeeded"

    @property
    def fingerprint(self) -> str:
        """Return the same short word for the same test number; nothing for a stranger's."""
        if self.number not in CARDS:
            return ""
        return hashlib.sha256(self.number.encode()).hexdigest()[:16]


_MAGIC_CARDS = (
    Card(number="4242424242424242"),
    Card(number="5555555555554444", brand="mastercard"),
    Card(number="4000002500003155", needs_authentication=True),
    Card(number="4000000000003220", needs_authentication=True),
    Card(number="4000000000000002", decline_code="generic_decline", decline_message=DECLINED),
    Card(
        number="4000000000009995",
        decline_code="insufficient_funds",
        decline_message="Your card has insufficient funds.",
    ),
    Card(number="4000000000007726", refund_status="pending"),
)

CARDS = {card.number: card for card in _MAGIC_CARDS}


def find_card(number: str) -> Card | None:
    """Return the fate of a number: a valid one that is no test card is declined; None is no number."""
    digits = number.replace(" ", "").replace("-", "")
    if not digits.isascii() or not digits.isdigit() or not _is_luhn_valid(digits):
        return None
    return CARDS.get(digits) or Card(
        number=digits,
        decline_code="live_mode_test_card",
        decline_message=(
            "Your card was declined. Your request was in test mode, but used a non test card."
        ),
    )


def _is_luhn_valid(digits: str) -> bool:
    if not 12 <= len(digits) <= 19:  # noqa: PLR2004 - the lengths of ISO/IEC 7812
        return False
    total = 0
    for place, digit in enumerate(reversed(digits)):
        doubled = int(digit) * (1 + place % 2)
        total += doubled - 9 if doubled > 9 else doubled  # noqa: PLR2004 - one digit
    return total % 10 == 0
