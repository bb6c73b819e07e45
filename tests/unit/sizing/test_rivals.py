"""Published rules of others, at points computed by hand from their sources."""

import pytest

from sizing.rivals import RIVALS, Run, Tuning
from sizing.shapes.language_models import model_by_slug

BY_KEY = {rival.key: rival for rival in RIVALS}
PARAMETERS = 6_738_415_616


def llama_run(tuning: Tuning, *, has_checkpointing: bool = True, is_pure_bf16: bool = False) -> Run:
    return Run(
        model=model_by_slug("llama-2-7b-hf"),
        tuning=tuning,
        sequence_tokens=1024,
        micro_batch=1,
        has_checkpointing=has_checkpointing,
        is_pure_bf16=is_pure_bf16,
    )


@pytest.mark.parametrize(
    ("key", "tuning", "expected"),
    [
        ("accelerate", Tuning.FULL, 8 * PARAMETERS),
        ("llama_factory", Tuning.FULL, 18 * PARAMETERS),
        ("llama_factory", Tuning.LORA, 2 * PARAMETERS),
        ("llama_factory", Tuning.QLORA, PARAMETERS / 2),
        ("indicative", Tuning.FULL, 16 * PARAMETERS),
        ("indicative", Tuning.LORA, 2.5 * PARAMETERS),
        ("indicative", Tuning.QLORA, PARAMETERS),
    ],
)
def test_multiplies_the_parameters(key: str, tuning: Tuning, expected: float) -> None:
    assert BY_KEY[key].peak_bytes(llama_run(tuning)) == expected


def test_the_table_of_llama_factory_has_a_line_for_pure_bf16() -> None:
    run = llama_run(Tuning.FULL, is_pure_bf16=True)

    assert BY_KEY["llama_factory"].peak_bytes(run) == 8 * PARAMETERS


@pytest.mark.parametrize(
    ("has_checkpointing", "activations"),
    [
        # 1,024 tokens x 4,096 wide x 32 layers, 34 bytes each.
        (True, 4_563_402_752),
        # 34 + 5 x 32 heads x 1,024 / 4,096.
        (False, 9_932_111_872),
    ],
)
def test_the_calculator_of_eleutherai(has_checkpointing: bool, activations: int) -> None:
    run = llama_run(Tuning.FULL, has_checkpointing=has_checkpointing)

    assert BY_KEY["eleutherai"].peak_bytes(run) == 18 * 6_743_400_448 + activations


@pytest.mark.parametrize("rival", RIVALS, ids=lambda rival: rival.key)
@pytest.mark.parametrize("tuning", Tuning)
def test_a_rule_covers_the_methods_that_it_names(rival, tuning: Tuning) -> None:
    assert (rival.peak_bytes(llama_run(tuning)) is not None) == (tuning in rival.tunings)


def test_every_rule_says_where_it_is_published_and_what_it_assumes() -> None:
    assert all(rival.source.startswith(("https://", "docs/")) for rival in RIVALS)
    assert all(
        "assumes" in (rival.peak_bytes.__doc__ or "")
        or "depends" in (rival.peak_bytes.__doc__ or "")
        for rival in RIVALS
    )
