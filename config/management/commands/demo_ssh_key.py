from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from config.demo.cast import CAMILLE
from config.demo.keys import ssh_key_of


class Command(BaseCommand):
    """Print the demo customer's private SSH key, to enter the machines that she has rented."""

    help = "Print the demo customer's private SSH key."

    def handle(self, *_arguments: Any, **_options: Any) -> None:
        if not settings.IS_DEMO:
            raise CommandError("This is not a demo: private keys stay with their owners.")
        self.stdout.write(ssh_key_of(CAMILLE.key).export_private_key().decode(), ending="")
