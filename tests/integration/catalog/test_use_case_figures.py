"""Every column of the use-case pages against figures worked out apart from them."""

import csv
from decimal import Decimal

import pytest
from django.test import Client

from billing.money import Currency
from tests.integration.catalog.prices import BEST_USD_MILLI, Publish
from tests.integration.catalog.use_case_pages import (
    TABLES,
    address,
    dollars,
    page,
    source_rows,
    table,
)

pytestmark = pytest.mark.django_db


class TestTraining:
    def test_shows_the_price_of_eight_on_one_server(self, client: Client, publish: Publish) -> None:
        publish("h100-sxm", 2_880_000)
        publish("h100-sxm", 2_895_000, gpus=8)

        rows = table(page(client, address("llm-training")))

        assert rows["H100 SXM"][:2] == ["from $2.88", "from $2.895"]
        assert rows["H200"][:2] == ["No offer now", "No offer now"]

    def test_counts_sixteen_bytes_for_each_parameter(self, client: Client, catalogue: None) -> None:
        rows = table(page(client, address("llm-training")))

        # 80 percent of 80 GB is 64 GB: 4 B at 16 bytes; of eight times that, 32, shown as 30.
        assert rows["A100 SXM"][2:] == [
            "80 GB",
            "2,039 GB/s",
            "312",
            "600 GB/s",
            "≈ 4 B",
            "≈ 30 B",
        ]
        # 112.8 GB: 7.05 B; 902.4 GB: 56.4 B.
        assert rows["H200"][6:] == ["≈ 7 B", "≈ 55 B"]
        # 230.4 GB: 14.4 B; 1,843.2 GB: 115.2 B. NVLink as its maker says.
        assert rows["B300"][5:] == ["1,800 GB/s", "≈ 10 B", "≈ 115 B"]
        assert rows["H100 PCIe 80 GB"][5] == "–"


class TestInference:
    def test_shows_the_sizes_at_16_8_and_4_bits(self, client: Client, catalogue: None) -> None:
        rows = table(page(client, address("llm-inference")))

        # 19.2 GB at 2, 1.1 and 0.62 bytes: 9.6, 17.5 and 31.0 B.
        assert rows["RTX 4090"][3:6] == ["≈ 9 B", "≈ 15 B", "≈ 30 B"]
        # 64 GB: 32, 58.2 and 103.2 B.
        assert rows["H100 SXM"][3:6] == ["≈ 30 B", "≈ 55 B", "≈ 100 B"]

    def test_bounds_the_speed_and_shows_what_was_measured(
        self, client: Client, catalogue: None
    ) -> None:
        rows = table(page(client, address("llm-inference")))
        measured = source_rows("decode.csv")

        # Llama 3 8B reads 15.009849344 GB for a token: 1,008 / 15.01 is 67.2, never less.
        assert rows["RTX 4090"][6:] == ["≤ 68", measured["rtx-4090"]["tokens_per_second"]]
        assert rows["RTX A6000"][6:] == ["≤ 52", measured["rtx-a6000"]["tokens_per_second"]]
        assert rows["H200"][6:] == ["≤ 320", "–"]


class TestImageAndVideo:
    def test_judges_each_card_by_the_memory_that_a_run_took(
        self, client: Client, catalogue: None
    ) -> None:
        rows = table(page(client, address("image-video")))

        # 21.1 GB measured, about 50 documented, 69.1 measured.
        assert rows["RTX 4090"][4:] == ["Tight", "Does not fit", "Does not fit"]
        assert rows["L40S"][4:] == ["Comfortable", "Does not fit", "Does not fit"]
        assert rows["A100 SXM"][4:] == ["Comfortable", "Comfortable", "Tight"]
        assert rows["RTX PRO 6000 Blackwell"][4:] == ["Comfortable", "Comfortable", "Comfortable"]

    def test_shows_a_dash_where_no_rate_was_read_and_bf16_where_only_that_was(
        self, client: Client, catalogue: None
    ) -> None:
        rows = table(page(client, address("image-video")))

        assert (rows["RTX 4090"][3], rows["RTX A6000"][3]) == ("165.2", "154.8")
        assert rows["RTX PRO 6000 Blackwell"][3] == "–"

    @pytest.mark.parametrize("language", ["en", "fr"])
    def test_lists_every_run_with_its_source(
        self, client: Client, catalogue: None, language: str
    ) -> None:
        html = page(client, address("image-video", language))

        runs = html.split('id="runs"')[1].split("</table>")[0]
        with (TABLES / "diffusion.csv").open(encoding="utf-8") as file:
            known = list(csv.DictReader(file))
        assert runs.split("<tbody>")[1].count("<tr>") == len(known) == 9
        assert [run["source"] for run in known if f'href="{run["source"]}"' not in runs] == []


class TestRendering:
    def test_shows_the_median_and_how_many_it_rests_on(
        self, client: Client, catalogue: None
    ) -> None:
        rows = table(page(client, address("rendering")))
        scores = source_rows("blender.csv")

        median = Decimal(scores["rtx-4090"]["median_samples_per_minute"])
        assert (
            rows["RTX 4090"][4] == f"{median:,.0f} {scores['rtx-4090']['submissions']} submissions"
        )
        assert rows["L40S"][4] == "8,605 only 1 submission"
        assert rows["RTX 6000 Ada"][4] == "≈ 13,200 estimated, ± 30 percent"

    def test_says_which_cards_have_rt_cores(self, client: Client, catalogue: None) -> None:
        rows = table(page(client, address("rendering")))

        assert {name: cells[2] for name, cells in rows.items() if cells[2] != "yes"} == {
            "A100 PCIe 80 GB": "no"
        }

    def test_a_million_samples_cost_the_live_price_of_their_hours(
        self, client: Client, best_usd_offers: None
    ) -> None:
        rows = table(page(client, address("rendering")))
        scores = source_rows("blender.csv")

        for slug, name in (("rtx-4090", "RTX 4090"), ("rtx-5090", "RTX 5090"), ("l40s", "L40S")):
            hours = Decimal(10**6) / Decimal(scores[slug]["median_samples_per_minute"]) / 60
            assert rows[name][5] == dollars(hours * BEST_USD_MILLI[slug] / 1000)
        assert rows["RTX 6000 Ada"][5] == "≈ " + dollars(Decimal(740_000) / 60 / 13_200)
        assert rows["A100 PCIe 80 GB"][5] == "–"

    def test_follows_the_currency(self, client: Client, publish: Publish) -> None:
        publish("rtx-4090", 300_000, currency=Currency.EUR)

        rows = table(page(client, address("rendering", "fr") + "?currency=EUR"))

        # 0.30 x 1,000,000 / (60 x 11,568.2)
        assert rows["RTX 4090"][5] == "0,432 €"


class TestScientific:
    def test_shows_the_makers_rates_and_what_fp64_costs(
        self, client: Client, best_usd_offers: None
    ) -> None:
        rows = table(page(client, address("scientific")))

        assert rows["A100 SXM"] == [
            "from $1.79",
            "80 GB HBM2e",
            "2,039 GB/s",
            "9.746",
            "19.49",
            "10,228",
            dollars(Decimal("1.79") / Decimal("9.746")),
        ]
        assert rows["H100 SXM"][6] == dollars(Decimal("2.88") / Decimal("33.45"))
        assert rows["B200"][3] == "–"
        assert rows["B200"][6] == "–"

    def test_shows_what_was_measured_with_a_fluid_code(
        self, client: Client, catalogue: None
    ) -> None:
        rows = table(page(client, address("scientific")))
        measured = source_rows("fluidx3d.csv")

        for slug, name in (
            ("h200-sxm", "H200"),
            ("rtx-4090", "RTX 4090"),
            ("mi300x", "Radeon Instinct MI300X"),
        ):
            assert rows[name][5] == f"{int(measured[slug]['mlups']):,}"
        assert rows["Radeon Instinct MI250X"][5] == "–"
