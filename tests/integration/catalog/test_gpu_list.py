"""The list of GPU models: filters and orders in the address, and the same list as a file."""

import csv
import re
from datetime import timedelta
from io import StringIO

import pytest
from django.test import Client

from billing.money import Currency
from catalog.models import GpuModel, MarketFigures, TradedHour
from marketplace.accounts import clock
from tests.integration.catalog.prices import AS_OF, Publish
from tests.integration.catalog.reading import names, page, plain, table_rows

pytestmark = pytest.mark.django_db

LIST = "/en/gpus/"
CSV = "/en/gpus/export.csv"
ALL = "?show=all"


def found(html: str) -> str:
    match = re.search(r'<h2 id="found">(.*?)</h2>', html)
    assert match is not None
    return plain(match[1])


def chips(html: str) -> list[str]:
    texts = re.findall(r'<a class="chip on" href="[^"]*">(.*?)</a>', html, re.DOTALL)
    return [plain(text).split(" ×")[0] for text in texts]


def left_out(html: str) -> list[str]:
    if "Part of this address was left out" not in html:
        return []
    return [plain(item) for item in re.findall(r"<li>([^<]*“.*?)</li>", html)]


def csv_lines(client: Client, query: str) -> list[list[str]]:
    answer = client.get(CSV + query)
    assert answer.status_code == 200
    text = answer.content.decode()
    assert text.startswith("\ufeff")
    return list(csv.reader(StringIO(text.removeprefix("\ufeff"))))


class TestWhatIsOnOffer:
    def test_hides_models_without_an_offer_and_counts_them(
        self, client: Client, best_usd_offers: None
    ) -> None:
        html = page(client, LIST)

        assert found(html) == "9 models of 53"
        assert "44 models without an offer are hidden." in html
        assert 'href="?show=all">Show every model</a>' in html
        assert names(html)[0] == "RTX 4090 Ada Lovelace"

    def test_shows_every_model_while_nothing_is_on_offer(
        self, client: Client, catalogue: None
    ) -> None:
        html = page(client, LIST)

        assert found(html) == "53 models of 53"
        assert {row[1] for row in table_rows(html)} == {"No offer now"}
        assert "hidden" not in html.split('<section class="card results"')[1].split("<table")[0]

    def test_shows_every_model_when_asked(self, client: Client, best_usd_offers: None) -> None:
        html = page(client, LIST + ALL)

        assert found(html) == "53 models of 53"
        assert names(html)[9:] != []
        assert {row[1] for row in table_rows(html)[9:]} == {"No offer now"}
        assert "Show only what is on offer now" in html

    def test_what_is_on_offer_depends_on_the_currency(
        self, client: Client, publish: Publish
    ) -> None:
        publish("l4", 300_000, currency=Currency.EUR)

        assert names(page(client, LIST + "?currency=EUR")) == ["L4 Ada Lovelace"]
        assert found(page(client, LIST + "?currency=USD")) == "53 models of 53"


class TestFilters:
    @pytest.mark.parametrize(
        ("query", "count", "words"),
        [
            ("?memory=96&show=all", 11, ["≥ 96 GB"]),
            ("?memory=100&show=all", 8, ["≥ 100 GB"]),
            ("?architecture=Hopper&show=all", 5, ["Hopper"]),
            ("?vendor=AMD&show=all", 6, ["AMD"]),
            ("?segment=consumer&show=all", 13, ["Consumer"]),
            ("?segment=consumer&segment=workstation&show=all", 24, ["Workstation, Consumer"]),
            ("?nvlink=1&memory=80&show=all", 5, ["≥ 80 GB", "NVLink"]),
            ("?price=0.33", 2, ["≤ $0.33", "On offer now"]),
            ("?price=0,69", 3, ["≤ $0.69", "On offer now"]),
            ("?cards=fine-tuning&show=all", 9, ["Fine-tuning"]),
            (
                "?model=llama-3.1-70b&method=qlora&memory=80",
                4,
                ["Llama 3.1 70B, QLoRA, 4 bits", "≥ 80 GB", "On offer now"],
            ),
            ("?model=llama-3.1-70b&method=inference16&show=all", 5, None),
        ],
    )
    def test_leaves_what_the_address_asks_for(
        self,
        client: Client,
        best_usd_offers: None,
        query: str,
        count: int,
        words: list[str] | None,
    ) -> None:
        html = page(client, LIST + query)

        assert len(names(html)) == count
        if words is not None:
            assert chips(html) == words

    def test_says_how_a_chosen_model_fits(self, client: Client, best_usd_offers: None) -> None:
        html = page(client, LIST + "?model=llama-3.1-70b&memory=80")

        assert [(row[0], row[2]) for row in table_rows(html)] == [
            ("RTX PRO 6000 Blackwell Blackwell", "Comfortable"),
            ("A100 SXM Ampere", "Tight"),
            ("H100 SXM Hopper", "Tight"),
            ("H200 Hopper", "Comfortable"),
        ]
        assert "The verdict is indicative" in html
        assert "is counted at 70.6 GB" in html

    def test_keeps_what_was_chosen_in_the_form(self, client: Client, best_usd_offers: None) -> None:
        html = page(client, LIST + "?memory=100&price=1.5&segment=workstation&sort=-memory")

        assert '<option value="100" selected>100 GB</option>' in html
        assert 'name="price"' in html
        assert 'value="1.5"' in html
        assert 'value="workstation" checked' in html
        assert '<input type="hidden" name="sort" value="-memory">' in html

    def test_a_chip_takes_its_filter_away_and_keeps_the_rest(
        self, client: Client, best_usd_offers: None
    ) -> None:
        html = page(client, LIST + "?model=llama-2-13b-hf&method=lora16&memory=48&currency=USD")

        assert 'href="?memory=48&amp;currency=USD"' in html
        assert 'href="?model=llama-2-13b-hf&amp;method=lora16&amp;currency=USD"' in html


class TestNoMatch:
    def test_says_which_filter_to_leave_out_and_what_that_frees(
        self, client: Client, best_usd_offers: None
    ) -> None:
        html = page(client, LIST + "?memory=141&price=0.50")

        box = html.split('<ul class="relax">')[1]
        offers = re.findall(r'<li><a href="([^"]+)">(.*?)</a> <span>(.*?)</span>', box, re.DOTALL)
        assert "No model passes all these filters" in html
        assert [(href, plain(words), freed) for href, words, freed in offers] == [
            ("?price=0.50", "≥ 141 GB", "2 models without this filter"),
            ("?memory=141", "≤ $0.50", "1 model without this filter"),
        ]

    def test_says_when_no_single_filter_is_to_blame(
        self, client: Client, best_usd_offers: None
    ) -> None:
        html = page(client, LIST + "?vendor=AMD&architecture=Hopper&memory=1000")

        assert "leave out two or more" in html
        assert "Clear all filters" in html


class TestOrder:
    @pytest.mark.parametrize(
        ("sort", "first", "last"),
        [
            ("price", "RTX 4090 Ada Lovelace", "H200 Hopper"),
            ("-price", "H200 Hopper", "RTX A6000 Ampere"),
            ("memory", "RTX 4090 Ada Lovelace", "H200 Hopper"),
            ("-bandwidth", "H200 Hopper", "RTX A6000 Ampere"),
            ("name", "A100 SXM Ampere", "RTX PRO 6000 Blackwell Blackwell"),
        ],
    )
    def test_sorts_by_the_column_of_the_address(
        self, client: Client, best_usd_offers: None, sort: str, first: str, last: str
    ) -> None:
        shown = names(page(client, f"{LIST}?sort={sort}"))

        assert (shown[0], shown[-1]) == (first, last)

    @pytest.mark.parametrize("sort", ["price", "-price"])
    def test_a_model_without_the_value_stands_last_in_both_directions(
        self, client: Client, publish: Publish, sort: str
    ) -> None:
        publish("h200-sxm", 4_190_000)
        publish("l4", 460_000)

        shown = names(page(client, f"{LIST}?show=all&sort={sort}"))

        assert set(shown[:2]) == {"H200 Hopper", "L4 Ada Lovelace"}

    def test_marks_the_column_and_turns_round_at_the_second_time(
        self, client: Client, best_usd_offers: None
    ) -> None:
        html = page(client, LIST + "?sort=memory&currency=USD")

        assert html.count("aria-sort=") == 1
        assert 'aria-sort="ascending"><a class="sort" href="?sort=-memory&amp;currency=USD"' in html


class TestBadInput:
    @pytest.mark.parametrize(
        ("query", "words"),
        [
            ("?memory=lots", "Memory: “lots”"),
            ("?memory=-1", "Memory: “-1”"),
            ("?memory=²", "Memory: “²”"),
            ("?memory=" + "9" * 5000, "Memory: “" + "9" * 40 + "”"),
            ("?architecture=Pascal", "Architecture: “Pascal”"),
            ("?vendor=<b>x", "Vendor: “<b>x”"),
            ("?segment=toys", "Segment: “toys”"),
            ("?model=gpt-9", "Model: “gpt-9”"),
            ("?method=magic", "Method: “magic”"),
            ("?cards=mining", "Cards: “mining”"),
            ("?show=none", "On offer: “none”"),
            ("?nvlink=yes", "NVLink: “yes”"),
            ("?sort=colour", "Sort order: “colour”"),
            ("?price=cheap", "Highest price: “cheap” – Enter an amount such as 12.50 or 12,50."),
            ("?price=-1", "Highest price: “-1” – Enter at least 0.01."),
            ("?price=1e9", "Highest price: “1e9” – Enter an amount such as 12.50 or 12,50."),
            ("?price=0.33 €", "Highest price: “0.33 €” – This amount is in USD, not in EUR."),
            (
                "?price=1.23456",
                "Highest price: “1.23456” – Use at most 3 decimals: the smallest step is 0.001.",
            ),
        ],
    )
    def test_an_unknown_value_is_named_and_left_out(
        self, client: Client, best_usd_offers: None, query: str, words: str
    ) -> None:
        html = page(client, LIST + query)

        assert left_out(html) == [words]
        assert found(html) == "9 models of 53"

    @pytest.mark.parametrize(
        "query", ["?utm_source=x", "?page=999", "?memory=", "?price=", "?memory=24&x=y"]
    )
    def test_unknown_parameters_and_empty_ones_do_nothing(
        self, client: Client, best_usd_offers: None, query: str
    ) -> None:
        html = page(client, LIST + query)

        assert left_out(html) == []
        assert found(html) == "9 models of 53"

    def test_a_refused_price_stays_as_typed_at_its_field(
        self, client: Client, best_usd_offers: None
    ) -> None:
        html = page(client, LIST + "?price=abc")

        assert 'value="abc" aria-invalid="true" aria-describedby="f_price_error"' in html
        assert 'id="f_price_error"' in html

    def test_an_unknown_currency_is_refused_by_name(
        self, client: Client, best_usd_offers: None
    ) -> None:
        answer = client.get(LIST + "?currency=BTC")

        assert answer.status_code == 400
        assert "“BTC” is not a currency of this market." in answer.content.decode()

    def test_the_value_of_another_is_no_script(self, client: Client, best_usd_offers: None) -> None:
        html = page(client, LIST + "?vendor=<script>alert(1)</script>")

        assert "<script>alert" not in html


class TestFile:
    def test_holds_exactly_the_rows_and_columns_of_the_page(
        self, client: Client, best_usd_offers: None
    ) -> None:
        query = "?memory=80&sort=-price&currency=USD"
        TradedHour.objects.create(
            gpu_model=GpuModel.objects.get(slug="h200-sxm"),
            currency="USD",
            hour_starts_at=clock.now() - timedelta(hours=2),
            average_price_micro=4_100_000,
            last_price_micro=4_100_000,
            gpu_hours=3,
            fills=1,
        )

        head, *lines = csv_lines(client, query)

        shown = [name.rsplit(" ", 1)[0] for name in names(page(client, LIST + query))]
        assert [line[0] for line in lines] == shown
        assert head[2] == "Best offer (USD per GPU and hour, excl. tax)"
        assert lines[0] == [
            "H200",
            "Hopper",
            "4.19",
            "4.10",
            "4.10",
            "141",
            "4800",
            "989",
            "66.91",
            "110",
            "45",
            "",
            AS_OF.isoformat(),
        ]

    def test_adds_the_verdict_when_a_model_is_chosen(
        self, client: Client, best_usd_offers: None
    ) -> None:
        head, first, *_rest = csv_lines(client, "?model=llama-3.1-70b&memory=80")

        assert head[3] == "Llama 3.1 70B, QLoRA, 4 bits"
        assert first[3] == "Comfortable"

    def test_leaves_the_price_empty_without_an_offer(self, client: Client, catalogue: None) -> None:
        lines = csv_lines(client, "")

        assert len(lines) == 54
        assert {line[2] for line in lines[1:]} == {""}

    def test_an_unknown_currency_is_a_bad_request(self, client: Client, catalogue: None) -> None:
        assert client.get(CSV + "?currency=BTC").status_code == 400

    def test_is_linked_with_the_filters_of_the_page(
        self, client: Client, best_usd_offers: None
    ) -> None:
        html = page(client, LIST + "?memory=80")

        assert 'href="/en/gpus/export.csv?memory=80&amp;currency=USD"' in html


class TestMarketColumns:
    def test_counts_open_offers_and_draws_the_day(
        self, client: Client, best_usd_offers: None
    ) -> None:
        model = GpuModel.objects.get(slug="rtx-4090")
        MarketFigures.objects.create(gpu_model=model, currency="USD", offers=14, as_of=AS_OF)
        for hours, micro in ((3, 300_000), (1, 330_000), (30, 900_000)):
            TradedHour.objects.create(
                gpu_model=model,
                currency="USD",
                hour_starts_at=clock.now() - timedelta(hours=hours),
                average_price_micro=micro,
                last_price_micro=micro,
                gpu_hours=1,
                fills=1,
            )

        html = page(client, LIST)

        row = table_rows(html)[0]
        assert row[-1] == "14"
        assert "RTX 4090, price paid over 24 hours. Up 10%" in row[2]

    def test_asks_the_database_little(
        self, client: Client, best_usd_offers: None, django_assert_max_num_queries
    ) -> None:
        page(client, LIST)

        with django_assert_max_num_queries(6):
            page(client, LIST + "?model=llama-3.1-70b&memory=80")
        with django_assert_max_num_queries(5):
            client.get(CSV)
