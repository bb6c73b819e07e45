"""Serving: the indicative size by width of the weights, and the bound that no measured run passes."""

import re
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sizing.cards import all_cards, card_by_slug
from sizing.inference import (
    WeightBits,
    decode_bound_tokens_per_s,
    measured_decodes,
    reference_read_bytes,
    servable_parameters_b,
)
from sizing.units import GB

MEMORY = st.integers(min_value=0, max_value=2_000 * GB)


@pytest.mark.parametrize(
    ("memory_gb", "sizes_b"),
    [
        (24, (9, 15, 30)),
        (32, (10, 20, 40)),
        (48, (15, 30, 60)),
        (80, (30, 55, 100)),
        (96, (35, 65, 120)),
        (141, (55, 100, 180)),
        (180, (70, 130, 230)),
    ],
)
def test_gives_the_largest_model_at_16_8_and_4_bits(
    memory_gb: int, sizes_b: tuple[int, int, int]
) -> None:
    given_sizes = tuple(
        servable_parameters_b(memory_bytes=memory_gb * GB, bits=bits) for bits in WeightBits
    )

    assert given_sizes == sizes_b


@given(memory_bytes=MEMORY, more_bytes=MEMORY, bits=st.sampled_from(WeightBits))
def test_more_memory_never_serves_less(
    memory_bytes: int, more_bytes: int, bits: WeightBits
) -> None:
    small = servable_parameters_b(memory_bytes=memory_bytes, bits=bits)

    assert servable_parameters_b(memory_bytes=memory_bytes + more_bytes, bits=bits) >= small


@given(memory_bytes=MEMORY)
def test_narrower_weights_never_serve_less(memory_bytes: int) -> None:
    sizes = [servable_parameters_b(memory_bytes=memory_bytes, bits=bits) for bits in WeightBits]

    assert sizes == sorted(sizes)


def test_the_reference_model_reads_15_gigabytes_for_a_token() -> None:
    # 8,030,261,248 parameters less 128,256 x 4,096 that are looked up; 2 bytes each.
    assert reference_read_bytes() == (8_030_261_248 - 128_256 * 4_096) * 2 == 15_009_849_344


@pytest.mark.parametrize(
    ("slug", "bound"), [("rtx-4090", 68), ("a100-pcie-80", 130), ("h200-sxm", 320)]
)
def test_bounds_the_speed_by_the_bandwidth(slug: str, bound: int) -> None:
    bandwidth = card_by_slug(slug).bandwidth_gb_per_s

    assert (
        decode_bound_tokens_per_s(bandwidth_gb_per_s=bandwidth, read_bytes=reference_read_bytes())
        == bound
    )


def test_measured_runs_reach_42_to_87_percent_of_the_bound() -> None:
    shares = [
        run.tokens_per_second * reference_read_bytes() / (all_cards()[slug].bandwidth_gb_per_s * GB)
        for slug, run in measured_decodes().items()
    ]

    assert (round(min(shares), 2), round(max(shares), 2)) == (Decimal("0.42"), Decimal("0.87"))


def test_the_worked_table_of_the_documentation_is_what_the_rules_give() -> None:
    page = Path(__file__).parents[3] / "docs" / "algorithms" / "use-cases.md"
    rows = re.findall(
        r"^\| ([a-z0-9-]+) \| ([\d |]+) \|$", page.read_text(encoding="utf-8"), re.MULTILINE
    )

    for slug, figures in rows:
        card = card_by_slug(slug)
        sizes = [
            servable_parameters_b(memory_bytes=card.memory_bytes, bits=bits) for bits in WeightBits
        ]
        bound = decode_bound_tokens_per_s(
            bandwidth_gb_per_s=card.bandwidth_gb_per_s, read_bytes=reference_read_bytes()
        )
        assert [int(figure) for figure in figures.split(" | ")] == [*sizes, bound]
    assert len(rows) == 5
