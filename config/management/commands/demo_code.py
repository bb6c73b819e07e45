from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from config.demo.cast import ADMIN_EMAIL
from marketplace.accounts.models import User
from marketplace.accounts.operations.people import NoAuthenticatorApp, current_totp_code


class Command(BaseCommand):
    """Print the code that the demo admin's authenticator app shows now, by the real clock."""

    help = "Print the demo admin's current one-time code."

    def handle(self, *_arguments: Any, **_options: Any) -> None:
        if not settings.IS_DEMO:
            raise CommandError("This is not a demo: codes are nobody's business.")
        admin = User.objects.filter(email=ADMIN_EMAIL).first()
        if admin is None:
            raise CommandError("The demo has no data yet.")
        try:
            code = current_totp_code(admin)
        except NoAuthenticatorApp as error:
            raise CommandError("The demo's admin has no authenticator app any more.") from error
        self.stdout.write(f"{'code':<9} {code} (the admin's second factor, for half a minute)")
