from typing import Any

from django.core.management.base import BaseCommand

from marketplace.operations.quotes import rebuild_published_market


class Command(BaseCommand):
    """Publish all market data anew, from orders and fills. Safe to repeat."""

    help = (
        "Publish prices, offers, figures and the whole price history anew, from orders and fills."
    )

    def handle(self, *_arguments: Any, **_options: Any) -> None:
        hours = rebuild_published_market()
        self.stdout.write(f"published the market; {hours} hours with a trade")
