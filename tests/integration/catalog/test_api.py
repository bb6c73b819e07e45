"""Market data of the catalogue over the API: no key, the pages' numbers."""

import pytest
from django.test import Client

from tests.integration.catalog.prices import AS_OF, BEST_USD_MILLI, Publish

pytestmark = pytest.mark.django_db

FINE_TUNING = "/api/v1/use-cases/fine-tuning/"


def test_gives_the_fine_tuning_table(client: Client, best_usd_offers: None) -> None:
    answer = client.get(FINE_TUNING, {"currency": "USD"}).json()

    rows = answer["rows"]
    assert [row["price_per_gpu_hour"] for row in rows] == [
        f"{milli / 1000:.2f}" for milli in BEST_USD_MILLI.values()
    ]
    assert rows[0] == {
        "card": "RTX 4090",
        "slug": "rtx-4090",
        "architecture": "Ada Lovelace",
        "memory_gb": 24,
        "bandwidth_gb_per_s": 1008,
        "qlora_b": 15,
        "lora16_b": 7,
        "full_b": 1,
        "price_per_gpu_hour": "0.33",
        "currency": "USD",
        "as_of": AS_OF.isoformat(),
    }
    assert answer["as_of"] == AS_OF.isoformat()


def test_a_card_without_an_offer_has_a_null_price(client: Client, publish: Publish) -> None:
    publish("rtx-4090", None)

    rows = client.get(FINE_TUNING).json()["rows"]

    assert (rows[0]["price_per_gpu_hour"], rows[0]["as_of"]) == (None, AS_OF.isoformat())
    assert (rows[1]["price_per_gpu_hour"], rows[1]["as_of"]) == (None, None)


def test_shows_the_third_decimal_when_it_counts(client: Client, publish: Publish) -> None:
    publish("rtx-4090", 324_000)

    assert client.get(FINE_TUNING).json()["rows"][0]["price_per_gpu_hour"] == "0.324"


@pytest.mark.parametrize("currency", ["XBT", "usd", "", "EUR,USD", "€"])
def test_refuses_an_unknown_currency_by_name(
    client: Client, catalogue: None, currency: str
) -> None:
    response = client.get(FINE_TUNING, {"currency": currency})

    assert response.status_code == 400
    assert list(response.json()["errors"]) == ["currency"]
    assert response.headers["content-type"] == "application/problem+json"


def test_an_unknown_use_case_is_not_found(client: Client, catalogue: None) -> None:
    assert client.get("/api/v1/use-cases/mining/").status_code == 404


def test_lists_every_model(client: Client, catalogue: None, django_assert_max_num_queries) -> None:
    with django_assert_max_num_queries(2):
        answer = client.get("/api/v1/gpus/", {"currency": "EUR"}).json()

    l4 = next(row for row in answer["rows"] if row["slug"] == "l4")
    assert len(answer["rows"]) == 53
    assert (answer["currency"], l4["bandwidth_gb_per_s"]) == ("EUR", 300.1)


def test_refuses_to_be_written(client: Client, catalogue: None) -> None:
    # A stranger who writes is told so before anything is looked at.
    assert client.post(FINE_TUNING, {}).status_code in {403, 405}
