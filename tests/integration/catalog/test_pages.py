"""The public pages, as visitors of both languages get them."""

import re
from datetime import timedelta
from html import unescape

import pytest
from django.test import Client

from billing.money import Currency
from catalog.models import GpuModel
from marketplace.accounts import clock
from tests.integration.catalog.prices import Publish

pytestmark = pytest.mark.django_db

FRENCH = "/fr/usages/reglage-fin/"
ENGLISH = "/en/use-cases/fine-tuning/"

PAGES = [
    "/fr/",
    "/en/",
    "/fr/gpu/",
    "/en/gpus/",
    "/en/gpus/?cards=fine-tuning",
    "/fr/gpu/rtx-4090/",
    "/en/gpus/h200-nvl/",
    FRENCH,
    ENGLISH,
]


def page(client: Client, address: str) -> str:
    response = client.get(address)
    assert response.status_code == 200, address
    return response.content.decode()


def table_rows(html: str) -> list[list[str]]:
    """Return the text of the cells of the first table's body."""
    body = re.search(r"<tbody>(.*?)</tbody>", html, re.DOTALL)
    assert body is not None
    rows = re.findall(r"<tr>(.*?)</tr>", body[1], re.DOTALL)
    return [
        [
            " ".join(unescape(re.sub(r"<[^>]+>", " ", cell)).split(" ")).strip()
            for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL)
        ]
        for row in rows
    ]


def plain(text: str) -> str:
    """Return the text with every kind of space as one ordinary space."""
    return re.sub(r"\s+", " ", text).strip()


FRENCH_TABLE = [
    ["RTX 4090 Ada Lovelace", "dès 0,33 $US", "24 Go", "1 008 Go/s", "≈ 15 Md", "≈ 7 Md"],
    ["RTX 5090 Blackwell", "dès 0,69 $US", "32 Go", "1 792 Go/s", "≈ 25 Md", "≈ 10 Md"],
    ["RTX A6000 Ampere", "dès 0,33 $US", "48 Go", "768 Go/s", "≈ 35 Md", "≈ 15 Md"],
    ["L40S Ada Lovelace", "dès 0,79 $US", "48 Go", "864 Go/s", "≈ 35 Md", "≈ 15 Md"],
    ["RTX 6000 Ada Ada Lovelace", "dès 0,74 $US", "48 Go", "960 Go/s", "≈ 35 Md", "≈ 15 Md"],
    ["A100 SXM Ampere", "dès 1,79 $US", "80 Go", "2 039 Go/s", "≈ 60 Md", "≈ 25 Md"],
    ["H100 SXM Hopper", "dès 2,88 $US", "80 Go", "3 350 Go/s", "≈ 60 Md", "≈ 25 Md"],
    [
        "RTX PRO 6000 Blackwell Blackwell",
        "dès 1,69 $US",
        "96 Go",
        "1 792 Go/s",
        "≈ 75 Md",
        "≈ 30 Md",
    ],
    ["H200 Hopper", "dès 4,19 $US", "141 Go", "4 800 Go/s", "≈ 110 Md", "≈ 45 Md"],
]


class TestFineTuningPage:
    def test_shows_the_whole_table_in_french(self, client: Client, best_usd_offers: None) -> None:
        rows = table_rows(page(client, FRENCH))

        assert [[plain(cell) for cell in row[:6]] for row in rows] == FRENCH_TABLE

    def test_shows_the_whole_table_in_english(self, client: Client, best_usd_offers: None) -> None:
        rows = table_rows(page(client, ENGLISH + "?currency=USD"))

        first, last = ([plain(cell) for cell in row[:6]] for row in (rows[0], rows[-1]))
        assert len(rows) == 9
        assert first == [
            "RTX 4090 Ada Lovelace",
            "from $0.33",
            "24 GB",
            "1,008 GB/s",
            "≈ 15 B",
            "≈ 7 B",
        ]
        assert last == [
            "H200 Hopper",
            "from $4.19",
            "141 GB",
            "4,800 GB/s",
            "≈ 110 B",
            "≈ 45 B",
        ]

    def test_separates_french_prices_and_units_as_french_readers_expect(
        self, client: Client, best_usd_offers: None
    ) -> None:
        html = page(client, FRENCH)

        assert "0,33\u00a0$US" in html
        assert "1\u202f008\u202fGo/s" in html

    def test_tells_what_the_price_is_and_its_age(self, client: Client, publish: Publish) -> None:
        publish("rtx-4090", 330_000, as_of=clock.now() - timedelta(minutes=3))

        html = page(client, ENGLISH)

        assert "Best offer for 1 GPU and 1 hour, excl. tax." in html
        assert "3 minutes ago" in html
        assert "(UTC)" in html
        assert "may be out of date" not in html

    def test_marks_prices_that_were_not_published_for_long(
        self, client: Client, publish: Publish
    ) -> None:
        publish("rtx-4090", 330_000, as_of=clock.now() - timedelta(minutes=31))

        assert "These prices may be out of date" in page(client, ENGLISH)

    def test_never_invents_a_price(self, client: Client, publish: Publish) -> None:
        publish("rtx-4090", None)

        html = page(client, ENGLISH)

        assert [row[1] for row in table_rows(html)] == ["No offer now"] * 9
        assert "$" not in re.sub(r"<script.*?</script>", "", html)

    def test_switches_currency_by_a_link(self, client: Client, publish: Publish) -> None:
        publish("rtx-4090", 310_000, currency=Currency.EUR)

        html = page(client, FRENCH + "?currency=EUR")

        assert plain(table_rows(html)[0][1]) == "dès 0,31 €"
        assert plain(table_rows(html)[1][1]) == "Aucune offre en ce moment"
        assert 'href="?currency=GBP"' in html

    def test_refuses_an_unknown_currency_and_names_it(
        self, client: Client, best_usd_offers: None
    ) -> None:
        response = client.get(ENGLISH + "?currency=<b>XBT")

        html = response.content.decode()
        assert response.status_code == 400
        assert "“&lt;b&gt;XBT” is not a currency of this market." in html
        assert "$0.33" in html

    def test_offers_a_trial_at_its_exact_cost(self, client: Client, best_usd_offers: None) -> None:
        assert "RTX 4090, 3 hours: $0.99 excluding tax." in page(client, ENGLISH)

    def test_leaves_out_a_delisted_card(self, client: Client, best_usd_offers: None) -> None:
        GpuModel.objects.filter(slug="l40s").update(is_listed=False)

        assert len(table_rows(page(client, ENGLISH))) == 8

    def test_leads_to_every_model_to_the_comparison_and_to_sign_up(
        self, client: Client, catalogue: None
    ) -> None:
        html = page(client, ENGLISH)

        assert 'href="/en/gpus/?currency=USD"' in html
        assert "Compare the first four" in html
        assert "Create an account" in html
        assert "Sell GPU hours" in html


class TestEveryPage:
    @pytest.mark.parametrize("address", PAGES)
    def test_has_one_heading_a_title_and_no_id_twice(
        self, client: Client, best_usd_offers: None, address: str
    ) -> None:
        html = page(client, address)

        ids = re.findall(r'\bid="([^"]+)"', html)
        assert html.count("<h1") == 1
        assert re.search(r"<title>[^<]+ – GPU Bourse</title>", html)
        assert len(ids) == len(set(ids))

    @pytest.mark.parametrize("address", PAGES)
    def test_carries_no_inline_style_or_script(
        self, client: Client, best_usd_offers: None, address: str
    ) -> None:
        html = page(client, address)

        assert " style=" not in html
        assert "<style" not in html
        assert re.findall(r"<script(?![^>]*(\bsrc=|application/ld\+json))", html) == []
        assert re.findall(r"\son[a-z]+=", html) == []

    @pytest.mark.parametrize("address", PAGES)
    def test_asks_the_database_little(
        self, client: Client, best_usd_offers: None, address: str, django_assert_max_num_queries
    ) -> None:
        with django_assert_max_num_queries(12):
            client.get(address)

    def test_names_its_twin_and_its_canonical_address(
        self, client: Client, catalogue: None
    ) -> None:
        html = page(client, FRENCH + "?currency=EUR")

        assert '<html lang="fr"' in html
        assert re.search(r'rel="canonical" href="https?://[^"]+/fr/usages/reglage-fin/"', html)
        assert re.search(r'hreflang="en" href="https?://[^"]+/en/use-cases/fine-tuning/"', html)
        assert 'href="/en/use-cases/fine-tuning/?currency=EUR"' in html

    def test_the_root_leads_to_the_readers_language(self, client: Client, db: None) -> None:
        french = client.get("/", headers={"accept-language": "fr-CA,fr;q=0.9"})
        other = client.get("/", headers={"accept-language": "de"})

        assert (french.status_code, french.headers["location"]) == (302, "/fr/")
        assert other.headers["location"] == "/en/"

    @pytest.mark.parametrize(("cookie", "mark"), [("dark", True), ("light", True), ("x", False)])
    def test_paints_the_chosen_theme_at_once(
        self, client: Client, catalogue: None, cookie: str, mark: bool
    ) -> None:
        client.cookies["theme"] = cookie

        html = page(client, "/en/")

        assert (f'data-theme="{cookie}"' in html) is mark

    @pytest.mark.parametrize("language", ["en", "fr"])
    def test_a_missing_page_keeps_the_frame_and_the_language(
        self, client: Client, db: None, language: str
    ) -> None:
        response = client.get(f"/{language}/nowhere/")

        words = {"en": "This page does not exist", "fr": "Cette page n’existe pas"}
        assert response.status_code == 404
        assert words[language] in response.content.decode()
        assert f'href="/{language}/gpu' in response.content.decode()

    def test_a_page_is_read_only(self, client: Client, catalogue: None) -> None:
        assert client.post(ENGLISH).status_code == 405
