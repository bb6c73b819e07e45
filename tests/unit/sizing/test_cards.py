"""The table of cards: complete, sourced, and as the makers give it."""

from decimal import Decimal

import pytest

from sizing.cards import UnknownCardError, all_cards, card_by_slug
from sizing.nearest import nearest

MAKERS_FIGURES = [
    ("rtx-4090", "RTX 4090", "Ada Lovelace", 24, 1008),
    ("rtx-5090", "RTX 5090", "Blackwell", 32, 1792),
    ("rtx-a6000", "RTX A6000", "Ampere", 48, 768),
    ("l40s", "L40S", "Ada Lovelace", 48, 864),
    ("rtx-6000-ada", "RTX 6000 Ada", "Ada Lovelace", 48, 960),
    ("a100-sxm-80", "A100 SXM", "Ampere", 80, 2039),
    ("h100-sxm", "H100 SXM", "Hopper", 80, 3350),
    ("rtx-pro-6000-blackwell", "RTX PRO 6000 Blackwell", "Blackwell", 96, 1792),
    ("h200-sxm", "H200", "Hopper", 141, 4800),
]


@pytest.mark.parametrize(("slug", "name", "architecture", "memory_gb", "bandwidth"), MAKERS_FIGURES)
def test_holds_the_makers_figures(
    slug: str, name: str, architecture: str, memory_gb: int, bandwidth: int
) -> None:
    card = card_by_slug(slug)

    assert (card.name, card.architecture) == (name, architecture)
    assert (card.memory_gb, card.bandwidth_gb_per_s) == (memory_gb, Decimal(bandwidth))
    assert card.memory_bytes == memory_gb * 1_000_000_000


def test_every_card_has_a_source_and_positive_figures() -> None:
    cards = all_cards().values()

    assert len(cards) == 53
    assert all(card.source_base.startswith("https://") for card in cards)
    assert all(card.memory_gb > 0 and card.bandwidth_gb_per_s > 0 for card in cards)


def test_tensor_rates_are_dense() -> None:
    assert card_by_slug("h100-sxm").bf16_dense_tflops == Decimal(989)


def test_an_unread_figure_is_none_and_not_zero() -> None:
    assert card_by_slug("a10").bf16_dense_tflops is None


def test_an_unknown_card_names_its_neighbours() -> None:
    with pytest.raises(UnknownCardError) as caught:
        card_by_slug("RTX 4090")

    assert caught.value.nearest[0] == "rtx-4090"


def test_a_name_like_nothing_has_no_neighbours() -> None:
    assert nearest("zzzzzz", known=all_cards()) == ()
    assert nearest("", known=all_cards()) == ()
