"""Any row of a file is judged or counted with a sentence; none ends the report."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sizing.accuracy.judging import Kind, judged
from sizing.measurements import COLUMNS, Reason, measurements_of
from sizing.rivals import Tuning
from sizing.shapes.language_models import all_language_models
from tests.unit.sizing.test_measurements_reader import LORA_RUN, file_of

SOMETHING = {
    "task": ["fine-tuning", "inference", "pre-training"],
    "method": [
        *("full", "LoRA", "QLoRA", "LoRA+emb", "Adapter", "DoRA", "full, optimizer in backward"),
        *("vLLM", "llama.cpp", "SGLang", "transformers", "litgpt generate", "KV cache int8", "x"),
    ],
    "precision": ["bf16", "fp32", "nf4", "bnb.nf4-dq", "Q4_K_M", "FP8", "int8", "MXFP4", "?", ""],
    "optimizer": ["AdamW", "PagedAdamW8bit", "Lion", "Adafactor", "Muon", "SGD", "GaLore", "?"],
    "seq_len": ["1", "2048", "1000000", "999999999"],
    "micro_batch": ["", "1", "64", "999999999"],
    "grad_ckpt": ["", "yes", "no", "selective", "offload", "?"],
    "attention": ["", "HF", "SDPA", "FlashAttention-2", "?"],
    "gpu": ["", "A100 40GB", "RTX 5090", "H200", "MI300X", "a card of ours"],
    "gpus": ["", "1", "3", "8", "999999999"],
    "sharding": ["", "FSDP", "ZeRO-2", "ZeRO-3, parameters and optimizer on CPU", "TP3", "?"],
    "metric": ["peak_memory", "peak_memory_total", "decode_speed", "prefill_speed"],
    "value": ["0.001", "16.5", "900000"],
    "unit": ["GB", "GiB", "tokens/s"],
    "model_slug": list(all_language_models()),
    "lora_rank": ["", "8", "999999999"],
    "lora_targets": ["", "all linear", "query,value", "lm_head", "?"],
    "note": ["", "torchtune", "packed", "liger", "reserved", "Unsloth"],
}


def judged_rows(row: dict[str, str]):
    return judged(measurements_of(content=file_of(row)).measurements)


@given(
    st.fixed_dictionaries({column: st.sampled_from(cells) for column, cells in SOMETHING.items()})
)
def test_every_row_is_judged_or_refused_in_words(row: dict[str, str]) -> None:
    judgements, refused = judged_rows(row | {"source": "https://example.org/a"})

    assert all(each.estimate > 0 for each in judgements)
    assert all(each.reason is Reason.NOT_ESTIMATED and each.detail for each in refused)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"method": "prompt tuning"}, "method prompt tuning"),
        ({"task": "inference", "method": "an engine"}, "no engine is named in “an engine”"),
        (
            {
                "task": "inference",
                "method": "llama.cpp",
                "precision": "F16",
                "metric": "prefill_speed",
                "unit": "tokens/s",
                "gpu": "Instinct MI50",
            },
            "the card “Instinct MI50” is not known",
        ),
        (
            {
                "task": "inference",
                "method": "llama.cpp",
                "precision": "F16",
                "metric": "prefill_speed",
                "unit": "tokens/s",
                "gpu": "Radeon Instinct MI210",
            },
            "no rate of 16-bit matrices is known of mi210",
        ),
        (
            {"seq_len": "999999999"},
            "sequence_tokens is 999999999, but the most is 2097152: give a value from 1 to 2097152.",
        ),
        (
            {"task": "inference", "method": "vLLM TP3", "metric": "decode_speed", "gpus": "3"}
            | {"unit": "tokens/s", "gpu": "A100 40GB"},
            (
                "tensor_parallel is 3, which does not divide the number of heads, which is 32: "
                "choose one of 1, 2, 4, 8, 16, 32."
            ),
        ),
    ],
)
def test_says_why_a_row_is_refused(changes: dict[str, str], words: str) -> None:
    judgements, refused = judged_rows(LORA_RUN | changes)

    assert (judgements, [each.detail for each in refused]) == ([], [words])


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({}, Kind.TRAINING_ONE_CARD),
        ({"gpus": "2", "sharding": "FSDP"}, Kind.TRAINING_MANY_CARDS),
    ],
)
def test_the_published_rules_are_asked_about_three_methods(
    changes: dict[str, str], kind: Kind
) -> None:
    ((plain,), _) = judged_rows(LORA_RUN | changes)
    ((with_embeddings,), _) = judged_rows(LORA_RUN | changes | {"method": "LoRA+emb"})

    assert plain.kind is kind
    assert plain.rival_run is not None
    assert plain.rival_run.tuning is Tuning.LORA
    assert with_embeddings.rival_run is None


def test_every_column_but_the_identity_is_varied() -> None:
    assert set(COLUMNS) - set(SOMETHING) == {"id", "model", "source"}
