from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from config.demo.loading import CutShort, NoPaymentDouble, is_loaded, load


class Command(BaseCommand):
    """Fill an empty demo with three weeks of trade. Does nothing where there is data."""

    help = "Fill an empty demo with three weeks of trade, by the site's own operations."

    def handle(self, *_arguments: Any, **_options: Any) -> None:
        if not settings.IS_DEMO:
            raise CommandError("This is not a demo: set IS_DEMO only where nobody pays.")
        try:
            if is_loaded():
                self.stdout.write("there is data already")
                return
            load(tell=self.stdout.write)
        except CutShort as error:
            raise CommandError(
                "The demo's data was loaded by half. Start over with `make demo-reset`."
            ) from error
        except NoPaymentDouble as error:
            raise CommandError(
                "The demo's customers pay on the payment double: unset STRIPE_SECRET_KEY for the"
                " first start."
            ) from error
