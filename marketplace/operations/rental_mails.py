"""Tell people what became of a rental: its customer, and its seller when the server is suspended."""

from marketplace.models import Rental, Server
from marketplace.operations.letters import Letter, traders_of, write_letters

NAMES = {Rental.EndReason.NOT_DELIVERED: "rental_not_delivered"}


def mail_access_opened(*, rental: Rental) -> None:
    """Say that the machine can be used, and where it is."""
    _tell_customer(rental, template="rental_ready")


def mail_ended(*, rental: Rental) -> None:
    """Say that the rental is over, or that it never began, and what that means for the money."""
    reason = Rental.EndReason(rental.end_reason)
    _tell_customer(rental, template=NAMES.get(reason, "rental_ended"))


def mail_suspended(*, rental: Rental, suspension: Server.Suspension) -> None:
    """Say to who sells on this server that it takes no new sales, why, and what to do."""
    seller_id = rental.server.organisation_id
    write_letters(
        Letter(
            reader=reader,
            template="server_suspended",
            page="marketplace:server",
            page_id=rental.server_id,
            context={"rental": rental, "server": rental.server, "reason": suspension.label},
        )
        for reader in traders_of(organisation_ids=[seller_id])[seller_id]
    )


def _tell_customer(rental: Rental, *, template: str) -> None:
    context = {
        "rental": rental,
        "gpus": rental.fill.gpus,
        "gpu_model": rental.server.gpu_model.name,
    }
    letter = Letter(
        reader=rental.fill.bid.placed_by,
        template=template,
        page="marketplace:rental",
        page_id=rental.pk,
        context=context,
    )
    write_letters([letter])
