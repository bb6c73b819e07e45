"""A loaded catalogue, and prices published at a known time."""

from datetime import datetime

import pytest

from billing.money import Currency
from catalog.models import GpuModel
from catalog.operations.gpus import load_gpu_models
from catalog.operations.quotes import QuoteToPublish, publish_quotes
from tests.integration.catalog.prices import AS_OF, BEST_USD_MILLI, Publish


@pytest.fixture
def catalogue(db: None) -> None:
    load_gpu_models()


@pytest.fixture
def publish(catalogue: None) -> Publish:
    def publish_one(
        slug: str,
        price_micro: int | None,
        *,
        currency: Currency = Currency.USD,
        gpus: int = 1,
        as_of: datetime = AS_OF,
    ) -> None:
        quote = QuoteToPublish(
            gpu_model_id=GpuModel.objects.get(slug=slug).pk,
            currency=currency,
            gpus=gpus,
            price_micro=price_micro,
            starts_at=as_of if price_micro else None,
        )
        publish_quotes(quotes=[quote], as_of=as_of)

    return publish_one


@pytest.fixture
def best_usd_offers(publish: Publish) -> None:
    for slug, milli in BEST_USD_MILLI.items():
        publish(slug, milli * 1000)
