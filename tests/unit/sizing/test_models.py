"""The table of well-known models: exact parameters, ordered, each with its source."""

from datetime import date
from decimal import Decimal

from sizing.models import WellKnownModel, well_known_models


def by_slug() -> dict[str, WellKnownModel]:
    return {model.slug: model for model in well_known_models()}


def test_gives_the_published_parameters_exactly() -> None:
    models = by_slug()

    assert models["llama-3.1-8b"].parameters_b == Decimal("8.030261248")
    assert models["llama-3.1-70b"].parameters_b == Decimal("70.553706496")
    assert models["deepseek-v3"].parameters_b == Decimal("671.026404352")


def test_lists_each_model_once_from_small_to_large() -> None:
    models = well_known_models()

    sizes = [model.parameters for model in models]
    assert sizes == sorted(sizes)
    assert len({model.slug for model in models}) == len({m.name for m in models}) == len(models)


def test_every_model_has_a_source_and_a_date() -> None:
    assert [m.slug for m in well_known_models() if not m.source.startswith("https://")] == []
    assert {m.read_on for m in well_known_models()} == {date(2026, 11, 30)}


def test_a_token_reads_every_active_weight_but_the_input_embeddings() -> None:
    models = by_slug()

    # 128,256 tokens x 4,096 numbers are looked up, not read through.
    assert models["llama-3.1-8b"].read_parameters == 8_030_261_248 - 128_256 * 4_096
    # Shared with the output head, the table is read after all.
    assert models["gemma-2-9b"].read_parameters == models["gemma-2-9b"].parameters


def test_no_model_reads_more_than_it_has() -> None:
    assert [m.slug for m in well_known_models() if not 0 < m.read_parameters <= m.parameters] == []
