"""Memory of serving: hand-computed points, terms that add up, and what more of anything does."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sizing.cards import card_by_slug
from sizing.estimates import Part
from sizing.serving.capacity import budget_bytes, longest_context, most_requests
from sizing.serving.explain import explain_serving
from sizing.serving.formats import KvFormat, weight_format_by_slug
from sizing.serving.job import Cache, Counted, Engine, ServingJob, Split
from sizing.serving.memory import activation_bytes, cache_bytes, estimate_serving, reserved_bytes
from sizing.shapes.language_models import all_language_models, model_by_slug
from tests.unit.sizing.counting import calls_of

JOB = ServingJob(
    model=model_by_slug("llama-3.1-8b"),
    weights=weight_format_by_slug("bf16"),
    context_tokens=8_192,
    requests=32,
    engine=Engine.VLLM,
)
H100 = card_by_slug("h100-sxm")


def test_adds_up_to_the_worked_example() -> None:
    estimate = estimate_serving(JOB)

    assert {term.part: term.size_bytes for term in estimate.terms} == {
        Part.WEIGHTS: 16_060_522_496,
        Part.ACTIVATIONS: 2_048 * (2 * 4_096 + 2 * 14_336) * 2,
        Part.LOGITS: 32 * 128_256 * 6,
        Part.KV_CACHE: 32 * 8_192 * 131_072,
        Part.OVERHEAD: 33_554_432 + 600_000_000 + 800_000_000,
    }
    assert estimate.peak_bytes == 52_029_435_392


def test_holds_weights_cache_and_work_space_alone_where_the_allocator_is_asked() -> None:
    """Qwen3 8B in bf16 after 6,144 and 2,048 tokens: 16,811 MiB were measured."""
    job = ServingJob(
        model=model_by_slug("qwen3-8b"),
        weights=weight_format_by_slug("bf16"),
        context_tokens=8_192,
        output_tokens=2_048,
        engine=Engine.TRANSFORMERS,
        counted=Counted.HELD,
    )

    estimate = estimate_serving(job)

    assert estimate.peak_bytes / 2**20 == pytest.approx(16_811, rel=0.001)
    assert estimate.part_bytes(Part.ACTIVATIONS) == 0
    assert "driver_context" in estimate.left_out


def test_says_apart_what_an_engine_reserves() -> None:
    assert reserved_bytes(JOB, H100) == 72_000_000_000
    assert reserved_bytes(replace(JOB, engine=Engine.TRANSFORMERS), H100) == 0
    assert budget_bytes(JOB, H100) == 72_000_000_000
    assert budget_bytes(replace(JOB, engine=Engine.TRANSFORMERS), H100) == 72_727_272_727


def test_doubles_a_cache_that_grows_by_concatenation() -> None:
    assert cache_bytes(replace(JOB, cache=Cache.CONCATENATED)) == 2 * cache_bytes(JOB)


def test_gives_whole_layers_to_the_fullest_of_the_cards_that_split_them() -> None:
    job = replace(JOB, engine=Engine.LLAMA_CPP, gpus=3, split=Split.LAYERS)
    estimate = estimate_serving(job)

    assert estimate.part_bytes(Part.WEIGHTS) == 16_060_522_496 * 11 // 32
    assert estimate.part_bytes(Part.KV_CACHE) == 32 * (8_192 * 131_072 * 11 // 32)


def test_divides_by_tensor_parallelism_and_adds_buffers_between_cards() -> None:
    one, four = estimate_serving(JOB), estimate_serving(replace(JOB, gpus=4))

    assert four.part_bytes(Part.WEIGHTS) * 4 == one.part_bytes(Part.WEIGHTS)
    assert four.part_bytes(Part.KV_CACHE) * 4 == one.part_bytes(Part.KV_CACHE)
    assert four.part_bytes(Part.OVERHEAD) - one.part_bytes(Part.OVERHEAD) == 1_000_000_000


def test_adds_what_quantized_output_matrices_take_in_some_engines() -> None:
    nf4 = replace(
        JOB,
        engine=Engine.LITGPT,
        weights=weight_format_by_slug("nf4"),
        counted=Counted.HELD,
    )
    gptq = replace(nf4, engine=Engine.TRANSFORMERS_2023, weights=weight_format_by_slug("int4-g128"))
    table = 128_256 * 4_096

    assert estimate_serving(nf4).part_bytes(Part.OVERHEAD) == 33_554_432 + 4 * table
    assert estimate_serving(gptq).part_bytes(Part.OVERHEAD) == 33_554_432 + 2 * table


def test_counts_the_live_width_of_a_mixture_by_its_active_experts() -> None:
    job = replace(JOB, model=model_by_slug("qwen3-30b-a3b"), engine=Engine.LLAMA_CPP)

    # 8 experts, each with gate, up and an output; 32-bit activations, 512 tokens in one step.
    assert activation_bytes(job) == 512 * (2 * 2_048 + 8 * (2 * 768 + 2_048)) * 4


def test_explains_every_term_with_its_figures() -> None:
    explained = explain_serving(JOB)

    assert [each.part for each in explained] == [term.part for term in estimate_serving(JOB).terms]
    by_part = {each.part: each.values for each in explained}
    assert by_part[Part.WEIGHTS]["bits"] == 16
    assert by_part[Part.KV_CACHE]["tokens_of_all_layers"] == 32 * 8_192
    assert by_part[Part.KV_CACHE]["copies"] == 1
    assert by_part[Part.ACTIVATIONS]["bytes_per_token"] == 73_728
    doubled = explain_serving(replace(JOB, cache=Cache.CONCATENATED))
    assert doubled[3].values["copies"] == 2


def test_finds_the_most_requests_and_the_longest_context() -> None:
    assert most_requests(JOB, H100) == 50
    longest = longest_context(JOB, H100)
    budget = budget_bytes(JOB, H100)

    assert estimate_serving(replace(JOB, context_tokens=longest)).peak_bytes <= budget
    assert estimate_serving(replace(JOB, context_tokens=longest + 1)).peak_bytes > budget


def test_stops_at_the_context_of_the_model_and_at_the_bounds() -> None:
    small = replace(JOB, model=model_by_slug("tiny-llama-1.1b"), requests=1, context_tokens=1)
    unread = replace(JOB, model=replace(JOB.model, max_context=0), requests=1)

    assert longest_context(small, H100) == 2_048
    assert most_requests(small, H100) == 65_536
    assert longest_context(unread, H100) > 131_072


def test_says_zero_where_the_weights_alone_do_not_fit() -> None:
    job = replace(JOB, model=model_by_slug("llama-3.1-405b"))

    assert most_requests(job, H100) == 0
    assert longest_context(job, H100) == 0


SLUGS = st.sampled_from(sorted(all_language_models()))
SMALL = st.integers(min_value=1, max_value=64)
TOKENS = st.integers(min_value=1, max_value=200_000)


@given(SLUGS, TOKENS, SMALL, st.sampled_from(Engine), st.sampled_from(Counted))
def test_terms_sum_to_the_peak_inside_the_interval(
    slug: str, tokens: int, requests: int, engine: Engine, counted: Counted
) -> None:
    estimate = estimate_serving(
        replace(
            JOB,
            model=model_by_slug(slug),
            context_tokens=tokens,
            requests=requests,
            engine=engine,
            counted=counted,
        )
    )

    assert sum(term.size_bytes for term in estimate.terms) == estimate.peak_bytes
    assert estimate.low_bytes <= estimate.peak_bytes <= estimate.high_bytes


@given(SLUGS, TOKENS, TOKENS, SMALL, SMALL, st.sampled_from(Engine))
def test_more_tokens_and_requests_never_need_less(
    slug: str, one: int, other: int, some: int, more: int, engine: Engine
) -> None:
    job = replace(JOB, model=model_by_slug(slug), engine=engine)
    less = replace(job, context_tokens=min(one, other), requests=min(some, more))
    most = replace(job, context_tokens=max(one, other), requests=max(some, more))

    assert estimate_serving(less).peak_bytes <= estimate_serving(most).peak_bytes


@given(SLUGS, TOKENS, SMALL, SMALL, st.sampled_from(Split))
def test_more_cards_never_need_more_on_each(
    slug: str, tokens: int, some: int, more: int, split: Split
) -> None:
    job = replace(JOB, model=model_by_slug(slug), context_tokens=tokens, split=split, requests=1)
    few, many = (
        estimate_serving(replace(job, gpus=gpus)).peak_bytes for gpus in sorted((some, more))
    )

    assert many <= few


def test_more_bits_never_need_less() -> None:
    for slug in all_language_models():
        peaks = [
            estimate_serving(
                replace(JOB, model=model_by_slug(slug), weights=weight_format_by_slug(bits))
            ).peak_bytes
            for bits in ("nf4-dq", "int4-g128", "nf4", "int8", "bf16", "fp32")
        ]
        assert peaks == sorted(peaks)


def test_a_narrow_cache_needs_less() -> None:
    narrow = replace(JOB, kv_format=KvFormat.FP8)

    assert cache_bytes(narrow) * 2 == cache_bytes(JOB)


def test_takes_few_steps() -> None:
    """The bench says how long they take; this holds that they stay few."""
    estimate_serving(JOB)

    assert calls_of(lambda: estimate_serving(JOB)) <= 60


def test_the_document_prints_the_worked_example() -> None:
    page = (Path(__file__).parents[3] / "docs/algorithms/serving.md").read_text(encoding="utf-8")
    estimate = estimate_serving(JOB)

    for term in estimate.terms:
        assert re.search(
            rf"\| {term.part.value.replace('_', '.')} \|.*\| {term.size_bytes:,} \|", page
        )
    assert f"| {estimate.peak_bytes:,} |" in page
    assert f"{most_requests(JOB, H100)} such requests fit" in page
