"""Every bad value gives a sentence that names the field and a way out, and never a number."""

import json
import string
import time
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sizing.bounds import (
    BOUNDS,
    PROBLEMS,
    InputError,
    check_at_most,
    check_bounds,
    check_divides,
    printable,
)
from sizing.serving.formats import KvFormat, weight_format_by_slug
from sizing.serving.job import Engine, ServingJob, Split, check_serving_job
from sizing.shapes.architecture import LanguageModel
from sizing.shapes.config_fields import SPELLINGS
from sizing.shapes.config_json import parse_config
from sizing.shapes.language_models import model_by_slug
from tests.unit.sizing.published_configs import PUBLISHED

BAD_VALUES = [
    -1, -(10**5000), 10**30, 10**5000, float("nan"), float("-inf"),
    1e308, "4", "", None, True, [], {},
    "\ud800" + "x" * 10_000,
]  # fmt: skip


@pytest.mark.parametrize("field", BOUNDS)
@pytest.mark.parametrize("value", BAD_VALUES, ids=range(len(BAD_VALUES)))
def test_each_bounded_field_refuses_what_cannot_be_meant(field, value):
    with pytest.raises(InputError) as refused:
        check_bounds(**{field: value})

    sentence = str(refused.value)
    assert refused.value.field == field
    assert refused.value.problem in PROBLEMS
    assert sentence.startswith(f"{field} is ")
    assert ": give " in sentence
    assert len(sentence) < 300
    assert sentence.isprintable()


@pytest.mark.parametrize("field", BOUNDS)
def test_both_bounds_are_allowed(field):
    check_bounds(**{field: BOUNDS[field].least})
    check_bounds(**{field: BOUNDS[field].most})


def test_a_field_that_takes_fractions_takes_whole_numbers_too():
    check_bounds(parameters_billions=7, memory_gb=79.5)

    with pytest.raises(InputError) as refused:
        check_bounds(lora_rank=16.0)

    assert str(refused.value) == (
        "lora_rank is 16.0, not a whole number: give a whole number from 1 to 65536, written with "
        "digits only."
    )


def test_a_rank_above_the_dimension_is_told_the_dimension():
    check_at_most(field="lora_rank", value=4096, dimension="hidden", most=4096)

    with pytest.raises(InputError) as refused:
        check_at_most(field="lora_rank", value=9000, dimension="hidden", most=4096)

    assert str(refused.value) == (
        "lora_rank is 9000, but it cannot exceed hidden, which is 4096: give at most 4096."
    )
    assert dict(refused.value.values) == {"given": 9000, "dimension": "hidden", "most": 4096}


def test_cards_that_do_not_divide_the_heads_are_told_which_do():
    check_divides(field="tensor_parallel", value=8, dimension="heads", whole=40)

    with pytest.raises(InputError) as refused:
        check_divides(field="tensor_parallel", value=6, dimension="heads", whole=40)

    assert str(refused.value) == (
        "tensor_parallel is 6, which does not divide heads, which is 40: choose one of "
        "1, 2, 4, 5, 8, 10, 20, 40."
    )


@pytest.mark.parametrize("problem", PROBLEMS)
def test_every_problem_names_the_field_and_says_what_to_do(problem):
    names = [name for _, name, _, _ in string.Formatter().parse(PROBLEMS[problem]) if name]

    figures = dict.fromkeys({*names} - {"field"}, 7)
    sentence = str(InputError(field="x", problem=problem, values=figures))

    said, _, way_out = sentence.partition(": ")
    assert "field" in names or problem.startswith("config_")
    assert said
    assert way_out.endswith((".", "?"))
    assert "{" not in sentence


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("a\nb", "a?b"),
        (float("inf"), "inf"),
        (False, "false"),
        (None, "null"),
        ({}, "an object"),
        (3j, "no number"),
        (10**5000, "a number of about 5001 digits"),
        (["nf4", 8], "nf4, 8"),
    ],
    ids=range(8),
)
def test_a_value_is_repeated_short_and_on_one_line(value, shown):
    assert printable(value) == shown


SERVED = ServingJob(
    model=model_by_slug("llama-3-8b"), weights=weight_format_by_slug("bf16"), context_tokens=4096
)
LAYERED = {"split": Split.LAYERS, "engine": Engine.LLAMA_CPP}


@pytest.mark.parametrize(
    ("change", "field", "problem"),
    [
        ({"context_tokens": 0}, "context_tokens", "below_least"),
        ({"context_tokens": float("nan")}, "context_tokens", "not_whole"),
        ({"context_tokens": 10**30}, "context_tokens", "above_most"),
        ({"context_tokens": 8193}, "context_tokens", "above_dimension"),
        ({"output_tokens": 4097}, "output_tokens", "above_dimension"),
        ({"output_tokens": -1}, "output_tokens", "below_least"),
        ({"prefill_chunk_tokens": -1}, "prefill_chunk_tokens", "below_least"),
        ({"requests": 0}, "concurrency", "below_least"),
        ({"requests": "8"}, "concurrency", "not_whole"),
        ({"gpus": 0}, "gpus", "below_least"),
        ({"gpus": 3}, "tensor_parallel", "not_dividing"),
        ({"gpus": 64}, "tensor_parallel", "not_dividing"),
        ({"gpus": 128}, "tensor_parallel", "above_most"),
        ({"gpus": 33, **LAYERED}, "gpus", "above_dimension"),
        ({"utilization_percent": 101}, "utilization_percent", "above_most"),
        ({"weights": weight_format_by_slug("nf4"), "engine": Engine.LLAMA_CPP}, "engine",
         "not_together"),
        ({"kv_format": KvFormat.Q4_0}, "kv_format", "not_together"),
    ],
)  # fmt: skip
def test_a_job_of_serving_that_cannot_run_is_refused_by_name(change, field, problem):
    with pytest.raises(InputError) as refused:
        check_serving_job(replace(SERVED, **change))

    assert (refused.value.field, refused.value.problem) == (field, problem)
    assert str(refused.value).startswith(f"{field} is ")


def test_a_job_of_serving_that_can_run_is_not_refused():
    check_serving_job(SERVED)


def test_an_unknown_format_of_weights_is_told_similar_ones():
    with pytest.raises(InputError) as refused:
        weight_format_by_slug("bf17")

    assert (refused.value.field, refused.value.problem) == ("weight_format", "unknown_name_nearest")
    assert "bf16" in str(refused.value)


KEYS = st.sampled_from(
    ["model_type", "layer_types", "text_config", "tie_word_embeddings", "sliding_window_pattern",
     "moe_layers", "mlp_only_layers", "moe_layer_freq", "use_sliding_window", "multi_query",
     "kv_lora_rank", "attn_config", "ffn_config", "architectures", "quantization_config",
     "max_window_layers", "first_k_dense_replace", "moe_layer_end_index"]
    + [name for names in SPELLINGS.values() for name in names]
)  # fmt: skip
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(0, 200)
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["llama", "mpt", "qwen3_next", "deepseek_v3", "falcon", "sliding_attention"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner),
    max_leaves=6,
)


def model_or_refusal(text):
    started = time.process_time()
    result: LanguageModel | InputError
    try:
        result = parse_config(text)
    except InputError as error:
        result = error
    assert time.process_time() - started < 1
    assert str(result).isprintable()
    return result


@given(
    base=st.sampled_from([config for config, _, _ in PUBLISHED.values()]),
    changes=st.dictionaries(KEYS, VALUES, max_size=4),
)
def test_any_change_of_a_configuration_gives_a_model_or_a_sentence(base, changes):
    result = model_or_refusal(json.dumps({**base, **changes}))

    if isinstance(result, LanguageModel):
        assert result.parameters > 0
        assert result.active_parameters <= result.parameters
        assert result.window_layers + result.linear_layers <= result.layers


@given(st.text() | st.binary() | VALUES.map(json.dumps))
def test_any_text_gives_a_model_or_a_sentence(text):
    model_or_refusal(text)


@pytest.mark.parametrize(
    "text",
    [
        "[" * 400_000 + "]" * 400_000,
        '{"a":' * 150_000,
        '{"hidden_size": ' + "9" * 900_000 + "}",
        '{"hidden_size": 1e308}',
        '{"hidden_size": 0.' + "1" * 900_000 + "}",
        '{"\\ud800": "\\udfff", "model_type": "\\ud800"}',
        '{"layer_types": [' + '"full_attention",' * 50_000 + '""]}',
        '{"model_type": "llama", "num_hidden_layers": ' + "[" * 30 + "]" * 30 + "}",
        "\x00" * 1000,
    ],
    ids=range(9),
)
def test_a_hostile_text_is_refused_quickly(text):
    assert isinstance(model_or_refusal(text), InputError)
