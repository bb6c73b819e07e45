"""The bar of memory against card sizes: where things stand, what it says, how figures are cut."""

from dataclasses import dataclass
from decimal import Decimal

import pytest
from django.template import Context, Template
from django.utils import translation

from config.templatetags.memory_pictures import bytes_gb, large, plain_gb, points, short_gb


@dataclass(frozen=True)
class Part:
    label: str
    size_gb: Decimal
    colour: str


PARTS = (Part("Weights", Decimal(30), "m1"), Part("Logits", Decimal("7.5"), "m4"))


def draw(low: int, high: int, parts: tuple[Part, ...] = PARTS) -> str:
    html = Template("{% load memory_pictures %}{% card_lines parts low high %}").render(
        Context({"parts": parts, "low": Decimal(low), "high": Decimal(high)})
    )
    return " ".join(html.split())


def test_parts_are_stacked_on_a_bar_of_at_least_150_gb() -> None:
    html = draw(34, 42)

    assert '<rect class="m1 part" x="0%" y="46" width="20%" height="34"/>' in html
    assert '<rect class="m4 part" x="20%" y="46" width="5%" height="34"/>' in html
    assert "37.5 GB in all: Weights 30, Logits 7.5. Lines: cards of 24 to 141 GB." in html


def test_every_card_size_has_its_line_and_the_last_its_unit() -> None:
    html = draw(34, 42)

    for place, text in (("16%", "24"), ("21.33%", "32"), ("53.33%", "80"), ("94%", "141 GB")):
        assert f'x="{place}"' in html
        assert f">{text}</text>" in html


def test_lines_that_would_write_over_each_other_are_left_out() -> None:
    html = draw(800, 1_000, (Part("Weights", Decimal(900), "m1"),))

    assert ">141 GB</text>" in html
    assert ">80</text>" in html
    assert ">96</text>" not in html


@pytest.mark.parametrize(
    ("low", "high", "before", "after"),
    [(34, 42, ">34</text>", ">42 GB</text>"), (3, 5, "", ">3 to 5 GB</text>")],
)
def test_the_interval_tells_both_ends(low: int, high: int, before: str, after: str) -> None:
    html = draw(low, high)

    assert before in html
    assert after in html


def test_near_the_right_edge_both_ends_stand_on_the_inner_side() -> None:
    html = draw(800, 1_000, (Part("Weights", Decimal(900), "m1"),))

    assert 'text-anchor="end">800 to 1,000 GB</text>' in html


def test_sizes_are_cut_to_what_is_read() -> None:
    assert short_gb(Decimal("39.517")) == Decimal("39.5")
    assert short_gb(Decimal("812.4")) == Decimal(812)
    assert bytes_gb(71_200_000_000) == "71.2 GB"
    assert plain_gb(80_000_000_000) == "80"
    assert points(4.24) == "4.2%"


@pytest.mark.parametrize(
    ("count", "told"),
    [
        (70_553_706_496, "70.6 B"),
        (207_093_760, "207 M"),
        (8_192, "8,192"),
        (4.1269, "4.13"),
        (1_912.4, "1,910"),
    ],
)
def test_counts_are_told_to_three_digits(count: float, told: str) -> None:
    assert large(count) == told


def test_french_has_its_own_marks() -> None:
    with translation.override("fr"):
        assert bytes_gb(71_200_000_000) == "71,2\u202fGo"
        assert large(70_553_706_496) == "70,6\u00a0Md"
