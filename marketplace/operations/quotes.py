"""Publish the best open offers: what pages show is what can be bought."""

from collections.abc import Collection
from datetime import datetime

from billing.money import Currency
from catalog.models import GpuModel
from catalog.operations.quotes import QuoteToPublish, publish_quotes
from marketplace.book.matching import Book
from marketplace.operations.slots import time_of

QUOTED_GPUS = (1, 8)


def publish(*, book: Book, as_of: datetime, gpu_model_ids: Collection[int] | None = None) -> None:
    """Replace the quotes of these models, or of all, by what the book sells now.

    Runs in the batch's transaction: pages see prices and fills together.
    """
    listed = GpuModel.objects.filter(is_listed=True)
    if gpu_model_ids is not None:
        listed = listed.filter(pk__in=gpu_model_ids)
    models = listed.order_by("pk").values_list("pk", "slug")
    quotes = [
        _quote(book, gpu_model_id=pk, slug=slug, currency=currency, gpus=gpus)
        for pk, slug in models
        for currency in Currency
        for gpus in QUOTED_GPUS
    ]
    publish_quotes(quotes=quotes, as_of=as_of)


def _quote(
    book: Book, *, gpu_model_id: int, slug: str, currency: Currency, gpus: int
) -> QuoteToPublish:
    best = book.best_price(gpu_model=slug, currency=currency.value, gpus=gpus)
    return QuoteToPublish(
        gpu_model_id=gpu_model_id,
        currency=currency,
        gpus=gpus,
        price_micro=best.ask_micro if best else None,
        starts_at=time_of(best.start_slot) if best else None,
    )
