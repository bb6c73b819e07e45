from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from config.demo.cast import ADMIN_EMAIL, CUSTOMER_EMAIL, SELLER_EMAIL
from config.demo.keys import PASSWORD

LOGINS = (("customer", CUSTOMER_EMAIL), ("seller", SELLER_EMAIL), ("admin", ADMIN_EMAIL))


class Command(BaseCommand):
    """Print who can sign in to the demo. Nothing of it works elsewhere."""

    help = "Print the demo's logins."

    def handle(self, *_arguments: Any, **_options: Any) -> None:
        if not settings.IS_DEMO:
            raise CommandError("This is not a demo: it has no logins to print.")
        for part, email in LOGINS:
            self.stdout.write(f"{part:<9} {email:<22} password {PASSWORD}")
