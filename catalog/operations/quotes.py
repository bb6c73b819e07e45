"""Publish prices: the exchange tells the catalogue what can be bought now."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from billing.money import Currency
from catalog.models import Quote
from marketplace.accounts.public_pages import pages_changed


@dataclass(frozen=True, slots=True, kw_only=True)
class QuoteToPublish:
    """The best open offer of a model in a currency for 1 or 8 GPUs, for one hour.

    ``price_micro`` None says that nothing can be bought now.
    """

    gpu_model_id: int
    currency: Currency
    gpus: int
    price_micro: int | None
    starts_at: datetime | None


def publish_quotes(*, quotes: Sequence[QuoteToPublish], as_of: datetime) -> None:
    """Replace the published quotes of these models, currencies and counts, in one statement.

    Runs inside the caller's transaction, so that pages see prices and fills together.
    Safe to repeat. Rows are written in a fixed order, so that two writers cannot deadlock.
    """
    rows = [
        Quote(
            gpu_model_id=quote.gpu_model_id,
            currency=quote.currency.value,
            gpus=quote.gpus,
            price_micro=quote.price_micro,
            starts_at=quote.starts_at,
            as_of=as_of,
        )
        for quote in sorted(quotes, key=lambda q: (q.gpu_model_id, q.currency.value, q.gpus))
    ]
    Quote.objects.bulk_create(
        rows,
        update_conflicts=True,
        unique_fields=["gpu_model", "currency", "gpus"],
        update_fields=["price_micro", "starts_at", "as_of"],
    )
    pages_changed()
