"""Models from their configuration files: the table's models rebuilt, published totals reached."""

import json
from dataclasses import replace

import pytest

from sizing.bounds import InputError
from sizing.shapes.config_families import Kind, all_families
from sizing.shapes.config_json import MOST_CONFIG_BYTES, parse_config
from sizing.shapes.language_models import all_language_models, model_by_slug
from tests.unit.sizing.published_configs import LLAMA, PUBLISHED

TABLE = all_language_models()


def as_config(model):
    """Write a model of the table as its family writes it."""
    config = {
        "model_type": "llama",
        "num_hidden_layers": model.layers,
        "hidden_size": model.hidden,
        "intermediate_size": model.intermediate,
        "num_attention_heads": model.heads,
        "num_key_value_heads": model.kv_heads,
        "head_dim": model.head_dim,
        "vocab_size": model.vocabulary,
        "tie_word_embeddings": model.has_tied_embeddings,
        "attention_bias": model.has_qkv_bias,
        "max_position_embeddings": model.max_context or None,
    }
    for start, write in FAMILIES.items():
        if model.slug.startswith(start):
            config |= write(model)
    return config


def windows(family):
    return lambda model: {"model_type": family, "sliding_window": model.window_tokens or None}


def experts(family, **names):
    def write(model):
        moe = model.experts
        figures = {
            "total": moe.total,
            "per_token": moe.per_token,
            "intermediate": moe.intermediate,
            "shared": moe.shared,
            "dense": moe.first_dense_layers,
        }
        return {"model_type": family} | {names[key]: figures[key] for key in names}

    return write


def deepseek(model):
    latent = model.latent
    return experts(
        "deepseek_v3",
        total="n_routed_experts",
        per_token="num_experts_per_tok",
        intermediate="moe_intermediate_size",
        shared="n_shared_experts",
        dense="first_k_dense_replace",
    )(model) | {
        "kv_lora_rank": latent.kv_lora_rank,
        "q_lora_rank": latent.q_lora_rank,
        "qk_nope_head_dim": latent.qk_nope_dim,
        "qk_rope_head_dim": latent.qk_rope_dim,
        "v_head_dim": latent.v_head_dim,
        "head_dim": latent.qk_rope_dim,
        "num_nextn_predict_layers": 1,
    }


def falcon(model):
    heads = {"multi_query": True} if model.kv_heads == 1 else {"new_decoder_architecture": True}
    return {"model_type": "falcon", "num_kv_heads": model.kv_heads, **heads}


GLM_MOE = experts(
    "glm4_moe",
    total="n_routed_experts",
    per_token="num_experts_per_tok",
    intermediate="moe_intermediate_size",
    shared="n_shared_experts",
    dense="first_k_dense_replace",
)
QWEN_MOE = experts(
    "qwen3_moe",
    total="num_experts",
    per_token="num_experts_per_tok",
    intermediate="moe_intermediate_size",
)
MIXTRAL = experts("mixtral", total="num_local_experts", per_token="num_experts_per_tok")
# A later entry that fits a slug overrides an earlier one.
FAMILIES = {
    "mistral": windows("mistral"),
    "mixtral": MIXTRAL,
    "gemma": lambda model: {"model_type": "gemma"},
    "gemma-2-": windows("gemma2"),
    "gemma-3": windows("gemma3_text"),
    "phi": lambda model: {"model_type": "phi"},
    "phi-3": windows("phi3"),
    "phi-4": windows("phi3"),
    "falcon": falcon,
    "stablelm-base-alpha": lambda model: {"model_type": "gpt_neox"},
    "qwen2": lambda model: {"model_type": "qwen2"},
    "qwen3": lambda model: {"model_type": "qwen3"},
    "qwen3-30b": QWEN_MOE,
    "qwen3-235b": QWEN_MOE,
    "qwen1": lambda model: {"model_type": "qwen", "intermediate_size": 2 * model.intermediate},
    "olmo-2": lambda model: {"model_type": "olmo2"},
    "deepseek": deepseek,
    "glm-4-": lambda model: {"model_type": "glm4"},
    "glm-4.5": GLM_MOE,
    "gpt-oss": lambda model: (
        experts("gpt_oss", total="num_local_experts", per_token="num_experts_per_tok")(model)
        | {"sliding_window": model.window_tokens}
    ),
    "llama-4": lambda model: (
        experts("llama4_text", total="num_local_experts", per_token="num_experts_per_tok")(model)
        | {
            "intermediate_size": model.experts.intermediate,
            "intermediate_size_mlp": model.intermediate,
        }
    ),
}


@pytest.mark.parametrize("slug", TABLE)
def test_a_model_of_the_table_comes_back_from_the_configuration_of_its_family(slug):
    model = TABLE[slug]

    parsed = parse_config(json.dumps(as_config(model)), name=model.name)

    left_open = {"slug": slug, "source": model.source, "note": model.note, "assumptions": ()}
    assert replace(parsed, **left_open) == model


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_published_configuration_gives_the_published_number_of_parameters(name):
    config, total, permille = PUBLISHED[name]

    model = parse_config(json.dumps(config), name=name)

    assert abs(model.parameters - total) <= total * permille / 1000


def test_what_is_taken_for_granted_is_said():
    model = parse_config(json.dumps({**LLAMA, "num_key_value_heads": None}))

    assert model.kv_heads == 32
    assert model.note == (
        "tie_word_embeddings is not given; false is what the family takes without it."
    )


def test_a_published_quantization_and_layers_of_further_tokens_are_noted():
    given = {
        **LLAMA,
        "tie_word_embeddings": False,
        "num_nextn_predict_layers": 1,
        "quantization_config": {"quant_method": "gptq", "bits": 4},
    }

    model = parse_config(json.dumps(given))

    assert [each.key for each in model.assumptions] == [
        "further_tokens_left_out",
        "published_quantized",
    ]
    assert "quantized (gptq)" in model.note


def test_the_text_part_of_a_model_for_pictures_is_counted():
    text = {**LLAMA, "tie_word_embeddings": None}
    given = {
        "model_type": "llava",
        "tie_word_embeddings": True,
        "text_config": text,
        "vision_config": {"hidden_size": 1024},
    }

    model = parse_config(json.dumps(given))

    assert model.has_tied_embeddings
    assert model.layers == 32
    assert model.note.startswith("Only the decoder of text is counted")


def test_gemma_3_leaves_its_heads_to_its_class():
    given = {
        "model_type": "gemma3",
        "text_config": {
            "model_type": "gemma3_text",
            "hidden_size": 2560,
            "intermediate_size": 10240,
            "num_hidden_layers": 34,
            "sliding_window": 1024,
        },
        "vision_config": {},
    }

    model = parse_config(json.dumps(given))

    assert (model.heads, model.kv_heads, model.head_dim) == (8, 4, 256)
    assert (model.full_layers, model.window_layers, model.window_tokens) == (5, 29, 1024)
    assert "num_attention_heads is not given; 8 is" in model.note


def test_an_unknown_family_with_gated_mlps_is_counted_like_llama_and_says_so():
    given = {**LLAMA, "model_type": "newcomer", "hidden_act": "silu", "sliding_window": 4096}

    model = parse_config(json.dumps(given))

    assert model.parameters == 6_738_415_616
    assert [each.key for each in model.assumptions] == [
        "family_unknown",
        "tied_unknown",
        "window_ignored",
    ]


def test_the_name_of_the_file_is_used_where_none_is_given():
    given = {**LLAMA, "_name_or_path": "meta-llama/Llama-2-7b-hf\n<b>"}

    assert parse_config(json.dumps(given)).name == "meta-llama/Llama-2-7b-hf?<b>"
    assert parse_config(json.dumps(LLAMA).encode(), name=" my  run ").name == "my run"
    assert parse_config("\ufeff" + json.dumps({**LLAMA, "_name_or_path": 3})).name == "llama"


QWEN2 = {**LLAMA, "model_type": "qwen2", "sliding_window": 4096}


@pytest.mark.parametrize(
    ("config", "window_layers", "window_tokens"),
    [
        (QWEN2, 0, 0),
        ({**QWEN2, "use_sliding_window": True, "max_window_layers": 28}, 4, 4096),
        ({**QWEN2, "use_sliding_window": True, "max_window_layers": 40}, 0, 0),
        ({**LLAMA, "model_type": "mistral"}, 32, 4096),
        ({**LLAMA, "model_type": "mistral", "sliding_window": None}, 0, 0),
        ({**LLAMA, "model_type": "cohere2", "sliding_window_pattern": 8}, 28, 4096),
        ({**LLAMA, "model_type": "exaone4", "sliding_window_pattern": "LLLG"}, 24, 4096),
        ({**LLAMA, "layer_types": ["sliding_attention", "full_attention"] * 16,
          "sliding_window": 512}, 16, 512),
        ({**LLAMA, "layer_types": ["full_attention"] * 32, "sliding_window": 512}, 0, 0),
        ({**LLAMA, "layer_types": ["chunked_attention"] * 32}, 0, 0),
    ],
)  # fmt: skip
def test_layers_slide_as_the_family_or_the_list_says(config, window_layers, window_tokens):
    model = parse_config(json.dumps(config))

    assert (model.window_layers, model.window_tokens) == (window_layers, window_tokens)


MOE = {
    **LLAMA, "model_type": "qwen2_moe", "num_experts": 8, "num_experts_per_tok": 2,
    "moe_intermediate_size": 1024,
}  # fmt: skip


@pytest.mark.parametrize(
    ("more", "dense_layers"),
    [
        ({}, 0),
        ({"decoder_sparse_step": 2}, 16),
        ({"mlp_only_layers": [0, 5]}, 2),
        ({"first_k_dense_replace": 3}, 3),
        ({"first_k_dense_replace": 1, "moe_layer_freq": 2}, 17),
        ({"moe_layer_freq": [0] * 4 + [1] * 28}, 4),
        ({"moe_layers": [1, 2, 3]}, 29),
        ({"mlp_layer_types": ["dense"] * 7 + ["sparse"] * 25}, 7),
        ({"interleave_moe_layer_step": 4}, 24),
        ({"moe_layer_start_index": 2, "moe_layer_end_index": 29}, 4),
        ({"moe_layer_start_index": 2, "moe_layer_end_index": -1}, 2),
    ],
)
def test_layers_without_experts_are_counted_by_each_rule(more, dense_layers):
    model = parse_config(json.dumps({**MOE, **more}))

    assert model.experts
    assert model.experts.first_dense_layers == dense_layers


def test_a_shared_expert_may_have_its_own_width():
    model = parse_config(json.dumps({**MOE, "shared_expert_intermediate_size": 5632}))

    assert model.experts
    assert (model.experts.shared, model.experts.shared_intermediate) == (1, 5632)


def test_a_mixture_without_dense_layers_needs_no_dense_width():
    assert parse_config(json.dumps(without("intermediate_size", MOE))).intermediate == 1024


@pytest.mark.parametrize("none", [0, 1, None])
def test_fewer_than_two_experts_are_none(none):
    given = {**LLAMA, "num_local_experts": none, "num_experts_per_tok": 0}

    assert parse_config(json.dumps(given)).experts is None


def without(key, base=LLAMA):
    return {name: value for name, value in base.items() if name != key}


LATENT = {
    "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
}  # fmt: skip
NEXT = {
    **LLAMA, "model_type": "qwen3_next", "linear_num_key_heads": 16,
    "linear_key_head_dim": 128, "linear_num_value_heads": 32, "linear_value_head_dim": 128,
}  # fmt: skip
BAD_FIELDS = [
    (without("num_hidden_layers"), "num_hidden_layers", "config_missing"),
    (without("intermediate_size"), "intermediate_size", "config_missing"),
    (without("vocab_size"), "vocab_size", "config_missing"),
    ({**LLAMA, "hidden_size": "4096"}, "hidden_size", "config_number_as_text"),
    ({**LLAMA, "hidden_size": True}, "hidden_size", "not_whole"),
    ({**LLAMA, "hidden_size": 4096.0}, "hidden_size", "not_whole"),
    ({**LLAMA, "hidden_size": []}, "hidden_size", "not_whole"),
    ({**LLAMA, "hidden_size": -4096}, "hidden_size", "below_least"),
    ({**LLAMA, "num_hidden_layers": 0}, "num_hidden_layers", "below_least"),
    ({**LLAMA, "hidden_size": 10**30}, "hidden_size", "above_most"),
    ({**LLAMA, "vocab_size": 10**30}, "vocab_size", "above_most"),
    ({**LLAMA, "num_attention_heads": 33, "num_key_value_heads": None}, "hidden_size", "not_dividing_both"),
    ({**LLAMA, "num_key_value_heads": 64}, "num_key_value_heads", "above_dimension"),
    ({**LLAMA, "num_key_value_heads": 5}, "num_key_value_heads", "not_dividing"),
    ({**LLAMA, "n_embd": 1024}, "n_embd", "config_two_values"),
    ({**LLAMA, "tie_word_embeddings": "false"}, "tie_word_embeddings", "config_not_bool"),
    ({**LLAMA, "layer_types": "full"}, "layer_types", "config_not_list"),
    ({**LLAMA, "layer_types": ["full_attention"]}, "layer_types", "config_wrong_length"),
    ({**LLAMA, "layer_types": ["mamba"] * 32}, "layer_types", "config_unknown_layer"),
    ({**LLAMA, "layer_types": [{}] * 32}, "layer_types", "config_unknown_layer"),
    ({**LLAMA, "layer_types": ["linear_attention"] * 32}, "layer_types", "config_unknown_layer"),
    ({**LLAMA, "layer_types": ["sliding_attention"] * 32}, "layer_types", "config_window_missing"),
    ({**QWEN2, "use_sliding_window": False, "layer_types": ["sliding_attention"] * 32},
     "layer_types", "config_window_off"),
    ({**LLAMA, "model_type": "exaone4", "sliding_window_pattern": "XX"},
     "sliding_window_pattern", "config_not_pattern"),
    ({**MOE, "num_experts_per_tok": 9}, "num_experts_per_tok", "above_dimension"),
    (without("num_experts", MOE), "num_experts_per_tok", "config_experts_off"),
    (without("num_experts_per_tok", MOE), "num_experts_per_tok", "config_missing"),
    (without("moe_intermediate_size", MOE), "moe_intermediate_size", "config_missing_one"),
    ({**MOE, "moe_layers": 3}, "moe_layers", "config_not_list"),
    ({**MOE, "moe_layers": [32]}, "moe_layers", "config_no_such_layer"),
    ({**MOE, "mlp_only_layers": [True]}, "mlp_only_layers", "config_no_such_layer"),
    ({**LLAMA, **without("v_head_dim", LATENT)}, "v_head_dim", "config_missing_one"),
    ({**LLAMA, **without("qk_rope_head_dim", LATENT)}, "qk_rope_head_dim", "config_missing_one"),
    (NEXT, "linear_conv_kernel_dim", "config_missing_one"),
    ({**MOE, "num_hidden_layers": 1024, "num_experts": 4096, "hidden_size": 65536,
      "moe_intermediate_size": 10**6}, "hidden_size", "too_many_parameters"),
    ({"model_type": "llava", "text_config": [1]}, "text_config", "config_not_fields"),
    ({"model_type": "llava", "text_config": {}}, "num_hidden_layers", "config_missing"),
    ({**LLAMA, "model_type": "newcomer"}, "model_type", "config_unknown_family"),
    ({**LLAMA, "model_type": "newcomer", "mamba_d_state": 16}, "mamba_d_state",
     "config_unknown_shape"),
    ({**LLAMA, "model_type": 7, "architectures": ["BertForMaskedLM"]}, "model_type",
     "config_encoder"),
    ({**LLAMA, "is_encoder_decoder": True}, "model_type", "config_encoder_decoder"),
    ({"peft_type": "LORA", "r": 8}, "config.json", "config_adapter"),
    ({"_class_name": "Flux", "_diffusers_version": "0.30"}, "config.json", "config_diffusion"),
    ({"weight_map": {}, "metadata": {}}, "config.json", "config_other_file"),
]  # fmt: skip


@pytest.mark.parametrize(("config", "field", "problem"), BAD_FIELDS)
def test_a_field_that_cannot_be_meant_is_refused_by_name(config, field, problem):
    with pytest.raises(InputError) as refused:
        parse_config(json.dumps(config))

    assert (refused.value.field, refused.value.problem) == (field, problem)
    assert field in str(refused.value)
    assert ": " in str(refused.value)


BAD_TEXTS = [
    ("", "config_empty"),
    ("  \n", "config_empty"),
    (" " * (MOST_CONFIG_BYTES + 1), "config_too_big"),
    (b"0" * 50_000_000, "config_too_big"),
    (b"\xff\xfe{\x00}\x00", "config_not_utf8"),
    ("https://huggingface.co/meta-llama/Llama-2-7b-hf/blob/main/config.json", "config_address"),
    ("<!DOCTYPE html><html>", "config_web_page"),
    ('{"hidden_size": 4096,}', "config_not_json"),
    ("hidden_size: 4096", "config_not_json"),
    ("[1, 2]", "config_not_object"),
    ("4096", "config_not_object"),
    ("[" * 100_000, "config_too_deep"),
    ('{"a":' * 40 + "1" + "}" * 40, "config_too_deep"),
    ('{"hidden_size": 1, "hidden_size": 2}', "config_repeated"),
    ('{"hidden_size": NaN}', "config_not_finite"),
    ('{"hidden_size": -Infinity}', "config_not_finite"),
    ('{"hidden_size": 1e999}', "config_not_finite"),
    ('{"hidden_size": ' + "9" * 5000 + "}", "config_long_number"),
]


@pytest.mark.parametrize(("text", "problem"), BAD_TEXTS, ids=range(len(BAD_TEXTS)))
def test_a_text_that_is_no_configuration_is_refused(text, problem):
    with pytest.raises(InputError) as refused:
        parse_config(text)

    assert refused.value.problem == problem


@pytest.mark.parametrize(
    "family",
    [each for each in all_families().values() if each.kind is not Kind.DECODER],
    ids=lambda family: family.model_type,
)
def test_a_family_that_is_no_countable_decoder_is_refused(family):
    with pytest.raises(InputError) as refused:
        parse_config(json.dumps({**LLAMA, "model_type": family.model_type}))

    assert refused.value.problem == f"config_{family.kind}"
    assert f"“{family.model_type}”" in str(refused.value)


def test_each_decoder_of_the_table_of_families_is_read():
    more = {
        "moe_intermediate_size": 1024, "linear_num_key_heads": 16, "linear_key_head_dim": 128,
        "linear_num_value_heads": 32, "linear_value_head_dim": 128, "linear_conv_kernel_dim": 4,
    }  # fmt: skip

    for family in all_families().values():
        if family.kind is Kind.DECODER:
            given = {**LLAMA, **more, "model_type": family.model_type}
            assert parse_config(json.dumps(given)).mlp_matrices == family.mlp_matrices


def test_a_sentence_names_field_and_way_out():
    with pytest.raises(InputError) as refused:
        parse_config(json.dumps({**LLAMA, "num_key_value_heads": 5}))

    assert str(refused.value) == (
        "num_key_value_heads is 5, which does not divide num_attention_heads, which is 32: "
        "choose one of 1, 2, 4, 8, 16, 32."
    )
    assert model_by_slug("llama-2-7b-hf").parameters == 6_738_415_616
