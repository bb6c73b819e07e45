"""The use-case pages: each with its own columns, in both languages, and the same over the API."""

import re
from datetime import timedelta
from html import unescape

import pytest
from django.test import Client

from catalog.api.use_cases import row_fields
from catalog.content.use_cases import cards_of, columns_of, use_case_keys
from catalog.models import GpuModel
from catalog.use_cases.columns import columns
from marketplace.accounts import clock
from marketplace.models import MarketState
from tests.integration.catalog.prices import AS_OF, Publish
from tests.integration.catalog.use_case_pages import (
    FRENCH_ADDRESSES,
    KEYS,
    LATER_KEYS,
    address,
    own_questions,
    page,
    set_state,
    table,
    words,
)

pytestmark = pytest.mark.django_db


class TestAddresses:
    def test_there_are_six_each_with_its_own_in_each_language(self) -> None:
        assert use_case_keys() == KEYS
        assert {key: address(key, "fr") for key in KEYS} == FRENCH_ADDRESSES
        assert {address(key) for key in KEYS} == {f"/en/use-cases/{key}/" for key in KEYS}

    @pytest.mark.parametrize("key", KEYS)
    def test_each_names_its_twin(self, client: Client, catalogue: None, key: str) -> None:
        html = page(client, address(key, "fr") + "?currency=GBP")

        assert f'href="{address(key)}?currency=GBP"' in html
        assert re.search(rf'hreflang="en" href="https?://[^/]+{address(key)}"', html)

    @pytest.mark.parametrize("language", ["en", "fr"])
    def test_an_unknown_use_case_is_not_found(
        self, client: Client, catalogue: None, language: str
    ) -> None:
        folder = {"en": "/en/use-cases/", "fr": "/fr/usages/"}[language]

        assert client.get(f"{folder}mining/").status_code == 404

    def test_the_index_leads_to_all_six_with_their_lowest_prices(
        self, client: Client, best_usd_offers: None
    ) -> None:
        html = page(client, "/en/use-cases/?currency=USD")

        doors = re.findall(
            r'<a class="door" href="([^"]+)">.*?<small[^>]*>(.*?)</small>', html, re.DOTALL
        )
        assert [href for href, _price in doors] == [f"{address(key)}?currency=USD" for key in KEYS]
        assert [words(price) for _href, price in doors] == [
            "from $0.33 /h",
            "from $1.79 /h",
            "from $0.33 /h",
            "from $0.33 /h",
            "from $0.33 /h",
            "from $0.33 /h",
        ]

    def test_the_index_says_where_nothing_is_offered(self, client: Client, catalogue: None) -> None:
        html = page(client, "/en/use-cases/")

        assert html.count("No offer now") == len(KEYS)
        assert "No price has been published yet" in html

    def test_the_index_names_a_currency_that_it_does_not_know(
        self, client: Client, catalogue: None
    ) -> None:
        response = client.get("/en/use-cases/?currency=XBT")

        assert response.status_code == 400
        assert "“XBT” is not a currency of this market." in response.content.decode()


class TestEveryUseCase:
    @pytest.mark.parametrize("key", KEYS)
    @pytest.mark.parametrize("language", ["en", "fr"])
    def test_lists_its_cards_with_a_cell_for_each_column(
        self, client: Client, best_usd_offers: None, key: str, language: str
    ) -> None:
        rows = table(page(client, address(key, language)))

        assert len(rows) == len(cards_of(key))
        assert {len(cells) for cells in rows.values()} == {len(columns_of(key))}

    @pytest.mark.parametrize("key", KEYS)
    @pytest.mark.parametrize("language", ["en", "fr"])
    def test_has_one_heading_and_no_id_twice(
        self, client: Client, best_usd_offers: None, key: str, language: str
    ) -> None:
        html = page(client, address(key, language))

        ids = re.findall(r'\bid="([^"]+)"', html)
        assert html.count("<h1") == 1
        assert len(ids) == len(set(ids))

    @pytest.mark.parametrize("key", KEYS)
    def test_leads_on_to_the_five_others(
        self, client: Client, best_usd_offers: None, key: str
    ) -> None:
        html = page(client, address(key))

        found = re.findall(r'<a class="door" href="([^"?]+)\?currency=USD"', html)
        assert found == [address(other) for other in KEYS if other != key]

    @pytest.mark.parametrize("key", KEYS)
    def test_leads_to_each_card_and_to_its_order_form(
        self, client: Client, best_usd_offers: None, key: str
    ) -> None:
        html = page(client, address(key))

        for slug in cards_of(key):
            assert f'href="/en/gpus/{slug}/?currency=USD"' in html
            assert f'href="/en/gpus/{slug}/?currency=USD#order"' in html

    @pytest.mark.parametrize("key", KEYS)
    def test_offers_a_trial_an_account_and_a_seat_for_sellers(
        self, client: Client, best_usd_offers: None, key: str
    ) -> None:
        set_state(MarketState.State.OPEN)

        html = page(client, address(key))

        assert ">Start a trial rental</a>" in html
        assert "With an account you top up a balance once" in html
        assert 'href="/en/sell/">Sell GPU hours</a>' in html
        assert '<aside class="bar"' in html

    @pytest.mark.parametrize("key", KEYS)
    def test_before_the_opening_takes_intentions_and_accounts(
        self, client: Client, best_usd_offers: None, key: str
    ) -> None:
        set_state(MarketState.State.PRELAUNCH)

        html = page(client, address(key))

        assert ">Save my intention</a>" in html
        assert "Start a trial rental" not in html
        assert "as soon as the market is open" in html

    @pytest.mark.parametrize("key", KEYS)
    def test_without_any_offer_invents_nothing(
        self, client: Client, catalogue: None, key: str
    ) -> None:
        html = page(client, address(key))

        assert {cells[0] for cells in table(html).values()} == {"No offer now"}
        assert "$" not in html
        assert "Start a trial rental" not in html
        assert '<aside class="bar"' not in html
        assert "Compare the first four" in html

    @pytest.mark.parametrize("key", KEYS)
    def test_marks_old_prices(self, client: Client, publish: Publish, key: str) -> None:
        publish(cards_of(key)[0], 330_000, as_of=clock.now() - timedelta(minutes=31))

        assert "These prices may be out of date" in page(client, address(key))

    @pytest.mark.parametrize("key", KEYS)
    def test_says_what_each_column_rests_on(
        self, client: Client, best_usd_offers: None, key: str
    ) -> None:
        head = page(client, address(key)).split("<thead>")[1].split("</thead>")[0]

        said = [words(basis) for basis in re.findall(r"<small>(.*?)</small>", head)]
        assert said == [str(column.basis) for column in columns(key) if column.basis]
        assert said

    @pytest.mark.parametrize("key", LATER_KEYS)
    def test_names_the_source_and_the_day_of_each_measurement(
        self, client: Client, best_usd_offers: None, key: str
    ) -> None:
        html = page(client, address(key))

        sources = [source for column in columns(key) for source in column.sources()]
        assert [source.url for source in sources if f'href="{source.url}"' not in html] == []

    @pytest.mark.parametrize("key", KEYS)
    def test_leaves_out_a_delisted_card(
        self, client: Client, best_usd_offers: None, key: str
    ) -> None:
        GpuModel.objects.filter(slug=cards_of(key)[0]).update(is_listed=False)

        assert len(table(page(client, address(key)))) == len(cards_of(key)) - 1

    @pytest.mark.parametrize("key", [*KEYS, "index"])
    def test_asks_the_database_a_few_times_however_much_is_offered(
        self, client: Client, publish: Publish, key: str, django_assert_max_num_queries
    ) -> None:
        path = "/en/use-cases/" if key == "index" else address(key)
        client.get(path)
        with django_assert_max_num_queries(7) as few:
            client.get(path)

        for slug in (gpu.slug for gpu in GpuModel.objects.all()):
            publish(slug, 1_000_000)
        with django_assert_max_num_queries(7) as many:
            client.get(path)

        assert own_questions(many) == own_questions(few) > 0


class TestComparison:
    def test_puts_the_four_cheapest_side_by_side(
        self, client: Client, best_usd_offers: None
    ) -> None:
        html = page(client, address("fine-tuning"))

        link = re.search(r'href="([^"]+)">Compare the four cheapest</a>', html)
        assert link is not None
        assert unescape(link[1]) == (
            "/en/gpus/compare/?cards=rtx-4090,rtx-a6000,rtx-5090,rtx-6000-ada&currency=USD"
        )
        assert client.get(unescape(link[1])).status_code == 200

    def test_takes_the_first_four_where_fewer_have_a_price(
        self, client: Client, publish: Publish
    ) -> None:
        for slug in ("h200-sxm", "h100-sxm", "l40s"):
            publish(slug, 1_000_000)

        html = page(client, address("fine-tuning"))

        link = re.search(r'href="([^"]+)">Compare the first four</a>', html)
        assert link is not None
        assert unescape(link[1]).split("?")[1] == (
            "cards=rtx-4090,rtx-5090,rtx-a6000,l40s&currency=USD"
        )


class TestApi:
    @pytest.mark.parametrize("key", LATER_KEYS)
    def test_holds_just_the_fields_that_the_schema_names(
        self, client: Client, best_usd_offers: None, key: str
    ) -> None:
        answer = client.get(f"/api/v1/use-cases/{key}/?currency=USD").json()

        assert answer["use_case"] == key
        assert (answer["currency"], answer["as_of"]) == ("USD", AS_OF.isoformat())
        assert {tuple(row) for row in answer["rows"]} == {tuple(row_fields(key))}
        assert {row["slug"] for row in answer["rows"]} == set(cards_of(key))

    def test_gives_the_rendering_page_in_numbers(
        self, client: Client, best_usd_offers: None
    ) -> None:
        answer = client.get("/api/v1/use-cases/rendering/?currency=USD").json()

        rows = {row["slug"]: row for row in answer["rows"]}
        assert rows["rtx-4090"] == {
            "card": "RTX 4090",
            "slug": "rtx-4090",
            "architecture": "Ada Lovelace",
            "memory_gb": 24,
            "bandwidth_gb_per_s": 1008,
            "price_per_gpu_hour": "0.33",
            "currency": "USD",
            "as_of": AS_OF.isoformat(),
            "has_rt_cores": True,
            "fp32_tflops": "82.58",
            "blender_samples_per_minute": "11568",
            "blender_basis": "measured",
            "blender_submissions": 69,
            "price_per_million_samples": "0.475",
        }
        assert rows["rtx-6000-ada"]["blender_basis"] == "estimated"
        assert rows["rtx-6000-ada"]["blender_submissions"] is None
        assert rows["a100-pcie-80"]["price_per_million_samples"] is None
        assert answer["sources"][-1]["held_on"] == "2026-10-07"
        assert "145 samples per minute for each TFLOPS" in answer["figures_basis"]

    def test_gives_the_sizes_and_the_bound_of_inference(
        self, client: Client, best_usd_offers: None
    ) -> None:
        rows = client.get("/api/v1/use-cases/llm-inference/").json()["rows"]

        row = next(row for row in rows if row["slug"] == "rtx-4090")
        assert [row[f"served_{bits}_bit_b"] for bits in (16, 8, 4)] == [9, 15, 30]
        assert row["llama_3_8b_bound_tokens_per_s"] == 68
        assert row["llama_3_8b_measured_tokens_per_s"] == "54.34"

    def test_gives_verdicts_as_words_and_the_price_of_eight(
        self, client: Client, publish: Publish
    ) -> None:
        publish("a100-sxm-80", 1_801_000, gpus=8)

        video = client.get("/api/v1/use-cases/image-video/").json()["rows"]
        training = client.get("/api/v1/use-cases/llm-training/").json()["rows"]

        a100 = next(row for row in video if row["slug"] == "a100-sxm-80")
        assert (a100["flux_1_16_bit"], a100["wan_2_1_14b_720p"]) == ("comfortable", "tight")
        assert training[0]["price_per_gpu_hour_on_8_gpus"] == "1.801"
        assert (training[0]["full_b"], training[0]["full_on_8_gpus_b"]) == (4, 30)

    def test_tells_the_known_keys_to_who_asks_for_another(
        self, client: Client, catalogue: None
    ) -> None:
        response = client.get("/api/v1/use-cases/mining/")

        assert response.status_code == 404
        assert response.headers["content-type"] == "application/problem+json"
        assert response.json()["detail"].endswith(f"Known keys: {', '.join(KEYS)}.")

    @pytest.mark.parametrize("key", KEYS)
    def test_asks_the_database_little(
        self, client: Client, best_usd_offers: None, key: str, django_assert_max_num_queries
    ) -> None:
        with django_assert_max_num_queries(3):
            client.get(f"/api/v1/use-cases/{key}/")
