"""Two to four GPU models side by side, as the address names them."""

import csv
import re
from io import StringIO

import pytest
from django.test import Client

from catalog.models import GpuModel
from tests.integration.catalog.prices import Publish
from tests.integration.catalog.reading import page, plain, table_rows

pytestmark = pytest.mark.django_db

COMPARE = "/en/gpus/compare/"
THREE = "?cards=rtx-4090,l40s,a100-sxm-80"


def columns(html: str) -> list[str]:
    head = html.split('<table class="compare of')[1].split("</thead>", maxsplit=1)[0]
    return [plain(name) for name in re.findall(r'<th scope="col"><a[^>]*>(.*?)</a>', head)]


def told(html: str) -> list[str]:
    if "Part of this address was left out" not in html:
        return []
    box = html.split("Part of this address was left out")[1].split("</ul>", maxsplit=1)[0]
    return [plain(item) for item in re.findall(r"<li>(.*?)</li>", box, re.DOTALL)]


def rows(html: str) -> dict[str, list[str]]:
    return {row[0]: row[1:] for row in table_rows(html) if len(row) > 1}


class TestTable:
    def test_shows_price_per_hour_per_gb_and_per_tb_with_the_best_by_name(
        self, client: Client, best_usd_offers: None
    ) -> None:
        shown = rows(page(client, COMPARE + THREE))

        assert shown["Price per hour 1 GPU, now"] == ["$0.33 best", "$0.79", "$1.79"]
        # 0.33 / 24, 0.79 / 48, 1.79 / 80.
        assert shown["Per GB of memory and per hour"] == ["$0.014 best", "$0.016", "$0.022"]
        # 0.33 / 1.008, 0.79 / 0.864, 1.79 / 2.039.
        assert shown["Per TB/s of bandwidth and per hour"] == ["$0.327 best", "$0.914", "$0.878"]
        assert shown["Memory"] == ["24 GB", "48 GB", "80 GB best"]
        assert shown["QLoRA"] == ["≈ 15 B", "≈ 35 B", "≈ 60 B best"]
        assert shown["NVLink"] == ["no", "no", "600 GB/s best"]
        assert shown["FP8 tensor"] == ["330.3 TFLOPS", "733 TFLOPS best", "–"]

    def test_names_equal_best_values_together_and_says_what_is_the_same(
        self, client: Client, best_usd_offers: None
    ) -> None:
        shown = rows(page(client, COMPARE + "?cards=rtx-4090,rtx-a6000,rtx-5090"))
        pair = rows(page(client, COMPARE + "?cards=l40s,rtx-6000-ada"))

        assert shown["Price per hour 1 GPU, now"] == ["$0.33 best", "$0.33 best", "$0.69"]
        assert pair["Memory the same"] == ["48 GB", "48 GB"]

    def test_leaves_out_the_same_when_only_differences_are_asked_for(
        self, client: Client, best_usd_offers: None
    ) -> None:
        html = page(client, COMPARE + "?cards=l40s,rtx-6000-ada&rows=differences")

        assert "Memory the same" not in rows(html)
        assert "Bandwidth" in rows(html)
        assert 'href="?cards=l40s%2Crtx-6000-ada">Every row</a>' in html

    def test_says_in_words_which_model_is_best_at_what(
        self, client: Client, best_usd_offers: None
    ) -> None:
        html = plain(page(client, COMPARE + THREE))

        assert "RTX 4090, L40S or A100 SXM?" in html
        assert "The lowest price per hour: RTX 4090." in html
        assert "The most memory: A100 SXM." in html

    def test_a_model_without_an_offer_has_no_price_and_the_others_do(
        self, client: Client, publish: Publish
    ) -> None:
        publish("rtx-4090", 330_000)

        shown = rows(page(client, COMPARE + "?cards=rtx-4090,l40s"))

        assert shown["Price per hour 1 GPU, now"] == ["$0.33", "No offer now"]
        assert shown["Per GB of memory and per hour"] == ["$0.014", "–"]

    def test_asks_the_database_little(
        self, client: Client, best_usd_offers: None, django_assert_max_num_queries
    ) -> None:
        page(client, COMPARE)

        with django_assert_max_num_queries(6):
            page(client, COMPARE + THREE)


class TestChoice:
    @pytest.mark.parametrize(
        "query",
        [
            THREE,
            "?cards=rtx-4090&cards=l40s&cards=a100-sxm-80",
            "?cards=rtx-4090,,l40s&cards=&cards= a100-sxm-80",
        ],
    )
    def test_reads_one_parameter_or_several(
        self, client: Client, catalogue: None, query: str
    ) -> None:
        html = page(client, COMPARE + query)

        assert columns(html) == ["RTX 4090", "L40S", "A100 SXM"]
        assert told(html) == []

    def test_a_column_is_removed_by_a_link_that_keeps_the_others(
        self, client: Client, catalogue: None
    ) -> None:
        html = page(client, COMPARE + THREE + "&currency=EUR")

        assert 'href="?cards=rtx-4090%2Ca100-sxm-80&amp;currency=EUR"' in html

    def test_a_model_is_added_by_a_form_that_keeps_the_others(
        self, client: Client, catalogue: None
    ) -> None:
        html = page(client, COMPARE + "?cards=rtx-4090,l40s")

        assert '<input type="hidden" name="cards" value="rtx-4090,l40s">' in html
        assert '<option value="rtx-4090"' not in html
        assert columns(page(client, COMPARE + "?cards=rtx-4090%2Cl40s&cards=l4")) == [
            "RTX 4090",
            "L40S",
            "L4",
        ]

    def test_offers_no_fifth(self, client: Client, catalogue: None) -> None:
        html = page(client, COMPARE + "?cards=rtx-4090,l40s,a100-sxm-80,l4")

        assert "Add a model" not in html


class TestStates:
    def test_five_cards_show_the_first_four_and_tell(self, client: Client, catalogue: None) -> None:
        html = page(client, COMPARE + "?cards=rtx-4090,l40s,a100-sxm-80,l4,h100-sxm")

        assert columns(html) == ["RTX 4090", "L40S", "A100 SXM", "L4"]
        assert told(html) == ["H100 SXM is one too many: at most 4 stand side by side."]

    def test_a_card_named_twice_is_shown_once_and_told(
        self, client: Client, catalogue: None
    ) -> None:
        html = page(client, COMPARE + "?cards=rtx-4090,l40s&cards=rtx-4090")

        assert columns(html) == ["RTX 4090", "L40S"]
        assert told(html) == ["RTX 4090 was named more than once and is shown once."]

    def test_an_unknown_card_is_named(self, client: Client, catalogue: None) -> None:
        html = page(client, COMPARE + "?cards=rtx-4090,rtx-9090,<b>")

        assert columns(html) == ["RTX 4090"]
        assert told(html) == [
            "No GPU model is called “rtx-9090”.",
            "No GPU model is called “<b>”.",
        ]
        assert "“&lt;b&gt;”" in html

    def test_one_card_asks_for_a_second(self, client: Client, catalogue: None) -> None:
        html = page(client, COMPARE + "?cards=l40s")

        assert "L40S, compared with?" in html
        assert "Add a second model to see the differences." in html
        assert columns(html) == ["L40S"]

    @pytest.mark.parametrize("query", ["", "?cards=", "?cards=,,,", "?cards=nothing"])
    def test_none_offers_a_choice(self, client: Client, catalogue: None, query: str) -> None:
        html = page(client, COMPARE + query)

        assert "<table" not in html
        assert "First model" in html
        assert "Second model" in html

    def test_a_delisted_card_is_not_compared(self, client: Client, catalogue: None) -> None:
        GpuModel.objects.filter(slug="l40s").update(is_listed=False)

        html = page(client, COMPARE + "?cards=rtx-4090,l40s")

        assert told(html) == ["No GPU model is called “l40s”."]

    def test_a_thousand_names_are_not_all_answered(self, client: Client, catalogue: None) -> None:
        html = page(client, COMPARE + "?cards=" + ",".join(f"x{n}" for n in range(1000)))

        assert len(told(html)) == 12

    def test_an_unknown_currency_is_refused_by_name(self, client: Client, catalogue: None) -> None:
        answer = client.get(COMPARE + THREE + "&currency=BTC")

        assert answer.status_code == 400
        assert "“BTC” is not a currency of this market." in answer.content.decode()


class TestFile:
    def test_holds_the_rows_of_the_page(self, client: Client, best_usd_offers: None) -> None:
        answer = client.get("/en/gpus/compare/export.csv?cards=rtx-4090,l40s")

        text = answer.content.decode().removeprefix("\ufeff")
        lines = list(csv.reader(StringIO(text)))
        assert lines[0] == ["Figure", "Unit", "RTX 4090", "L40S"]
        assert lines[1] == ["Price per hour", "USD per GPU and hour, excl. tax", "0.33", "0.79"]
        assert lines[2] == ["Per GB of memory", "USD per GB and hour, excl. tax", "0.014", "0.016"]
        assert ["Memory", "GB", "24", "48"] in lines
        assert "compare-rtx-4090-l40s.csv" in answer.headers["content-disposition"]

    def test_an_unknown_currency_is_a_bad_request(self, client: Client, catalogue: None) -> None:
        answer = client.get("/en/gpus/compare/export.csv?cards=l4&currency=BTC")

        assert answer.status_code == 400
        assert answer.headers["content-type"].startswith("text/plain")
