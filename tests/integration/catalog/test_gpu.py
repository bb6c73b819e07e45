"""A card's page: its market, what fits, the maker's figures, questions, and its states."""

import re
from datetime import timedelta
from decimal import Decimal
from html import unescape

import pytest
from django.core.cache import cache
from django.test import Client

from catalog.gpu_page import average_micro
from catalog.models import GpuModel, MarketFigures, PublishedOffer, TradedHour
from marketplace.accounts import clock
from marketplace.models import MarketState
from tests.integration.catalog.prices import AS_OF, Publish
from tests.integration.catalog.reading import page, plain

pytestmark = pytest.mark.django_db

LONGEST_TITLE = 60
CARD = "/en/gpus/rtx-4090/"


def trade(slug: str, *, hours_ago: int, price_micro: int, gpu_hours: int = 1) -> TradedHour:
    return TradedHour.objects.create(
        gpu_model=GpuModel.objects.get(slug=slug),
        currency="USD",
        hour_starts_at=clock.now() - timedelta(hours=hours_ago),
        average_price_micro=price_micro,
        last_price_micro=price_micro,
        gpu_hours=gpu_hours,
        fills=1,
    )


def offer(slug: str, **terms: object) -> PublishedOffer:
    values = {
        "currency": "USD",
        "rank": 1,
        "price_micro": 330_000,
        "min_gpus": 1,
        "max_gpus": 4,
        "gpu_step": 1,
        "starts_at": AS_OF,
        "min_hours": 1,
        "max_hours": 48,
        "region": "eu-west",
        "tier": "standard",
        "included": {"disk_gb_per_gpu": 100},
        "as_of": AS_OF,
    }
    return PublishedOffer.objects.create(
        gpu_model=GpuModel.objects.get(slug=slug), **(values | terms)
    )


def section(html: str, heading: str) -> str:
    """Return the part of the page under a heading, named by its id."""
    return html.split(f'id="{heading}"')[1].split("</section>", maxsplit=1)[0]


def questions(html: str) -> dict[str, str]:
    found = re.findall(r"<summary>([^<]+)</summary><p>(.*?)</p></details>", html, re.DOTALL)
    return {plain(question): plain(answer) for question, answer in found}


class TestTitles:
    @pytest.mark.parametrize("pages", ["/en/gpus/", "/fr/gpu/", "/en/market/", "/fr/marche/"])
    def test_fit_for_every_card_of_the_catalogue(
        self, client: Client, catalogue: None, pages: str
    ) -> None:
        # A title grows with the name and with nothing else.
        names = dict(GpuModel.objects.values_list("slug", "name"))
        slug = max(names, key=lambda one: len(names[one]))

        title = re.search(r"<title>(.*?)</title>", page(client, f"{pages}{slug}/"))

        assert title is not None
        assert names[slug] in title[1]
        assert len(unescape(title[1])) <= LONGEST_TITLE


class TestCardPage:
    def test_shows_prices_capacity_figures_and_sources(
        self, client: Client, publish: Publish
    ) -> None:
        publish("h100-sxm", 2_880_000)
        publish("h100-sxm", 2_895_000, gpus=8)

        html = page(client, "/en/gpus/h100-sxm/")

        assert "$2.88" in html
        assert "$2.895" in html
        assert "≈ 60 B" in plain(unescape(html))
        assert "NVLink 900 GB/s" in html
        assert "989 TFLOPS" in html
        assert "https://www.techpowerup.com/gpu-specs/h100-sxm5-80-gb.c3900" in html

    @pytest.mark.parametrize(
        ("typed", "hours"), [("3", 3), ("168", 168), ("169", 1), ("0", 1), ("²", 1), ("x", 1)]
    )
    def test_puts_the_hours_of_a_link_into_the_order_form(
        self, client: Client, best_usd_offers: None, typed: str, hours: int
    ) -> None:
        html = page(client, f"/en/gpus/rtx-4090/?hours={typed}")

        assert re.search(rf'name="hours" value="{hours}"', html)

    def test_an_unknown_card_is_not_found(self, client: Client, catalogue: None) -> None:
        assert client.get("/en/gpus/h1000/").status_code == 404

    def test_a_delisted_card_says_so_and_cannot_be_ordered(
        self, client: Client, publish: Publish
    ) -> None:
        publish("l40s", 790_000)
        GpuModel.objects.filter(slug="l40s").update(is_listed=False)

        html = page(client, "/en/gpus/l40s/")

        assert "This model is no longer listed" in html
        assert 'id="order"' not in html

    def test_names_cards_of_similar_memory(self, client: Client, best_usd_offers: None) -> None:
        html = page(client, "/en/gpus/rtx-a6000/")

        neighbours = html.split("Similar memory")[1].split("</ul>")[0]
        assert re.findall(r">([^<>]+)</a>", neighbours) == ["RTX 6000 Ada", "L40S", "RTX 5090"]

    def test_compares_the_card_with_its_neighbours_by_a_link(
        self, client: Client, best_usd_offers: None
    ) -> None:
        html = page(client, "/en/gpus/rtx-a6000/")

        cards = "rtx-a6000,rtx-6000-ada,l40s,rtx-5090"
        assert f'href="/en/gpus/compare/?cards={cards}&amp;currency=USD"' in html

    def test_names_the_use_cases_that_list_the_card(self, client: Client, catalogue: None) -> None:
        html = page(client, CARD)

        assert 'href="/en/use-cases/fine-tuning/?currency=USD">Fine-tuning</a>' in html
        assert "Suits these jobs" not in page(client, "/en/gpus/rtx-3070/")

    def test_an_unknown_currency_is_refused_by_name(self, client: Client, catalogue: None) -> None:
        answer = client.get(CARD + "?currency=BTC")

        assert answer.status_code == 400
        assert "“BTC” is not a currency of this market." in answer.content.decode()

    def test_asks_the_database_little(
        self, client: Client, best_usd_offers: None, django_assert_max_num_queries
    ) -> None:
        page(client, CARD)

        with django_assert_max_num_queries(12):
            page(client, CARD)


class TestMarket:
    def test_shows_the_day_in_figures(self, client: Client, best_usd_offers: None) -> None:
        MarketFigures.objects.create(
            gpu_model=GpuModel.objects.get(slug="rtx-4090"),
            currency="USD",
            offers=3,
            sold_gpu_hours_24h=3412,
            change_share=Decimal("-0.031"),
            as_of=AS_OF,
        )
        trade("rtx-4090", hours_ago=2, price_micro=300_000, gpu_hours=3)
        trade("rtx-4090", hours_ago=3, price_micro=340_000, gpu_hours=1)
        trade("rtx-4090", hours_ago=30, price_micro=900_000, gpu_hours=9)

        shown = plain(section(page(client, CARD), "offers"))

        # (3 × 0.30 + 1 × 0.34) / 4, without what was paid longer ago.
        assert "Average paid in 24 h $0.31 ▼ down −3.1% in 24 h" in shown
        assert "Sold in 24 h 3,412 GPU-hours" in shown

    def test_says_that_nothing_was_sold(self, client: Client, catalogue: None) -> None:
        shown = plain(section(page(client, CARD), "offers"))

        assert "no sale in 24 hours" in shown
        assert "No sale in this period yet." in shown

    @pytest.mark.parametrize(("period", "points"), [("24h", 1), ("7d", 2), ("30d", 3)])
    def test_shows_the_period_of_the_address(
        self, client: Client, catalogue: None, period: str, points: int
    ) -> None:
        for days in (0, 3, 20):
            trade("rtx-4090", hours_ago=24 * days + 2, price_micro=300_000)

        html = page(client, f"{CARD}?range={period}&currency=USD")

        assert section(html, "history").count("data-price-micro") == points
        assert f'href="?range={period}&amp;currency=USD#history" aria-current="true"' in html

    def test_names_a_period_that_it_does_not_know(self, client: Client, catalogue: None) -> None:
        html = page(client, CARD + "?range=<9y>")

        assert "“&lt;9y&gt;” is no period of the price history: seven days are shown." in html

    def test_lists_the_best_offers_by_size_and_region(
        self, client: Client, catalogue: None
    ) -> None:
        offer("rtx-4090")
        offer(
            "rtx-4090",
            rank=2,
            price_micro=355_000,
            min_gpus=2,
            max_gpus=2,
            region="uk",
            tier="datacentre",
            included={},
            is_verified_by_agent=True,
        )
        offer("rtx-4090", currency="EUR", price_micro=1)

        rows = re.findall(r"<tr>(<th scope=.row.*?)</tr>", section(page(client, CARD), "best"))

        assert [plain(row) for row in rows] == [
            "$0.33 1 to 4 30 Nov, 13:05 Western Europe Standard 100 GB 48 h not verified",
            "$0.355 2 30 Nov, 13:05 United Kingdom Certified data centre – 48 h verified by us",
        ]

    def test_says_that_there_is_no_offer_and_what_to_do(
        self, client: Client, catalogue: None
    ) -> None:
        MarketState.objects.filter(gpu_model=None).update(state=MarketState.State.OPEN)
        cache.clear()

        shown = plain(section(page(client, CARD), "best"))

        assert "No offer now" in shown
        assert "Nobody offers hours of this model in USD at the moment." in shown


class TestAverage:
    def test_weighs_hours_by_what_was_sold_and_rounds_half_up(self) -> None:
        now = AS_OF
        hours = [
            TradedHour(hour_starts_at=now, average_price_micro=1, gpu_hours=1),
            TradedHour(hour_starts_at=now, average_price_micro=2, gpu_hours=1),
        ]

        assert average_micro(hours, since=now) == 2
        assert average_micro(hours, since=now + timedelta(hours=1)) is None


class TestWhatFits:
    def test_judges_well_known_jobs(self, client: Client, catalogue: None) -> None:
        rows = re.findall(
            r"<tr><th scope=.row.*?</tr>", section(page(client, CARD), "fits"), re.DOTALL
        )

        assert [plain(row) for row in rows][:5] == [
            "Llama 3.1 8B QLoRA, 4 bits Comfortable 8.1 GB",
            "Llama 2 13B QLoRA, 4 bits Comfortable 13.1 GB",
            "Llama 3.1 8B Inference, 16 bits Comfortable 16.1 GB",
            "Llama 2 7B LoRA, 16 bits Comfortable 16.9 GB",
            "Qwen2.5 32B QLoRA, 4 bits Does not fit 32.8 GB",
        ]

    def test_a_70_b_model_with_qlora_is_tight_on_80_gb(
        self, client: Client, catalogue: None
    ) -> None:
        shown = plain(section(page(client, "/en/gpus/h100-sxm/"), "fits"))

        assert "Llama 3.1 70B QLoRA, 4 bits Tight 70.6 GB" in shown


class TestQuestions:
    def test_are_answered_from_the_cards_own_figures(
        self, client: Client, best_usd_offers: None
    ) -> None:
        offer("rtx-4090")

        asked = questions(page(client, CARD))

        size = asked["What size of model can I fine-tune on one RTX 4090?"]
        assert "With QLoRA up to about 15 B parameters, with 16-bit LoRA up to about 7 B" in size
        assert "with 16-bit LoRA, about 20.1 GB, it is tight" in size
        several = asked["Can I rent several RTX 4090 GPUs together?"]
        assert several.endswith("The largest of the best offers has 4 GPUs free now.")
        assert "over PCIe 4.0" in asked["Does the RTX 4090 have NVLink?"]
        assert "$0.33 is the price of one GPU for one hour" in asked["Is the price all-in?"]

    def test_follow_another_cards_figures(self, client: Client, publish: Publish) -> None:
        publish("h100-sxm", 2_895_000, gpus=8)

        asked = questions(page(client, "/en/gpus/h100-sxm/"))

        several = asked["Can I rent several H100 SXM GPUs together?"]
        assert "Eight on one server cost $2.895 per GPU and hour now" in several
        assert "Yes, 900 GB/s per GPU" in asked["Does the H100 SXM have NVLink?"]
        assert "$" not in asked["Is the price all-in?"]

    def test_a_small_card_promises_nothing(self, client: Client, catalogue: None) -> None:
        GpuModel.objects.filter(slug="rtx-3070").update(memory_gb=1)

        asked = questions(page(client, "/en/gpus/rtx-3070/"))

        size = next(iter(asked.values()))
        assert "too small even for QLoRA on a model of one billion parameters" in size
        assert "An 8 B model does not fit: QLoRA alone takes about 8.1 GB." in size

    def test_are_asked_in_french_too(self, client: Client, catalogue: None) -> None:
        asked = questions(page(client, "/fr/gpu/rtx-4090/"))

        assert list(asked) == [
            "Quelle taille de modèle puis-je affiner sur une seule carte RTX 4090 ?",
            "Puis-je louer plusieurs RTX 4090 ensemble ?",
            "La carte RTX 4090 dispose-t-elle de NVLink ?",
            "Le prix comprend-il tout ?",
        ]
