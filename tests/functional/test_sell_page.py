"""The page that tells sellers how selling works and what it may earn."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils.translation import override

from billing.money import Currency
from catalog.operations.quotes import QuoteToPublish, publish_quotes
from tests.factories import T0, GpuModelFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def cards():
    first = GpuModelFactory.create(slug="rtx-4090", name="RTX 4090")
    second = GpuModelFactory.create(slug="h100-sxm", name="H100 SXM")
    quotes = [
        QuoteToPublish(
            gpu_model_id=card.pk,
            currency=currency,
            gpus=1,
            price_micro=price,
            starts_at=T0 if price else None,
        )
        for card, currency, price in (
            (first, Currency.USD, 330_000),
            (second, Currency.USD, 2_880_000),
            (second, Currency.EUR, None),
        )
    ]
    publish_quotes(quotes=quotes, as_of=T0)
    return first, second


def page(client: Client, *, language: str = "en", status: int = 200, **query: Any) -> str:
    with override(language):
        address = reverse("marketplace:sell")
    answer = client.get(address, query)
    assert answer.status_code == status
    return " ".join(answer.content.decode().split())


def test_begins_with_the_best_offer_of_the_first_card(client, cards):
    text = page(client)

    assert 'name="price" value="0.33"' in text
    assert "Best offer for one RTX 4090 now: $0.33 per hour" in text
    assert "<dd>$950.40</dd>" in text
    assert '<dd class="t">$855.36</dd>' in text
    assert "<dd>$0.255</dd>" in text


def test_counts_with_what_the_address_says(client, cards):
    text = page(
        client,
        gpu="h100-sxm",
        gpus="2",
        price="2.50",
        currency="USD",
        sold_hours="10",
        rental_hours="5",
    )

    # 2 GPUs, 10 hours, 30 days at 2.50; a tenth is the fee; 5 of 6 occupied hours are paid.
    assert "<dd>$1,500.00</dd>" in text
    assert '<dd class="t">$1,350.00</dd>' in text
    assert "<dd>$2.25</dd>" in text
    assert "<dd>$1.875</dd>" in text


def test_takes_the_new_models_offer_unless_a_price_was_typed(client, cards):
    shown: dict[str, Any] = {"best": "0.33", "for": "rtx-4090.USD", "gpu": "h100-sxm"}

    assert 'name="price" value="2.88"' in page(client, price="0.33", **shown)
    assert 'name="price" value="0.40"' in page(client, price="0.40", **shown)


def test_without_an_offer_it_asks_for_a_price_and_invents_none(client, cards):
    text = page(client, gpu="h100-sxm", currency="EUR")

    assert "No offer of a H100 SXM in EUR now: write the price that you would ask." in text
    assert "Yours in 30 days" not in text


@pytest.mark.parametrize(
    ("query", "complaint"),
    [
        ({"gpu": "x-1"}, "x-1"),
        ({"gpus": "17"}, "16"),
        ({"gpus": "a lot"}, "Enter a whole number."),
        ({"price": "0.001"}, "Enter at least 0.01."),
        ({"price": "cheap"}, "Enter an amount such as 12.50 or 12,50."),
        ({"currency": "CHF"}, "CHF"),
        ({"sold_hours": "24"}, "At most 20 hours fit into a day"),
        ({"rental_hours": "169"}, "168"),
        ({"gpus": "9" * 5000}, ""),
    ],
)
def test_names_what_is_wrong_at_its_field_and_shows_no_figures(client, cards, query, complaint):
    text = page(client, status=400, **query)

    assert complaint in text
    assert 'class="err"' in text
    assert "Yours in 30 days" not in text


def test_stands_without_any_model(client, db):
    assert "Sell the free hours" in page(client, status=400)


def test_speaks_french(client, cards):
    text = page(client, language="fr")

    assert "Vendez les heures libres de vos serveurs" in text
    assert "855,36 $US" in text
    assert 'value="0,33"' in text


def test_shows_sellers_the_way_into_their_space(client, cards, django_assert_max_num_queries):
    with django_assert_max_num_queries(12):
        assert "Create an account to apply" in page(client)
