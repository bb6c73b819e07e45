"""Tell people what became of a rental: its customer, and its seller when the server is suspended."""

from collections.abc import Collection
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import QuerySet

from marketplace.accounts.models import MailKind
from marketplace.locks import claim_rentals
from marketplace.models import Rental, Server
from marketplace.operations.charging import in_batches
from marketplace.operations.letters import Letter, traders_of, write_letters

NAMES = {Rental.EndReason.NOT_DELIVERED: "rental_not_delivered"}
# How long before the end the customer is told: time to copy results.
ENDING_TOLD_BEFORE = timedelta(hours=1)
# What one sweep takes on; the next one, seconds later, takes the rest.
SWEEP_RENTALS = 2_000


def tell_of_endings(*, now: datetime) -> int:
    """Write the mails about rentals in their last hour; return how many.

    A rental of a single hour is left out: its mail would come with its beginning. Safe to repeat
    and to run twice at once.
    """
    due = _ending(now)
    return in_batches(
        ids=list(due.order_by("ends_at", "pk").values_list("pk", flat=True)[:SWEEP_RENTALS]),
        act=lambda ids: _tell_of_endings(due=due, ids=ids, now=now),
        failure="A customer could not be told of a rental's end.",
    )


def mail_access_opened(*, rental: Rental) -> None:
    """Say that the machine can be used, and where it is."""
    write_letters([_to_customer(rental, template="rental_ready", kind=MailKind.RENTAL_READY)])


def mail_ended(*, rental: Rental) -> None:
    """Say that the rental is over, or that it never began, and what that means for the money."""
    reason = Rental.EndReason(rental.end_reason)
    write_letters([_to_customer(rental, template=NAMES.get(reason, "rental_ended"))])


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


def _ending(now: datetime) -> QuerySet[Rental]:
    return Rental.objects.filter(
        ended_at__isnull=True,
        ending_told_at__isnull=True,
        access_opened_at__isnull=False,
        ends_at__gt=now,
        ends_at__lte=now + ENDING_TOLD_BEFORE,
        fill__hours__gt=1,
    )


@transaction.atomic
def _tell_of_endings(*, due: QuerySet[Rental], ids: Collection[int], now: datetime) -> int:
    rentals = claim_rentals(due=due, ids=ids)
    write_letters(
        _to_customer(rental, template="rental_ending", kind=MailKind.RENTAL_ENDING)
        for rental in rentals
    )
    claimed = Rental.objects.filter(pk__in=[rental.pk for rental in rentals])
    return claimed.update(ending_told_at=now)


def _to_customer(rental: Rental, *, template: str, kind: MailKind | None = None) -> Letter:
    return Letter(
        reader=rental.fill.bid.placed_by,
        kind=kind,
        template=template,
        page="marketplace:rental",
        page_id=rental.pk,
        context={
            "rental": rental,
            "gpus": rental.fill.gpus,
            "gpu_model": rental.server.gpu_model.name,
        },
    )
