"""Give the application's database role what it needs, and on the ledger nothing more."""

from argparse import ArgumentParser

from django.core.management.base import BaseCommand, CommandError
from django.db import connection, transaction

DEFAULT_ROLE = "market_app"
# Written once: even a mistake in our own code must not be able to change them.
APPEND_ONLY = ("billing_journal", "billing_posting", "billing_holdmove", "accounts_auditentry")


class Command(BaseCommand):
    help = (
        "Grant the application's role its rights. Run it as the role that owns the tables, "
        "after each migrate. Safe to repeat."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--role", default=DEFAULT_ROLE, help=f"the application's role ({DEFAULT_ROLE})"
        )

    def handle(self, *args: object, **options: str) -> None:
        role = options["role"]
        self._check(role)
        with transaction.atomic(), connection.cursor() as cursor:
            for statement in statements(connection.ops.quote_name(role)):
                cursor.execute(statement)

    def _check(self, role: str) -> None:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT current_user = %s, EXISTS (SELECT FROM pg_roles WHERE rolname = %s)",
                [role, role],
            )
            is_ourselves, exists = cursor.fetchone()
        if is_ourselves:
            raise CommandError(
                f"{role} owns the tables: the site must run as another role, or nothing guards "
                "the ledger. Run this command with the owner's DATABASE_URL."
            )
        if not exists:
            raise CommandError(f"There is no role {role}: create it, or name another with --role.")


def statements(role: str) -> list[str]:
    """Return the statements in order; ``role`` is quoted. In one transaction nobody notices them."""
    written_once = ", ".join(APPEND_ONLY)
    return [
        f"GRANT USAGE ON SCHEMA public TO {role}",
        f"REVOKE ALL ON ALL TABLES IN SCHEMA public FROM {role}",
        f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {role}",
        f"GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA public TO {role}",
        f"REVOKE UPDATE, DELETE ON {written_once}, billing_account, django_migrations FROM {role}",
        f"REVOKE INSERT ON django_migrations FROM {role}",
        # The balance moves by the postings' trigger alone, which runs with its owner's rights.
        f"GRANT UPDATE (held_minor) ON billing_account TO {role}",
    ]
