"""Stated classes of cards and the recipes that make them true by the engine."""

import pytest

from sizing.accuracy.seed_classes import Claim, SeedClass, Standing, seed_classes
from sizing.fits import Verdict
from sizing.shapes.language_models import all_language_models
from sizing.training.choices import RECIPES, Method

# Constants are fitted anew now and then; the answers may not change with them, the figures may a
# little.
NEAR = 0.06


@pytest.mark.parametrize(
    ("key", "standing", "recipe", "computed_gb", "true_recipes"),
    [
        # With the classic recipe it fits too, above 80 % of the memory.
        ("full-7b-2x80", Standing.WITH_RECIPE, "D", 59.7, "DEFGHIJ"),
        ("full-7b-1x80", Standing.WITH_RECIPE, "E", 71.9, "EFG"),
        ("full-13b-2x80", Standing.WITH_RECIPE, "E", 72.0, "EFGHIJ"),
        ("full-34b-4x80", Standing.WITH_RECIPE, "H", 57.4, "HIJ"),
        ("full-70b-8x80", Standing.WITH_RECIPE, "H", 59.3, "HIJ"),
        ("full-7b-48", Standing.WITH_RECIPE, "H", 42.7, "HIJ"),
        ("full-13b-80", Standing.WITH_RECIPE, "I", 56.5, "IJ"),
    ],
)
def test_whole_training_is_true_with_the_recipes_named(
    key: str, standing: Standing, recipe: str, computed_gb: float, true_recipes: str
) -> None:
    case = seed_classes()[key]

    assert (case.standing, case.chosen.recipe) == (standing, recipe)
    assert "".join(case.true_recipes) == true_recipes
    assert case.computed_gb == pytest.approx(computed_gb, rel=NEAR)


@pytest.mark.parametrize(
    ("key", "standing", "computed_gb"),
    [
        ("qlora-7b-24", Standing.TRUE, 6.7),
        ("qlora-8b-24", Standing.TRUE, 11.5),
        ("qlora-13b-24", Standing.TRUE, 11.1),
        ("qlora-14b-24", Standing.TRUE, 17.5),
        ("qlora-14b-32", Standing.TRUE, 17.5),
        ("lora-7b-24", Standing.TRUE, 16.6),
        ("lora-7b-48", Standing.TRUE, 16.6),
        ("lora-13b-48", Standing.TRUE, 30.3),
        ("qlora-13b-48", Standing.TRUE, 11.1),
        ("qlora-34b-48", Standing.TRUE, 24.8),
        ("qlora-70b-80", Standing.TRUE, 46.5),
        ("qlora-72b-80", Standing.TRUE, 53.0),
        ("lora-8b-24", Standing.NOT, 22.0),
    ],
)
def test_adapters_fit_where_they_are_said_to_or_just_not(
    key: str, standing: Standing, computed_gb: float
) -> None:
    case = seed_classes()[key]

    assert (case.standing, case.chosen.recipe) == (standing, "")
    assert case.computed_gb == pytest.approx(computed_gb, rel=NEAR)


def test_every_statement_names_facts_and_a_model_of_the_table() -> None:
    cases = seed_classes().values()

    assert len(cases) == 20
    assert all(case.facts and case.statement for case in cases)
    assert {case.model_slug for case in cases} <= set(all_language_models())


def test_whole_training_is_read_with_every_recipe_and_adapters_with_none() -> None:
    for case in seed_classes().values():
        letters = [reading.recipe for reading in case.readings]
        assert letters == (list(RECIPES) if case.method is Method.FULL else [""])


def test_the_classic_recipe_never_needs_less_than_the_leanest() -> None:
    for case in seed_classes().values():
        assert case.readings[0].peak_bytes >= case.readings[-1].peak_bytes


@pytest.mark.parametrize(
    ("claim", "verdicts"),
    [
        (Claim.COMFORTABLE, {Verdict.COMFORTABLE}),
        (Claim.TIGHT, {Verdict.TIGHT}),
        (Claim.FITS, {Verdict.COMFORTABLE, Verdict.TIGHT}),
    ],
)
def test_a_claim_holds_with_its_verdicts(claim: Claim, verdicts: set[Verdict]) -> None:
    assert {verdict for verdict in Verdict if claim.holds(verdict)} == verdicts


def test_a_statement_that_no_recipe_makes_true_shows_the_leanest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    row = {
        "key": "too-large",
        "facts": "1",
        "statement": "70B trained whole fits one card of 24 GB",
        "method": "full",
        "model_slug": "llama-2-70b-hf",
        "cards": "1",
        "card_gb": "24",
        "claim": "fits",
    }
    monkeypatch.setattr("sizing.accuracy.seed_classes.table_rows", lambda _name: [row])
    seed_classes.cache_clear()

    case: SeedClass = seed_classes()["too-large"]

    seed_classes.cache_clear()
    assert (case.standing, case.chosen.recipe, case.true_recipes) == (Standing.NOT, "J", ())
