"""Prove the money: balances, holds and charges computed again from scratch."""

from django.core.management.base import BaseCommand, CommandError
from django.db import connection, transaction

from billing.operations.proofs import billing_differences
from marketplace.operations.proofs import marketplace_differences


class Command(BaseCommand):
    help = "Compute the money again from its rows; name every difference and fail if there is one."

    def handle(self, *args: object, **options: object) -> None:
        differences = all_differences()
        for difference in differences:
            self.stdout.write(difference)
        if differences:
            raise CommandError(f"{len(differences)} differences.")
        self.stdout.write("Every balance, hold and charge agrees with its rows.")


@transaction.atomic
def all_differences() -> list[str]:
    """Return what differs, all seen at one moment."""
    with connection.cursor() as cursor:
        # Refused after the first statement: a caller inside a transaction sees its own moment.
        if len(connection.atomic_blocks) == 1:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
    return [*billing_differences(), *marketplace_differences()]
