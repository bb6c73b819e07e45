from django.core.management.base import BaseCommand

from marketplace.operations.reference import ensure_reference_rows


class Command(BaseCommand):
    help = "Create the rows that the system cannot run without; safe to repeat."

    def handle(self, *args: object, **options: object) -> None:
        ensure_reference_rows()
