"""Stated figures of training, computed by the engine."""

import pytest

from sizing.accuracy.seed_figures import seed_figures, state_bytes


@pytest.mark.parametrize(
    ("letter", "expected"),
    list(zip("ABCDEFGHIJ", (20, 18, 16, 12, 10, 10, 8, 6, 4, 2), strict=True)),
)
def test_recipes_hold_so_many_bytes_a_parameter(letter: str, expected: float) -> None:
    assert state_bytes(letter).total == pytest.approx(expected, abs=0.05)


@pytest.mark.parametrize(
    ("key", "computed", "recipes", "is_true"),
    [
        ("full-7b-parts", (14, 14, 56), "D", True),
        ("full-16-bytes", (16,), "C", True),
        ("adam-twice-weights", (2,), "G", True),
        ("lora-2-bytes", (2.0,), "", True),
        ("qlora-below-1-byte", (0.574,), "", True),
        # 0.02 % with rank 8 on queries and values of 70B, 2.4 % with rank 64 on all of 7B.
        ("lora-trainable-share", (0.024, 0.062, 0.300, 0.593, 2.373), "", False),
        ("longer-texts-same-weights", (1,), "", True),
        ("longer-texts-more-memory", (1.27,), "", True),
        ("activations-fused", (4,), "", True),
        ("activations-written-scores", (8.9,), "", True),
        ("accumulation", (1, 1.63), "", True),
        ("indicative-table", (18,), "", True),
    ],
)
def test_each_stated_figure_is_computed(
    key: str, computed: tuple[float, ...], recipes: str, is_true: bool
) -> None:
    figure = seed_figures()[key]

    assert figure.computed == pytest.approx(computed, rel=0.06)
    assert ("".join(figure.recipes), figure.is_true) == (recipes, is_true)


def test_every_figure_is_told_with_its_facts_and_unit() -> None:
    figures = seed_figures().values()

    assert len(figures) == 12
    assert all(each.facts and each.statement and each.unit and each.stated for each in figures)


def test_a_figure_that_no_recipe_gives_shows_the_classic_one() -> None:
    from sizing.accuracy.seed_figures import _of_recipes

    figure = _of_recipes(
        key="k",
        facts=(1,),
        statement="s",
        unit="bytes per parameter",
        stated=(99,),
        computed=lambda states: (states.total,),
    )

    assert figure.computed == pytest.approx((16,))
    assert (figure.recipes, figure.is_true) == ((), False)
