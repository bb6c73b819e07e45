"""Weights and KV cache: bytes reckoned by hand, and what more of anything does."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sizing.bounds import InputError
from sizing.serving.formats import (
    KvFormat,
    all_weight_formats,
    read_bytes,
    weight_bytes,
    weight_format_by_slug,
)
from sizing.serving.kv_cache import kv_bytes_per_token, kv_cache_bytes, state_bytes
from sizing.shapes.architecture import LanguageModel, LinearAttention
from sizing.shapes.language_models import model_by_slug
from sizing.units import GIB, MIB

TOKENS = st.integers(min_value=1, max_value=1_000_000)


def _bytes(slug: str, weights: str, *, has_narrow_head: bool = False) -> int:
    return weight_bytes(
        model_by_slug(slug), weight_format_by_slug(weights), has_narrow_head=has_narrow_head
    )


def test_counts_two_bytes_a_parameter_in_16_bits() -> None:
    assert _bytes("llama-3-8b", "bf16") == 2 * 8_030_261_248


def test_keeps_the_embedding_and_the_output_matrix_of_gptq_in_16_bits() -> None:
    # 8,030,261,248 parameters, of these 2 x 128,256 x 4,096 = 1,050,673,152 in both tables.
    layers = (8_030_261_248 - 1_050_673_152) * 4.15625 / 8

    assert _bytes("llama-3-8b", "int4-g128") == round(layers + 2 * 1_050_673_152)


@pytest.mark.parametrize(
    ("slug", "weights", "size_gib"),
    [
        ("llama-3-8b", "q4-k-m", 4.58),
        ("llama-3-8b", "fp16", 14.96),
        ("llama-3.1-70b", "q2-k", 24.56),
        ("llama-3.1-70b", "q8-0", 69.83),
    ],
)
def test_gives_the_size_of_published_files_within_one_percent(
    slug: str, weights: str, size_gib: float
) -> None:
    assert _bytes(slug, weights) / GIB == pytest.approx(size_gib, rel=0.01)


def test_gives_the_weights_that_a_runtime_logged_for_a_shared_table() -> None:
    """Gemma 3 4B in Q4_K_M: llama.cpp logged 2,367 MiB; the shared table is kept as output."""
    assert _bytes("gemma-3-4b-it", "q4-k-m") / MIB == pytest.approx(2_367, rel=0.02)


def test_stores_the_output_matrix_of_fp8_apart_where_the_model_shares_it() -> None:
    table = 151_936 * 2_048
    shared = _bytes("qwen3-1.7b", "bf16") - 2 * table

    assert _bytes("qwen3-1.7b", "fp8") == pytest.approx(shared / 2 + 4 * table, rel=0.001)


def test_quantizes_the_output_matrix_where_the_engine_does() -> None:
    table = 32_000 * 4_096

    saved = _bytes("llama-2-7b-hf", "nf4") - _bytes("llama-2-7b-hf", "nf4", has_narrow_head=True)

    assert saved == table * (16 - 4.5) / 8


def test_keeps_attention_in_16_bits_where_only_experts_are_narrow() -> None:
    """The 120B of GPT-OSS in MXFP4 takes 65.2 GB with attention and tables in 16 bits."""
    assert _bytes("gpt-oss-120b", "mxfp4") / 1e9 == pytest.approx(65.2, abs=0.1)


def test_reads_no_embedding_and_only_active_experts() -> None:
    bf16 = weight_format_by_slug("bf16")
    dense, sparse = model_by_slug("llama-3-8b"), model_by_slug("qwen3-30b-a3b")

    assert read_bytes(dense, bf16) == 2 * (8_030_261_248 - 128_256 * 4_096)
    assert read_bytes(sparse, bf16) == 2 * sparse.read_parameters


def test_names_the_nearest_format_or_all_of_them() -> None:
    with pytest.raises(InputError) as near:
        weight_format_by_slug("q4-k")
    with pytest.raises(InputError) as far:
        weight_format_by_slug("????")

    assert near.value.problem == "unknown_name_nearest"
    assert "q4-k-m" in str(near.value)
    assert far.value.problem == "unknown_choice"
    assert near.value.field == far.value.field == "weight_format"


def test_tells_the_source_and_the_day_of_every_format() -> None:
    assert all(each.source and each.read_on for each in all_weight_formats().values())


def test_wider_files_of_one_family_are_never_smaller() -> None:
    ladder = ["iq2-m", "q2-k", "q3-k-m", "iq4-xs", "q4-k-s", "q4-k-m", "q5-k-m", "q6-k", "q8-0"]
    sizes = [_bytes("qwen3-14b", slug) for slug in (*ladder, "fp16", "fp32")]

    assert sizes == sorted(sizes)


@pytest.mark.parametrize(
    ("slug", "kv_format", "per_token"),
    [
        ("llama-2-7b-hf", KvFormat.SIXTEEN, 2 * 32 * 32 * 128 * 2),  # every head has its own
        ("llama-3-8b", KvFormat.SIXTEEN, 2 * 32 * 8 * 128 * 2),  # groups of four share
        ("falcon-7b", KvFormat.SIXTEEN, 2 * 32 * 1 * 64 * 2),  # all share one
        ("llama-3-8b", KvFormat.FP8, 2 * 32 * 8 * 128),
        ("llama-3-8b", KvFormat.Q4_0, 2 * 32 * 8 * 128 * 4.5 / 8),
        ("deepseek-v3", KvFormat.SIXTEEN, 61 * (512 + 64) * 2),  # one latent, once
    ],
)
def test_counts_the_cache_of_a_token(slug: str, kv_format: KvFormat, per_token: float) -> None:
    assert kv_bytes_per_token(model_by_slug(slug), kv_format=kv_format) == per_token


def test_stops_layers_at_their_window() -> None:
    """Gemma 3 4B: 34 layers, one in six sees all, the others 1,024 tokens."""
    model = model_by_slug("gemma-3-4b-it")
    layer_token = 2 * 4 * 256 * 2

    size = kv_cache_bytes(model, kv_format=KvFormat.SIXTEEN, context_tokens=131_072)

    assert size == layer_token * (5 * 131_072 + 29 * 1_024)


def test_keeps_one_step_beside_the_window_where_prompts_are_divided() -> None:
    """Gemma 3 4B at 128K in llama.cpp, steps of 512: it logged 2,734 MiB."""
    size = kv_cache_bytes(
        model_by_slug("gemma-3-4b-it"),
        kv_format=KvFormat.SIXTEEN,
        context_tokens=131_072,
        step_tokens=512,
    )

    assert size == 2_734 * MIB


def test_divides_heads_of_the_cache_down_to_one_a_card() -> None:
    model = model_by_slug("llama-3-8b")
    sizes = [
        kv_cache_bytes(model, kv_format=KvFormat.SIXTEEN, context_tokens=10, tensor_parallel=cards)
        for cards in (1, 2, 8, 16)
    ]

    assert sizes == [10 * 131_072, 10 * 65_536, 10 * 16_384, 10 * 16_384]


def test_keeps_a_latent_whole_on_every_card() -> None:
    model = model_by_slug("deepseek-v3")

    assert kv_cache_bytes(
        model, kv_format=KvFormat.SIXTEEN, context_tokens=1, tensor_parallel=8
    ) == kv_bytes_per_token(model, kv_format=KvFormat.SIXTEEN)


def test_keeps_a_state_of_fixed_size_for_layers_of_linear_attention() -> None:
    linear = LinearAttention(
        key_heads=2, key_head_dim=8, value_heads=4, value_head_dim=8, conv_kernel=4
    )
    model = LanguageModel(
        slug="",
        name="hybrid",
        layers=4,
        hidden=64,
        intermediate=128,
        heads=4,
        kv_heads=2,
        head_dim=16,
        vocabulary=100,
        has_tied_embeddings=True,
        linear_layers=3,
        linear=linear,
    )

    short, long = (
        kv_cache_bytes(model, kv_format=KvFormat.SIXTEEN, context_tokens=tokens)
        for tokens in (10, 20)
    )

    assert state_bytes(model) == 3 * (4 * 8 * 8 + (2 * 16 + 32) * 3) * 4
    assert long - short == 10 * 2 * 2 * 16 * 2  # one layer alone grows
    assert short == state_bytes(model) + 10 * 128


@given(TOKENS, TOKENS)
def test_a_longer_context_never_needs_less(one: int, other: int) -> None:
    model = model_by_slug("gpt-oss-20b")
    shorter, longer = sorted((one, other))

    assert kv_cache_bytes(
        model, kv_format=KvFormat.SIXTEEN, context_tokens=shorter
    ) <= kv_cache_bytes(model, kv_format=KvFormat.SIXTEEN, context_tokens=longer)
