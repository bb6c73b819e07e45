"""What a seller's failure means for its server: no sale until staff have looked at it.

The freed hours would otherwise be sold at once, to a customer who finds the same dead machine.
Why the cause of an interruption makes no difference here: `docs/decisions/0013`.
"""

from datetime import datetime

from marketplace.models import Rental, Server
from marketplace.operations.rental_mails import mail_suspended
from marketplace.operations.servers import suspend_server
from marketplace.rental_time import READY_WITHIN

REASON = Rental.EndReason
SUSPENSIONS = {
    REASON.NOT_DELIVERED: Server.Suspension.NOT_DELIVERED,
    REASON.SELLER_FAILURE: Server.Suspension.SELLER_FAILURE,
}


def suspend_failed_server(*, rental: Rental, reason: Rental.EndReason, now: datetime) -> None:
    """Stop the server's sales when this end is its seller's failure; else do nothing.

    To be called before the rental's hours are freed and before a wallet is locked.
    """
    if reason not in SUSPENSIONS or _is_only_late(rental, reason=reason, now=now):
        return
    was_selling = suspend_server(
        server_id=rental.server_id,
        actor_id=None,
        suspension=SUSPENSIONS[reason],
        rental_id=rental.pk,
        now=now,
    )
    if was_selling:
        mail_suspended(rental=rental, suspension=SUSPENSIONS[reason])


def _is_only_late(rental: Rental, *, reason: Rental.EndReason, now: datetime) -> bool:
    """Say whether the customer left a machine that its seller could still have delivered."""
    return reason == REASON.NOT_DELIVERED and now < rental.starts_at + READY_WITHIN
