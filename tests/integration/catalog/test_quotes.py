"""Publishing prices, and reading them back."""

from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction

from billing.money import Currency
from catalog.models import GpuModel, Quote
from catalog.operations.quotes import QuoteToPublish, publish_quotes
from catalog.queries import cheapest, gpu_rows, listed_gpus, oldest_as_of, quotes_by_currency
from tests.integration.catalog.prices import AS_OF, Publish

pytestmark = pytest.mark.django_db


def quotes_of_everything(price_micro: int) -> list[QuoteToPublish]:
    return [
        QuoteToPublish(
            gpu_model_id=gpu_id,
            currency=currency,
            gpus=gpus,
            price_micro=price_micro,
            starts_at=AS_OF,
        )
        for gpu_id in GpuModel.objects.values_list("pk", flat=True)
        for currency in Currency
        for gpus in (1, 8)
    ]


def test_publishing_again_replaces_and_never_adds(publish: Publish) -> None:
    publish("l40s", 790_000)

    publish("l40s", None, as_of=AS_OF + timedelta(minutes=1))

    quote = Quote.objects.get()
    assert (quote.price_micro, quote.starts_at) == (None, None)
    assert quote.as_of == AS_OF + timedelta(minutes=1)


def test_publishes_the_whole_market_in_one_statement(
    catalogue: None, django_assert_num_queries
) -> None:
    quotes = quotes_of_everything(1_000_000)

    with transaction.atomic(), django_assert_num_queries(1):
        publish_quotes(quotes=quotes, as_of=AS_OF)

    assert Quote.objects.count() == len(quotes) == 53 * 3 * 2


def test_publishing_nothing_changes_nothing(publish: Publish) -> None:
    publish("l40s", 790_000)

    publish_quotes(quotes=[], as_of=AS_OF + timedelta(hours=1))

    assert Quote.objects.get().as_of == AS_OF


def test_the_database_refuses_a_count_that_is_no_quote(catalogue: None) -> None:
    with pytest.raises(IntegrityError, match="catalog_quote_gpus"):
        Quote.objects.create(
            gpu_model=GpuModel.objects.get(slug="l40s"), currency="EUR", gpus=2, as_of=AS_OF
        )


def test_reads_only_the_price_of_one_gpu_in_the_chosen_currency(publish: Publish) -> None:
    publish("l40s", 790_000)
    publish("l40s", 800_000, gpus=8)
    publish("l40s", 700_000, currency=Currency.EUR)
    gpu = GpuModel.objects.get(slug="l40s")

    (row,) = gpu_rows(gpus=[gpu], currency=Currency.USD)

    assert (row.price_micro, row.as_of) == (790_000, AS_OF)
    assert (row.capacity.qlora_b, row.capacity.lora16_b) == (35, 15)


def test_a_model_without_a_quote_has_no_price(catalogue: None) -> None:
    (row,) = gpu_rows(gpus=[GpuModel.objects.get(slug="l40s")], currency=Currency.GBP)

    assert (row.price_micro, row.as_of) == (None, None)


def test_the_age_shown_is_the_oldest_ones(publish: Publish) -> None:
    publish("l40s", 790_000, as_of=AS_OF)
    publish("rtx-4090", 330_000, as_of=AS_OF + timedelta(minutes=9))

    rows = gpu_rows(gpus=listed_gpus(), currency=Currency.USD)

    assert oldest_as_of(rows) == AS_OF


def test_the_cheapest_of_equals_has_the_least_memory(best_usd_offers: None) -> None:
    rows = gpu_rows(gpus=listed_gpus(), currency=Currency.USD)

    best = cheapest(rows)

    assert best is not None
    assert best.gpu.slug == "rtx-4090"


def test_groups_the_quotes_of_a_model_by_currency(publish: Publish) -> None:
    publish("l40s", 790_000)
    publish("l40s", 801_000, gpus=8)

    by_currency = {q.currency: q for q in quotes_by_currency(gpu=GpuModel.objects.get(slug="l40s"))}

    usd = by_currency[Currency.USD]
    assert usd.one is not None
    assert usd.eight is not None
    assert (usd.one.price_micro, usd.eight.price_micro) == (790_000, 801_000)
    assert by_currency[Currency.EUR].one is None
