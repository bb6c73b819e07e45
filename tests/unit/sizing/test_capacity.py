"""The indicative-capacity rule against its published table, and its promises."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sizing.capacity import Method, indicative_capacity, indicative_parameters_b
from sizing.cards import all_cards
from sizing.units import BILLION, GB

PUBLISHED = [
    ("rtx-4090", 15, 7),
    ("rtx-5090", 25, 10),
    ("rtx-a6000", 35, 15),
    ("l40s", 35, 15),
    ("rtx-6000-ada", 35, 15),
    ("a100-sxm-80", 60, 25),
    ("h100-sxm", 60, 25),
    ("rtx-pro-6000-blackwell", 75, 30),
    ("h200-sxm", 110, 45),
]


@pytest.mark.parametrize(("slug", "qlora_b", "lora16_b"), PUBLISHED)
def test_gives_the_published_cell(slug: str, qlora_b: int, lora16_b: int) -> None:
    card = all_cards()[slug]

    capacity = indicative_capacity(slug=slug, memory_gb=card.memory_gb)

    assert (capacity.qlora_b, capacity.lora16_b) == (qlora_b, lora16_b)


def test_full_training_takes_sixteen_bytes_per_parameter() -> None:
    assert indicative_capacity(slug="x", memory_gb=80).full_b == 4
    assert indicative_capacity(slug="x", memory_gb=288).full_b == 10


def test_rounds_down_to_a_whole_number_below_ten_and_to_five_from_ten_up() -> None:
    sizes = [
        indicative_parameters_b(memory_bytes=gb * GB, method=Method.QLORA)
        for gb in (0, 1, 12, 13, 14, 18, 19)
    ]

    assert sizes == [0, 0, 9, 10, 10, 10, 15]


@given(memory_bytes=st.integers(0, 10**13), more_bytes=st.integers(0, 10**13))
@pytest.mark.parametrize("method", list(Method))
def test_more_memory_never_gives_less(memory_bytes: int, more_bytes: int, method: Method) -> None:
    smaller = indicative_parameters_b(memory_bytes=memory_bytes, method=method)
    larger = indicative_parameters_b(memory_bytes=memory_bytes + more_bytes, method=method)

    assert smaller <= larger


@given(memory_bytes=st.integers(0, 10**13))
def test_never_promises_more_than_the_budget_holds(memory_bytes: int) -> None:
    size_b = indicative_parameters_b(memory_bytes=memory_bytes, method=Method.LORA16)

    assert size_b * BILLION * 25 * 100 <= memory_bytes * 80 * 10


@given(memory_bytes=st.integers(0, 10**13))
def test_a_leaner_method_never_holds_less(memory_bytes: int) -> None:
    qlora, lora16, full = (
        indicative_parameters_b(memory_bytes=memory_bytes, method=method) for method in Method
    )

    assert qlora >= lora16 >= full


def test_the_published_explanation_shows_the_same_table() -> None:
    page = Path(__file__).parents[3] / "docs" / "algorithms" / "sizing.md"
    rows = re.findall(
        r"^\| ([a-z0-9-]+) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|$", page.read_text(), re.MULTILINE
    )

    explained = [(slug, *map(int, numbers)) for slug, *numbers in rows]

    computed = [
        indicative_capacity(slug=slug, memory_gb=all_cards()[slug].memory_gb)
        for slug, _, _ in PUBLISHED
    ]
    assert explained == [(c.slug, c.memory_gb, c.qlora_b, c.lora16_b, c.full_b) for c in computed]
