"""The first page: from a job to a card, the market in a strip, the doors, and before the opening."""

import re
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal

import pytest
from django.core.cache import cache
from django.test import Client

from catalog.models import GpuModel, MarketFigures, TradedHour
from marketplace.accounts import clock
from marketplace.models import MarketState
from tests.integration.catalog.prices import AS_OF, Publish
from tests.integration.catalog.reading import page, plain, table_rows

pytestmark = pytest.mark.django_db

HOME = "/en/"
SetState = Callable[[str], None]


@pytest.fixture
def set_state(db: None) -> SetState:
    def write(state: str) -> None:
        MarketState.objects.filter(gpu_model=None).update(state=state)
        cache.clear()

    write(MarketState.State.OPEN)
    return write


def answer(html: str) -> str:
    return plain(html.split('<p class="answer">')[1].split("</p>", maxsplit=1)[0])


def way_on(html: str) -> str:
    box = html.split('id="answer"')[1].split("</form>", maxsplit=1)[0]
    match = re.search(r'<a class="btn full" href="([^"]+)"', box)
    assert match is not None
    return match[1]


class TestNeed:
    def test_names_the_cheapest_card_that_holds_the_job_and_its_live_price(
        self, client: Client, best_usd_offers: None, set_state: SetState
    ) -> None:
        html = page(client, HOME + "?job=qlora&model=llama-3.1-70b")

        assert answer(html) == (
            "Comfortable About 70.6 GB by the indicative rule. "
            "The cheapest now: RTX PRO 6000 Blackwell at $1.69 per hour."
        )
        assert way_on(html) == ("/en/gpus/?model=llama-3.1-70b&amp;method=qlora&amp;currency=USD")

    def test_begins_with_an_answer(
        self, client: Client, best_usd_offers: None, set_state: SetState
    ) -> None:
        html = page(client, HOME)

        assert answer(html).endswith("The cheapest now: RTX 4090 at $0.33 per hour.")
        assert '<option value="llama-2-13b-hf" selected>' in html

    def test_says_when_one_card_is_not_enough(
        self, client: Client, best_usd_offers: None, set_state: SetState
    ) -> None:
        html = page(client, HOME + "?job=full&model=llama-3.1-70b")

        assert answer(html) == (
            "About 1,128.9 GB by the indicative rule. "
            "No single card holds it: several on one server can."
        )
        assert way_on(html) == "/en/use-cases/llm-training/?currency=USD"

    def test_says_when_nothing_that_fits_is_on_offer(
        self, client: Client, publish: Publish, set_state: SetState
    ) -> None:
        publish("rtx-4090", 330_000)

        html = page(client, HOME + "?job=inference16&model=llama-3.1-70b")

        assert answer(html).endswith("5 models suit it, but none is on offer now.")
        assert answer(html).startswith("Comfortable About 141.2 GB")

    def test_leads_other_jobs_to_their_page(
        self, client: Client, best_usd_offers: None, set_state: SetState
    ) -> None:
        html = page(client, HOME + "?job=rendering")

        assert answer(html).startswith("The cheapest now: RTX 4090 at $0.33")
        assert way_on(html) == "/en/use-cases/rendering/?currency=USD"

    @pytest.mark.parametrize(
        ("query", "shown"),
        [("?job=mining", "mining"), ("?model=<b>", "<b>"), ("?job=" + "x" * 500, "x" * 40)],
    )
    def test_an_unknown_choice_is_named_and_left_out(
        self, client: Client, best_usd_offers: None, set_state: SetState, query: str, shown: str
    ) -> None:
        html = page(client, HOME + query)

        assert f"“{shown}” is not among the choices and was left out." in plain(html)
        assert answer(html).endswith("The cheapest now: RTX 4090 at $0.33 per hour.")


class TestMarketStrip:
    def test_shows_price_change_and_what_was_sold(
        self, client: Client, best_usd_offers: None, set_state: SetState
    ) -> None:
        model = GpuModel.objects.get(slug="rtx-4090")
        MarketFigures.objects.create(
            gpu_model=model,
            currency="USD",
            offers=3,
            sold_gpu_hours_24h=3412,
            change_share=Decimal("0.031"),
            as_of=AS_OF,
        )
        TradedHour.objects.create(
            gpu_model=model,
            currency="USD",
            hour_starts_at=clock.now() - timedelta(hours=1),
            average_price_micro=330_000,
            last_price_micro=330_000,
            gpu_hours=1,
            fills=1,
        )

        rows = table_rows(page(client, HOME))

        assert len(rows) == 9
        assert rows[0][:3] == ["RTX 4090 Ada Lovelace · 24 GB", "from $0.33", "▲ up +3.1%"]
        assert rows[0][-1] == "3,412 GPU·h"
        assert rows[1][2] == "– No price of a day before to compare with"

    def test_an_unknown_currency_is_refused_by_name(
        self, client: Client, best_usd_offers: None
    ) -> None:
        response = client.get(HOME + "?currency=BTC")

        assert response.status_code == 400
        assert "“BTC” is not a currency of this market." in response.content.decode()

    def test_asks_the_database_little(
        self,
        client: Client,
        best_usd_offers: None,
        set_state: SetState,
        django_assert_max_num_queries,
    ) -> None:
        page(client, HOME)

        with django_assert_max_num_queries(6):
            page(client, HOME)


class TestDoors:
    def test_lead_to_six_use_cases_with_their_lowest_price(
        self, client: Client, best_usd_offers: None, set_state: SetState
    ) -> None:
        html = page(client, HOME)

        doors = re.findall(r'<a class="door" href="([^"]+)">(.*?)</a>', html, re.DOTALL)
        assert len(doors) == 6
        assert doors[0][0] == "/en/use-cases/fine-tuning/?currency=USD"
        assert plain(doors[0][1]).endswith("from $0.33 /h")


class TestBeforeTheOpening:
    def test_says_what_is_possible_and_shows_no_price(
        self, client: Client, best_usd_offers: None, set_state: SetState
    ) -> None:
        set_state(MarketState.State.PRELAUNCH)

        html = page(client, HOME)

        assert "Prepare your first rental" in html
        assert "What is possible today" in html
        assert {row[1] for row in table_rows(html)} == {"not yet"}
        assert "Open the market" not in html

    def test_is_said_in_french(self, client: Client, catalogue: None, set_state: SetState) -> None:
        set_state(MarketState.State.PRELAUNCH)

        html = page(client, "/fr/")

        assert "Préparez votre première location" in html
        assert "Aucun paiement avant l’ouverture" in html
