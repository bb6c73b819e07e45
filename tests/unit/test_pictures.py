"""Pictures: their coordinates, what they say in both languages, and what they do with little data."""

import re
import zoneinfo
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from django.template import Context, Template
from django.utils import timezone, translation

from config.pictures.axis import Axis, around, round_step, share_percent
from config.pictures.depth import depth_of
from config.pictures.history import history_of

MIDNIGHT = datetime(2026, 11, 24, tzinfo=UTC)
PARTS = [("Weights", Decimal("5.2")), ("Adapters", Decimal("0.4")), ("Logits", Decimal(7))]
NARROW = "\u202f"
NBSP = "\u00a0"


@dataclass(frozen=True)
class Hour:
    hour_starts_at: datetime
    average_price_micro: int
    gpu_hours: int


def hour(number: int, price_micro: int = 2_800_000, gpu_hours: int = 4) -> Hour:
    return Hour(MIDNIGHT + timedelta(hours=number), price_micro, gpu_hours)


@pytest.fixture(params=["en", "fr"])
def language(request: pytest.FixtureRequest) -> Iterator[str]:
    with translation.override(request.param):
        yield request.param


def draw(tag: str, **inputs: object) -> str:
    html = Template("{% load pictures %}{% " + tag + " %}").render(Context(inputs))
    return " ".join(html.replace(NARROW, "_").replace(NBSP, "_").split())


class TestAxis:
    def test_places_values_in_a_box_of_a_thousand(self) -> None:
        axis = Axis(100, 300)

        assert (axis.place(100), axis.place(150), axis.place(300)) == (0, 250, 1_000)
        assert axis.height(150) == 750
        assert axis.percent(175) == "37.5%"

    def test_labels_are_round_and_within(self) -> None:
        assert Axis(2_370_000, 3_230_000).labels() == [2_500_000, 3_000_000]
        assert Axis(0, 43).labels() == [0, 20, 40]

    @pytest.mark.parametrize(("span", "step"), [(1, 1), (4, 1), (5, 2), (41, 20), (400, 100)])
    def test_a_step_is_1_2_or_5_times_a_power_of_ten(self, span: int, step: int) -> None:
        assert round_step(span, most=4) == step

    def test_equal_values_still_make_an_axis_that_is_never_below_zero(self) -> None:
        axis = around([5], below_percent=100, above_percent=100, at_least=10)

        assert (axis.low, axis.high) == (0, 15)

    def test_a_share_stays_within_the_picture(self) -> None:
        shares = [share_percent(value, 3) for value in (-1, 0, 1, 3, 4)]

        assert shares == ["0%", "0%", "33.33%", "100%", "100%"]
        assert share_percent(5, 0) == "0%"


class TestSparkline:
    def test_says_where_the_number_went(self, language: str) -> None:
        html = draw('sparkline values "Price."', values=[200, 180, 230])

        expected = {
            "en": "<title>Price. Up 15% from the first to the last value.</title>",
            "fr": "<title>Price. En hausse de 15_% de la première à la dernière valeur.</title>",
        }
        assert expected[language] in html
        assert '<path class="line" d="M0 584L500 920L1000 80"/>' in html

    def test_breaks_at_a_missing_value(self) -> None:
        html = draw('sparkline values "Price."', values=[1, None, 3, 3])

        assert 'd="M0 920M666 80L1000 80"' in html

    def test_one_value_is_a_dot_in_the_middle(self) -> None:
        html = draw('sparkline values "Price."', values=[7])

        assert '<circle class="dot" cx="0%" cy="50%"' in html

    @pytest.mark.parametrize("values", [[], [None, None]])
    def test_without_a_number_it_is_said(self, language: str, values: list[None]) -> None:
        html = draw('sparkline values "Price."', values=values)

        assert "<svg" not in html
        assert {"en": "No figure yet.", "fr": "Pas encore de chiffre."}[language] in html


class TestMemoryBar:
    def test_a_load_below_80_percent_fits(self, language: str) -> None:
        html = draw('memory_bar parts 24 "QLoRA."', parts=PARTS)

        expected = {
            "en": "12.6 GB of 24 GB: below 80% of the memory, it fits.",
            "fr": "12,6_Go sur 24_Go_: moins de 80_% de la mémoire, la charge tient.",
        }
        assert f"<figcaption>{expected[language]}</figcaption>" in html
        assert '<rect class="m2 part" x="20.44%"' in html

    @pytest.mark.parametrize(
        ("capacity", "words"), [(15, "it is tight."), (12, "do not fit in the 12 GB of the card.")]
    )
    def test_a_larger_load_is_tight_or_does_not_fit(self, capacity: int, words: str) -> None:
        assert words in draw('memory_bar parts capacity "X."', parts=PARTS, capacity=capacity)

    def test_its_table_holds_each_part_and_the_total(self) -> None:
        html = draw('memory_bar parts 24 "QLoRA."', parts=PARTS)

        assert (
            '<th scope="row">Weights</th><td class="n">5.2 GB</td><td class="n">21.7%</td>' in html
        )
        assert (
            '<th scope="row">Total</th><td class="n">12.6 GB</td><td class="n">52.5%</td>' in html
        )

    def test_without_parts_it_shows_an_empty_card(self) -> None:
        assert "0 GB of 24 GB" in draw('memory_bar parts 24 "X."', parts=[])


class TestShareBar:
    def test_is_as_long_as_its_share(self) -> None:
        html = draw('share_bar 15 60 "15 B"')

        assert '<rect class="m1" width="25%"' in html
        assert "<span>15 B</span>" in html

    @pytest.mark.parametrize("value", [None, 0])
    def test_nothing_is_an_empty_track(self, value: int | None) -> None:
        assert '<rect class="m1" width="0%"' in draw('share_bar value 60 "–"', value=value)


class TestBarRows:
    ROWS = (("H100", Decimal(3350), "3,350"), ("RTX 4090", Decimal(1008), "1,008"))

    def test_names_the_extremes(self, language: str) -> None:
        html = draw('bar_rows rows "Bandwidth." "GB/s"', rows=self.ROWS)

        expected = {
            "en": "Largest: H100, 3,350. Smallest: RTX 4090, 1,008.",
            "fr": "Maximum_: H100, 3,350. Minimum_: RTX 4090, 1,008.",
        }
        assert f"<figcaption>{expected[language]}</figcaption>" in html
        assert 'width="30.09%"' in html
        assert '<th scope="col" class="n">GB/s</th>' in html

    def test_one_row_has_no_extremes(self) -> None:
        html = draw('bar_rows rows "Bandwidth." "GB/s"', rows=self.ROWS[:1])

        assert "<figcaption>H100: 3,350.</figcaption>" in html

    def test_no_row_is_said(self) -> None:
        html = draw('bar_rows rows "Bandwidth." "GB/s"', rows=[])

        assert "<svg" not in html
        assert "No figure yet." in html


class TestDepth:
    BIDS = ((2_700_000, 6), (2_800_000, 2), (2_800_000, 4))
    ASKS = ((2_900_000, 8), (2_880_000, 1))

    def test_adds_up_from_the_best_price(self) -> None:
        depth = depth_of(bids=self.BIDS, asks=self.ASKS)

        assert depth is not None
        assert [(level.gpus, level.cumulative_gpus) for level in depth.bids] == [(6, 6), (6, 12)]
        assert [(level.gpus, level.cumulative_gpus) for level in depth.asks] == [(1, 1), (8, 9)]

    def test_stairs_climb_outwards_to_the_edges(self) -> None:
        depth = depth_of(bids=self.BIDS, asks=self.ASKS)

        assert depth is not None
        assert depth.bid_steps() == "M500 1000V539H68V77H0V1000z"
        assert depth.ask_steps() == "M844 1000V924H931V308H1000V1000z"

    def test_says_both_sides(self, language: str) -> None:
        html = draw('depth bids asks "USD" "H100."', bids=self.BIDS, asks=self.ASKS)

        expected = {
            "en": "12 GPUs are asked for, at $2.80 at most. 9 GPUs are offered, from $2.88.",
            "fr": "12 GPU sont demandés, à 2,80_$US au plus. 9 GPU sont en vente, dès 2,88_$US.",
        }
        assert f"<figcaption>{expected[language]}</figcaption>" in html

    def test_one_side_alone_is_drawn(self) -> None:
        html = draw('depth bids asks "USD" "H100."', bids=[], asks=[(2_880_000, 1)])

        assert "<figcaption>1 GPU is offered, from $2.88.</figcaption>" in html
        assert 'class="bid"' not in html

    def test_an_empty_book_is_said(self) -> None:
        html = draw('depth bids asks "USD" "H100."', bids=[], asks=[])

        assert "No bid and no offer now." in html
        assert "<svg" not in html


class TestPriceChart:
    def test_the_line_breaks_where_nothing_was_sold(self) -> None:
        history = history_of([hour(0), hour(1, 2_900_000), hour(3)], zone=UTC)

        assert history is not None
        assert history.line() == "M125 684L375 51M875 684"
        assert history.lone_points() == "M875 684h1"
        assert history.periods_without_sale == 1

    def test_bars_stand_for_what_was_sold(self) -> None:
        history = history_of([hour(0, gpu_hours=1), hour(1, gpu_hours=2)], zone=UTC)

        assert history is not None
        assert history.volumes() == "M0 1000v-125h400V1000zM500 1000v-250h400V1000z"

    def test_beyond_eight_days_a_point_is_a_day_weighted_by_what_was_sold(self) -> None:
        hours = [hour(0, 1_000_000, 1), hour(5, 2_000_000, 3), hour(24 * 9)]

        history = history_of(hours, zone=UTC)

        assert history is not None
        assert history.is_by_day
        assert [(p.price_micro, p.gpu_hours) for p in history.points] == [
            (1_750_000, 4),
            (2_800_000, 4),
        ]
        assert history.periods_without_sale == 8

    def test_a_day_is_the_readers_day_also_when_clocks_change(self) -> None:
        paris = zoneinfo.ZoneInfo("Europe/Paris")
        # Clocks went back on 25 October 2026: that day has 25 hours.
        first = datetime(2026, 10, 24, 12, tzinfo=UTC)
        hours = [Hour(first + timedelta(hours=n), 1_000_000, 1) for n in range(24 * 10)]

        history = history_of(hours, zone=paris)

        assert history is not None
        assert history.periods_without_sale == 0
        assert history.points[1].gpu_hours == 25

    def test_names_days_where_they_begin_not_where_something_was_sold(self) -> None:
        # Sold late on the first day and on the fifth only.
        history = history_of([hour(22), hour(24 * 4 + 23)], zone=UTC)

        assert history is not None
        assert [label.day for label in history.time_labels(zone=UTC)] == [25, 26, 27, 28]
        assert {label.hour for label in history.time_labels(zone=UTC)} == {0}

    def test_names_hours_evenly_within_a_day_or_two(self) -> None:
        history = history_of([hour(number) for number in range(20)], zone=UTC)

        assert history is not None
        assert [label.hour for label in history.time_labels(zone=UTC)] == [0, 4, 8, 12, 16]

    def test_names_no_more_days_than_have_room(self) -> None:
        history = history_of([hour(0), hour(24 * 29)], zone=UTC)

        assert history is not None
        assert [label.day for label in history.time_labels(zone=UTC)] == [24, 30, 6, 12, 18]

    def test_says_the_path_of_the_price_and_its_gaps(self, language: str) -> None:
        html = draw('price_chart hours "USD" "H100."', hours=[hour(0), hour(2, 2_900_000)])

        expected = {
            "en": "From $2.80 to $2.90 per GPU and hour, between $2.80 and $2.90 on average. "
            "No sale in 1 hour: the line breaks there. Times are in the zone UTC.",
            "fr": "De 2,80_$US à 2,90_$US par GPU et par heure, entre 2,80_$US et 2,90_$US en "
            "moyenne. Aucune vente pendant 1 heure_: la courbe s’y interrompt. "
            "Heures affichées_: fuseau UTC.",
        }
        assert f"<figcaption>{expected[language]}</figcaption>" in html

    def test_its_table_holds_what_the_script_draws(self) -> None:
        with timezone.override("Europe/Paris"):
            html = draw('price_chart hours "EUR" "H100."', hours=[hour(0, 2_801_000, 7)])

        assert '<time datetime="2026-11-24T00:00:00+00:00">24 Nov 2026, 01:00</time>' in html
        assert '<td class="n" data-price-micro="2801000">€2.801</td>' in html
        assert '<td class="n" data-gpu-hours="7">7</td>' in html

    def test_links_to_other_periods_mark_the_current_one(self) -> None:
        links = [("24 h", "?days=1", False), ("7 d", "?days=7&x=1", True)]

        html = draw('price_chart hours "EUR" "H100." links "/h.json"', hours=[hour(0)], links=links)

        assert '<a href="?days=1">24 h</a>' in html
        assert '<a href="?days=7&amp;x=1" aria-current="true">7 d</a>' in html
        assert 'data-history="/h.json"' in html

    def test_without_a_sale_it_is_said_and_no_script_starts(self, language: str) -> None:
        html = draw('price_chart hours "EUR" "H100."', hours=[])

        expected = {
            "en": "No sale in this period yet.",
            "fr": "Aucune vente sur cette période pour l’instant.",
        }
        assert expected[language] in html
        assert "data-price-chart" not in html


EVERY = (
    '{% load pictures %}{% sparkline values "A" %}{% memory_bar parts 24 "B" %}'
    '{% share_bar 1 2 "C" %}{% bar_rows rows "D" "E" %}{% depth orders orders "EUR" "F" %}'
    '{% price_chart hours "EUR" "G" %}'
)


def test_pictures_need_no_ids_and_no_inline_styles(language: str) -> None:
    hours = [hour(number) for number in range(30)]
    facts = {"values": [1, 2], "parts": PARTS, "rows": TestBarRows.ROWS}
    inputs = facts | {"orders": [(1_000_000, 1)], "hours": hours}

    html = Template(EVERY * 2).render(Context(inputs))

    assert " id=" not in html
    assert "style" not in html
    # Labels must not be scaled: the outer picture has no view box of its own.
    outer = re.findall(r'<svg[^>]*role="img"[^>]*>', html)
    assert len(outer) == 10
    assert all("viewBox" not in tag for tag in outer)


def test_pictures_escape_names() -> None:
    html = draw(
        "bar_rows rows label unit", label="<b>", unit="<i>", rows=[("<script>", Decimal(1), "<u>")]
    )

    assert not re.search(r"<(b|i|u|script)>", html)
