"""The market for everybody: the overview, a model's page, their files, their live parts."""

import csv
import re
from datetime import timedelta
from html import unescape
from io import StringIO

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import translation

from billing.money import Currency
from catalog.models import GpuModel
from marketplace.accounts import clock
from marketplace.models import MarketState
from marketplace.operations.market_state import set_market_state
from marketplace.operations.servers import suspend_server
from tests.exchange import (
    HOUR,
    buy,
    make_customer,
    make_offer,
    match,
    member_of,
    open_market,
    withdraw,
)
from tests.factories import GpuModelFactory, ServerFactory, UserFactory

pytestmark = pytest.mark.django_db

OVERVIEW, CARD = "/en/market/", "/en/market/rtx-4090/"
EUROS = {"currency": "EUR"}
MAX_QUERIES = 15


@pytest.fixture(autouse=True)
def _nothing_is_kept(settings):
    settings.CACHES = {"default": {"BACKEND": "django.core.cache.backends.dummy.DummyCache"}}


@pytest.fixture
def market() -> None:
    """A market opened an hour ago, with three models and nothing on offer."""
    open_market(now=clock.now() - HOUR)
    match(clock.now() - HOUR)
    GpuModelFactory.create(slug="l4", name="L4")
    GpuModelFactory.create(slug="h100-sxm", name="H100 SXM", memory_gb=80)


def offered(slug: str = "rtx-4090", *, ask_micro: int = 400_000, gpu_count: int = 2, **facts):
    now = clock.now().replace(minute=0, second=0, microsecond=0)
    server = ServerFactory.create(gpu_model=GpuModel.objects.get(slug=slug), gpu_count=gpu_count)
    offer = make_offer(
        server=server,
        ask_micro=ask_micro,
        now=now,
        windows=((now, now + timedelta(days=7)),),
        **facts,
    )
    match(clock.now())
    return offer


def sold(slug: str = "rtx-4090", *, ask_micro: int = 400_000, hours: int = 2) -> None:
    offer = offered(slug, ask_micro=ask_micro)
    now = clock.now()
    start = now.replace(minute=0, second=0, microsecond=0) + 2 * HOUR
    buy(
        make_customer(),
        now=now,
        gpu_model_slug=slug,
        hours=hours,
        limit_price_micro=ask_micro,
        earliest_start=start,
    )
    withdraw(offer, now=now)
    match(clock.now())


def set_state(state: MarketState.State, *, slug: str | None = None) -> None:
    model = GpuModel.objects.filter(slug=slug).first()
    set_market_state(
        state=state,
        reason="Maintenance of the zebra",
        staff_id=UserFactory.create(is_staff=True).pk,
        now=clock.now(),
        gpu_model_id=model.pk if model else None,
    )
    match(clock.now())


def names(html: str) -> list[str]:
    return re.findall(r'<a class="gpu" [^>]*>([^<]+) <small>', html)


def text_of(answer) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", answer.content.decode()).split())


@pytest.mark.usefixtures("market")
class TestTheOverview:
    def test_shows_what_is_on_offer_and_hides_the_rest_until_asked(self, client):
        offered()

        answer = client.get(OVERVIEW, EUROS)

        assert names(answer.content.decode()) == ["RTX 4090"]
        assert "€0.40" in text_of(answer)
        assert "2 models without an offer are hidden." in text_of(answer)
        everything = client.get(OVERVIEW, EUROS | {"show": "all"}).content.decode()
        assert names(everything) == ["RTX 4090", "H100 SXM", "L4"]
        assert everything.count("No offer now") == 5

    def test_shows_every_model_when_nothing_is_on_offer_and_says_so(self, client):
        answer = client.get(OVERVIEW, EUROS)

        assert len(names(answer.content.decode())) == 3
        assert "Nothing is on offer in EUR now." in text_of(answer)
        assert "No trade yet" in text_of(answer)

    def test_sorts_by_links_and_puts_what_has_no_figure_last(self, client):
        offered("l4", ask_micro=300_000)
        offered("rtx-4090", ask_micro=500_000, gpu_count=8)
        offered("h100-sxm", ask_micro=900_000, gpu_count=8)

        def order(sort: str) -> list[str]:
            return names(client.get(OVERVIEW, EUROS | {"sort": sort}).content.decode())

        assert order("price") == ["L4", "RTX 4090", "H100 SXM"]
        assert order("-price") == ["H100 SXM", "RTX 4090", "L4"]
        assert order("-eight") == ["H100 SXM", "RTX 4090", "L4"]
        assert order("name") == ["H100 SXM", "L4", "RTX 4090"]

    def test_names_the_change_with_sign_shape_and_word(self, client):
        offered()
        figures = GpuModel.objects.get(slug="rtx-4090").market_figures
        figures.filter(currency="EUR").update(change_share="-0.065", last_price_micro=400_000)

        html = client.get(OVERVIEW, EUROS).content.decode()

        assert '<span aria-hidden="true">▼</span><span class="vh">down </span> −6.5%' in html

    def test_shows_a_halt_of_everything_as_nothing_on_offer(self, client):
        offered()
        set_state(MarketState.State.HALTED)

        answer = client.get(OVERVIEW, EUROS)

        assert "While trading is halted nothing can be bought" in text_of(answer)
        assert "€0.40" not in text_of(answer)

    def test_marks_a_model_that_is_halted_alone(self, client):
        offered()
        offered("l4")
        set_state(MarketState.State.HALTED, slug="l4")

        html = client.get(OVERVIEW, EUROS | {"show": "all"}).content.decode()

        assert html.count(">Halted</span>") == 1
        assert re.search(r"L4 <small>.*badge warn", html)

    @pytest.mark.parametrize(
        ("query", "told"),
        [
            ({"sort": "magic"}, "Sort order: “magic”"),
            ({"show": "<b>"}, "On offer: “&lt;b&gt;”"),
            ({"gpu": "rtx-9999"}, "Model: “rtx-9999”"),
        ],
    )
    def test_leaves_out_what_means_nothing_and_names_it(self, client, query, told):
        answer = client.get(OVERVIEW, EUROS | query)

        assert answer.status_code == 200
        assert told in answer.content.decode()
        assert "Part of this address was left out:" in text_of(answer)

    def test_refuses_an_unknown_currency_and_shows_another(self, client):
        answer = client.get(OVERVIEW, {"currency": "XBT"})

        assert answer.status_code == 400
        assert "“XBT” is not a currency of this market." in text_of(answer)
        assert client.get("/en/market/export.csv", {"currency": "XBT"}).status_code == 400

    def test_leads_to_a_model_chosen_in_the_switch(self, client):
        answer = client.get(OVERVIEW, EUROS | {"gpu": "l4"})

        assert (answer.status_code, answer.url) == (302, "/en/market/l4/?currency=EUR")

    def test_sends_exactly_the_rows_shown_with_units_in_the_head(self, client):
        sold(ask_micro=410_000, hours=3)
        offered(ask_micro=450_000, gpu_count=8)
        offered("l4", ask_micro=300_000)
        query = EUROS | {"sort": "-price"}

        sent = client.get("/en/market/export.csv", query)

        head, *rows = csv.reader(StringIO(sent.content.decode("utf-8-sig")))
        assert head[1] == "Best offer for 1 GPU (EUR per GPU and hour, excl. tax)"
        assert head[4] == "Sold in 24 h (GPU-hours)"
        assert [row[0] for row in rows] == names(client.get(OVERVIEW, query).content.decode())
        assert [rows[0][place] for place in (0, 1, 2, 4, 5, 6)] == [
            "RTX 4090", "0.45", "0.45", "3", "0.41", "",
        ]  # fmt: skip

    def test_asks_little_of_the_database_however_many_models_there_are(self, client):
        for number in range(12):
            GpuModelFactory.create(slug=f"card-{number}", name=f"Card {number}")
            offered(f"card-{number}")

        with CaptureQueriesContext(connection) as asked:
            assert client.get(OVERVIEW, EUROS).status_code == 200

        assert len(asked) <= MAX_QUERIES


def test_before_the_launch_the_overview_says_that_nothing_is_on_offer_yet(client):
    open_market(now=clock.now() - HOUR, state=MarketState.State.PRELAUNCH)

    answer = client.get(OVERVIEW, EUROS)

    assert "The market is not open yet, so nothing is on offer." in text_of(answer)
    text = text_of(client.get(CARD, EUROS))
    assert "Prices paid are tracked from the opening of the market on." in text
    assert "Save my intention" in text


@pytest.mark.usefixtures("market")
class TestAModelsPage:
    def test_shows_figures_offers_and_sales(self, client):
        sold(ask_micro=410_000, hours=3)
        offered(ask_micro=450_000, gpu_count=8, min_hours=2)

        text = text_of(client.get(CARD, EUROS))

        assert "Sold in 24 h 3 GPU-hours, 1 sale" in text
        assert "Last price paid €0.41" in text
        assert "Average paid, 24 h €0.41 Few sales: not an index" in text
        assert "Last 24 hours: sales 1, sellers 1, customers 1. No index:" in text
        assert "€0.45 1 to 8 2 to 16" in text

    def test_tells_since_when_prices_are_tracked_when_nothing_was_sold(self, client):
        text = text_of(client.get(CARD, EUROS))

        assert "No trade yet Prices paid are tracked since" in text
        assert "nobody has bought the RTX 4090 in EUR since then." in text
        assert "Nobody offers this model in EUR at this moment." in text

    def test_draws_the_period_that_the_address_names(self, client):
        sold()

        html = client.get(CARD, EUROS | {"range": "24h"}).content.decode()

        assert "history.json?currency=EUR&amp;range=24h" in html
        assert re.search(r'<a href="[^"]*range=24h" aria-current="true">24 h</a>', html)
        assert '<figure class="chart" data-price-chart' in html

    def test_names_a_period_that_does_not_exist(self, client):
        answer = client.get(CARD, EUROS | {"range": "1y"})

        assert answer.status_code == 200
        assert "Period: “1y”" in text_of(answer)

    def test_refuses_an_unknown_currency(self, client):
        assert client.get(CARD, {"currency": "€"}).status_code == 400
        assert client.get(f"{CARD}fills.csv", {"currency": "€"}).status_code == 400
        assert client.get(f"{CARD}history.json", {"currency": "€"}).status_code == 400

    @pytest.mark.parametrize("rest", ["", "fills.csv", "history.json"])
    @pytest.mark.parametrize("language", ["en/market", "fr/marche"])
    def test_of_an_unknown_model_is_a_404_with_ways_out(self, client, language, rest):
        names_in_french = {"fills.csv": "ventes.csv", "history.json": "historique.json"}
        file = names_in_french.get(rest, rest) if language.startswith("fr") else rest

        answer = client.get(f"/{language}/rtx-4091/{file}")

        assert answer.status_code == 404
        with translation.override(language[:2]):
            ways_out = reverse("catalog:gpu_list")
        assert f'href="{ways_out}' in answer.content.decode()

    def test_shows_no_server_that_is_suspended(self, client):
        offer = offered()
        suspend_server(
            server_id=offer.server_id,
            actor_id=member_of(offer.organisation).pk,
            now=clock.now(),
        )
        match(clock.now())

        assert "€0.40" not in text_of(client.get(CARD, EUROS))

    def test_says_why_a_model_that_is_halted_alone_sells_nothing(self, client):
        offered()
        set_state(MarketState.State.HALTED, slug="rtx-4090")

        text = text_of(client.get(CARD, EUROS))

        assert "Trading of this model is halted" in text
        assert "Maintenance of the zebra" in text
        assert "Nobody offers this model in EUR" in text

    def test_of_a_delisted_model_sells_nothing_and_keeps_its_history(self, client):
        sold()
        offered(ask_micro=450_000)
        GpuModel.objects.filter(slug="rtx-4090").update(is_listed=False)

        answer = client.get(CARD, EUROS)

        assert "This model is no longer listed" in text_of(answer)
        assert 'id="order"' not in answer.content.decode()
        assert "data-price-chart" in answer.content.decode()

    def test_asks_little_of_the_database(self, client):
        sold()
        for number in range(12):
            offered(ask_micro=400_000 + number * 1_000)

        with CaptureQueriesContext(connection) as asked:
            assert client.get(CARD, EUROS).status_code == 200

        assert len(asked) <= MAX_QUERIES


@pytest.mark.usefixtures("market")
class TestTheLiveParts:
    @pytest.mark.parametrize("part", [{"part": "live"}, {"part": "live", "of": "book"}])
    def test_answer_304_until_something_was_published(self, client, part):
        offered()
        first = client.get(CARD, EUROS | part)
        unchanged = client.get(CARD, EUROS | part, headers={"If-None-Match": first["ETag"]})
        sold(ask_micro=390_000)
        changed = client.get(CARD, EUROS | part, headers={"If-None-Match": first["ETag"]})

        assert (first.status_code, unchanged.status_code) == (200, 304)
        assert unchanged.content == b""
        assert changed.status_code == 200
        assert "<html" not in changed.content.decode()
        assert "€0.39" in changed.content.decode()

    def test_are_what_the_page_shows(self, client):
        offered()
        page = client.get(CARD, EUROS).content.decode()

        for part in ({"part": "live"}, {"part": "live", "of": "book"}):
            assert client.get(CARD, EUROS | part).content.decode() in page

    def test_of_the_overview_is_its_table_and_changes_with_the_market(self, client):
        offered()
        query = EUROS | {"sort": "-price"}
        page = client.get(OVERVIEW, query).content.decode()
        (address,) = [unescape(one) for one in re.findall(r'data-live="([^"]*)"', page)]
        first = client.get(OVERVIEW + address)
        unchanged = client.get(OVERVIEW + address, headers={"If-None-Match": first["ETag"]})
        sold(ask_micro=390_000)
        changed = client.get(OVERVIEW + address, headers={"If-None-Match": first["ETag"]})

        assert first.content.decode() in page
        assert "<html" not in first.content.decode()
        assert "part=live" not in first.content.decode()
        assert (first.status_code, unchanged.status_code) == (200, 304)
        assert changed.status_code == 200
        assert "€0.39" in changed.content.decode()

    def test_of_the_overview_asks_as_little_as_the_page(self, client):
        offered()
        client.get(OVERVIEW, EUROS)

        with CaptureQueriesContext(connection) as of_page:
            client.get(OVERVIEW, EUROS)
        with CaptureQueriesContext(connection) as of_part:
            assert client.get(OVERVIEW, EUROS | {"part": "live"}).status_code == 200

        assert len(of_part) <= len(of_page) <= MAX_QUERIES


@pytest.mark.usefixtures("market")
class TestTheFiles:
    def test_of_sales_names_nobody(self, client):
        sold(ask_micro=412_000, hours=3)

        sent = client.get(f"{CARD}fills.csv", EUROS).content.decode("utf-8-sig")

        head, row = csv.reader(StringIO(sent))
        assert head == [
            "Matched at",
            "Price paid (EUR per GPU and hour, excl. tax)",
            "GPUs",
            "Hours",
            "Paid from",
        ]
        assert row[1:4] == ["0.412", "1", "3"]

    def test_of_the_history_holds_the_hours_and_stays_the_same(self, client):
        sold(ask_micro=412_000, hours=3)

        first = client.get(f"{CARD}history.json", EUROS)
        again = client.get(f"{CARD}history.json", EUROS, headers={"If-None-Match": first["ETag"]})

        (hour,) = first.json()["hours"]
        assert (first.json()["currency"], first.json()["period"]) == ("EUR", "hour")
        assert hour["average_price_micro"] == hour["last_price_micro"] == 412_000
        assert (hour["gpu_hours"], hour["fills"]) == (3, 1)
        assert (again.status_code, again.content) == (304, b"")

    def test_of_another_currency_are_empty(self, client):
        sold()

        assert client.get(f"{CARD}history.json").json()["hours"] == []


@pytest.mark.usefixtures("market")
class TestTheApi:
    def test_gives_every_model_with_decimal_strings(self, client):
        offered(ask_micro=412_000)

        answer = client.get("/api/v1/market/", EUROS).json()

        rows = {row["slug"]: row for row in answer["rows"]}
        assert set(rows) == {"rtx-4090", "l4", "h100-sxm"}
        row = rows["rtx-4090"]
        assert row["best_offer_1_gpu"]["price_per_gpu_hour"] == "0.412"
        assert row["best_offer_8_gpus"] == {"price_per_gpu_hour": None, "starts_at": None}
        assert (row["offers"], row["last_price_per_gpu_hour"]) == (1, None)
        assert answer["as_of"] == row["as_of"]

    def test_gives_one_model_with_offers_fills_and_history(self, client):
        sold(ask_micro=412_000, hours=3)
        offered(ask_micro=450_000)

        answer = client.get("/api/v1/market/rtx-4090/", EUROS | {"range": "24h"}).json()

        assert answer["last_price_per_gpu_hour"] == "0.412"
        assert [offer["price_per_gpu_hour"] for offer in answer["best_offers"]] == ["0.45"]
        assert [(fill["price_per_gpu_hour"], fill["hours"]) for fill in answer["last_fills"]] == [
            ("0.412", 3)
        ]
        assert answer["last_24h"] == {
            "average_price_per_gpu_hour": "0.412",
            "gpu_hours": 3,
            "fills": 1,
            "sellers": 1,
            "customers": 1,
            "is_thin": True,
        }
        assert (answer["history"]["range"], answer["history"]["period"]) == ("24h", "hour")
        (hour,) = answer["history"]["rows"]
        assert (hour["average_price_per_gpu_hour"], hour["gpu_hours"]) == ("0.412", 3)

    @pytest.mark.parametrize(
        ("path", "query", "status", "field"),
        [
            ("market/", {"currency": "XBT"}, 400, "currency"),
            ("market/rtx-4090/", {"currency": "eur"}, 400, "currency"),
            ("market/rtx-4090/", {"range": "1y"}, 400, "range"),
            ("market/rtx-4091/", {}, 404, None),
        ],
    )
    def test_refuses_what_it_does_not_know_as_a_problem(self, client, path, query, status, field):
        answer = client.get(f"/api/v1/{path}", query)

        assert answer.status_code == status
        assert answer["Content-Type"] == "application/problem+json"
        assert list(answer.json().get("errors", {})) == ([field] if field else [])

    def test_asks_little_of_the_database(self, client):
        sold()

        with CaptureQueriesContext(connection) as asked:
            client.get("/api/v1/market/rtx-4090/", EUROS)

        assert len(asked) <= MAX_QUERIES


def test_nobody_is_named_in_what_everybody_reads(market, client):
    offer = offered()
    sold()
    names_of_sellers = {offer.organisation.name, offer.server.name}

    for address in (CARD, f"{CARD}fills.csv", "/api/v1/market/rtx-4090/", OVERVIEW):
        text = client.get(address, EUROS).content.decode()
        assert [name for name in names_of_sellers if name in text] == []


def test_a_currency_without_offers_says_so_while_another_has_some(market, client):
    offered(currency=Currency.USD)

    assert "Nothing is on offer in EUR now." in text_of(client.get(OVERVIEW, EUROS))
    assert "$0.40" in text_of(Client().get(OVERVIEW, {"currency": "USD"}))
