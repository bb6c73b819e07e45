"""Speed of serving: the formula by hand, what binds it, and how it scales."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sizing.cards import all_cards, card_by_slug
from sizing.serving.constants import (
    MemoryKind,
    SpeedKey,
    SpeedProfile,
    Spread,
    all_speed_keys,
    constants_of,
    own_constants,
)
from sizing.serving.formats import SpeedClass, weight_format_by_slug
from sizing.serving.job import Engine, ServingJob, Split
from sizing.serving.load import DecodeLoad, decode_load, step_weight_bytes
from sizing.serving.peaks import UnknownPeakError, measured_peaks, peak_flops
from sizing.serving.speed import decode_speed, decode_throughput, prefill_speed, step_seconds
from sizing.shapes.language_models import model_by_slug

RTX_4090 = card_by_slug("rtx-4090")
H100 = card_by_slug("h100-sxm")
LLAMA = ServingJob(
    model=model_by_slug("llama-3-8b"),
    weights=weight_format_by_slug("fp16"),
    context_tokens=1_024,
    output_tokens=1_024,
    engine=Engine.LLAMA_CPP,
)
PROFILE = SpeedProfile(share=0.5, layer_s=100e-6, spread=Spread(1, 1), rows=1)
LOAD = DecodeLoad(read_s=2e-3, layers=30, looped_experts=10, link_s=0, hops=2)


def _step(engine: Engine, load: DecodeLoad) -> float:
    return step_seconds(load, profile=PROFILE, engine=engine, hop_s=1e-4, expert_loop=0.1)


def test_adds_reading_and_launching_where_kernels_are_recorded() -> None:
    assert _step(Engine.LLAMA_CPP, LOAD) == pytest.approx(4e-3 + 3e-3 + 2e-4)


def test_takes_the_longer_one_where_launching_overlaps_and_loops_over_experts() -> None:
    assert _step(Engine.TRANSFORMERS, LOAD) == pytest.approx(3e-3 * 2 + 2e-4)
    assert _step(Engine.TRANSFORMERS, LOAD._replace(read_s=5e-3)) == pytest.approx(10e-3 + 2e-4)


def test_reads_the_weights_and_half_of_the_answer() -> None:
    load = decode_load(LLAMA, RTX_4090)
    read = 2 * (8_030_261_248 - 128_256 * 4_096) + 512 * 131_072

    assert load.read_s == pytest.approx(read / 1_008e9)
    assert load[1:] == (32, 0, 0, 0)


def test_gives_the_worked_example() -> None:
    speed = decode_speed(LLAMA, RTX_4090)
    profile = own_constants().speed[SpeedKey(Engine.LLAMA_CPP, MemoryKind.GDDR, SpeedClass.SIXTEEN)]
    read = (2 * (8_030_261_248 - 128_256 * 4_096) + 512 * 131_072) / 1_008e9

    assert speed.tokens_per_s == pytest.approx(1 / (read / profile.share + 32 * profile.layer_s))
    assert speed.tokens_per_s == pytest.approx(54.34, rel=0.1)  # as it was measured
    assert speed.low_tokens_per_s < 54.34 < speed.high_tokens_per_s
    page = (Path(__file__).parents[3] / "docs/algorithms/serving.md").read_text(encoding="utf-8")
    assert f"about {speed.tokens_per_s:.0f} tokens/s" in page


def test_small_models_are_bound_by_launching_in_transformers() -> None:
    job = replace(
        LLAMA,
        model=model_by_slug("qwen3-0.6b"),
        weights=weight_format_by_slug("bf16"),
        engine=Engine.TRANSFORMERS,
    )

    assert decode_speed(job, H100) == decode_speed(job, card_by_slug("b200-sxm"))


def test_splitting_layers_gives_room_but_no_speed() -> None:
    one = decode_speed(LLAMA, RTX_4090).tokens_per_s
    four = decode_speed(replace(LLAMA, gpus=4, split=Split.LAYERS), RTX_4090).tokens_per_s

    assert one * 0.9 < four < one


def test_tensor_parallelism_speeds_up_less_than_the_cards_and_less_over_pcie() -> None:
    job = replace(LLAMA, model=model_by_slug("llama-3.1-70b"), engine=Engine.VLLM)
    without_link = replace(H100, nvlink_gb_per_s=None)

    one = decode_speed(job, H100).tokens_per_s
    linked = decode_speed(replace(job, gpus=4), H100).tokens_per_s
    unlinked = decode_speed(replace(job, gpus=4), without_link).tokens_per_s

    assert 2 * one < linked < 4 * one
    assert one < unlinked < linked


def test_a_batch_shares_one_reading_until_computing_takes_longer() -> None:
    job = replace(LLAMA, engine=Engine.VLLM)
    rates = [
        decode_throughput(replace(job, requests=requests), H100).tokens_per_s
        for requests in (1, 8, 64, 65_536)
    ]

    assert rates == sorted(rates)
    assert rates[1] > 6 * rates[0]
    most = 989e12 * 0.5 / (2 * (8_030_261_248 - 128_256 * 4_096))
    assert rates[3] <= most * 1.001


def test_a_batch_touches_more_experts_until_it_touches_all() -> None:
    job = replace(LLAMA, model=model_by_slug("qwen3-30b-a3b"), engine=Engine.VLLM)
    one, many = step_weight_bytes(job), step_weight_bytes(replace(job, requests=10_000))
    expert = 3 * 2_048 * 768

    assert one == 2 * job.model.read_parameters
    assert many == pytest.approx(one + 2 * 48 * (128 - 8) * expert)


def test_works_on_a_prompt_at_a_share_of_the_peak() -> None:
    use = own_constants().prefill_use[Engine.LLAMA_CPP, MemoryKind.GDDR]
    layers = 8_030_261_248 - 2 * 128_256 * 4_096
    speed = prefill_speed(LLAMA, RTX_4090)

    assert speed.tokens_per_s == pytest.approx(
        4 * float(RTX_4090.fp32_tflops or 0) * 1e12 * use.share / (2 * layers)
    )
    assert speed.low_tokens_per_s < speed.tokens_per_s < speed.high_tokens_per_s


def test_a_prompt_never_passes_the_best_measured_product() -> None:
    job = replace(LLAMA, engine=Engine.VLLM)
    card = card_by_slug("mi300x")
    layers = 8_030_261_248 - 2 * 128_256 * 4_096

    assert prefill_speed(job, card).high_tokens_per_s == pytest.approx(668.4e12 / (2 * layers))
    assert measured_peaks()["mi300x"] == 668.4e12


def test_tensor_parallelism_speeds_up_a_prompt_with_a_wider_interval() -> None:
    job = replace(LLAMA, engine=Engine.VLLM)
    one, two = prefill_speed(job, H100), prefill_speed(replace(job, gpus=2), H100)

    assert two.tokens_per_s == pytest.approx(1.6 * one.tokens_per_s)
    assert two.high_tokens_per_s / two.low_tokens_per_s > (
        one.high_tokens_per_s / one.low_tokens_per_s
    )


def test_says_so_where_no_rate_of_a_card_is_known() -> None:
    card = card_by_slug("mi210")
    batch = replace(LLAMA, engine=Engine.VLLM, requests=64)

    with pytest.raises(UnknownPeakError, match="mi210"):
        prefill_speed(LLAMA, card)
    assert decode_speed(batch, card).tokens_per_s > 0


def test_takes_half_of_the_rate_with_32_bit_sums_on_consumer_cards() -> None:
    card = replace(RTX_4090, fp16_dense_tflops=None, bf16_dense_tflops=None)

    assert peak_flops(card, engine=Engine.VLLM) == pytest.approx(165.2e12, rel=0.01)
    assert peak_flops(card, engine=Engine.LLAMA_CPP) == pytest.approx(330e12, rel=0.01)


def test_borrows_a_class_with_a_wider_interval() -> None:
    constants = own_constants()
    own = constants.speed[SpeedKey(Engine.VLLM, MemoryKind.HBM, SpeedClass.SIXTEEN)]
    borrowed = constants.speed[SpeedKey(Engine.VLLM, MemoryKind.GDDR, SpeedClass.SIXTEEN)]

    assert borrowed.rows == 0
    assert borrowed.share > own.share
    assert borrowed.spread.low < own.spread.low
    assert borrowed.spread.high > own.spread.high


def test_takes_nf4_of_another_engine_before_another_format_of_its_own() -> None:
    constants = own_constants()
    key = SpeedKey(Engine.TRANSFORMERS, MemoryKind.HBM, SpeedClass.NF4)
    int4 = constants.speed[key._replace(weights=SpeedClass.INT4)]

    assert constants.speed[key].layer_s > 2 * int4.layer_s


def test_has_a_profile_for_every_class_even_without_a_row() -> None:
    nothing = constants_of(fitted={}, hop_s=0, expert_loop=0, prefill={})

    assert set(nothing.speed) == set(all_speed_keys())
    assert all(profile.rows == 0 for profile in nothing.speed.values())


CARDS = st.sampled_from(sorted(all_cards()))


@given(CARDS, st.integers(1, 8_000), st.integers(1, 8_000), st.sampled_from(Engine))
def test_a_longer_context_is_never_faster(slug: str, one: int, other: int, engine: Engine) -> None:
    card = card_by_slug(slug)
    short, long = (
        decode_speed(replace(LLAMA, engine=engine, context_tokens=tokens, output_tokens=0), card)
        for tokens in sorted((one, other))
    )

    assert short.tokens_per_s >= long.tokens_per_s
    assert long.low_tokens_per_s <= long.tokens_per_s <= long.high_tokens_per_s


@given(CARDS)
def test_no_card_passes_the_bound_of_its_bandwidth(slug: str) -> None:
    card = card_by_slug(slug)
    speed = decode_speed(LLAMA, card)

    assert speed.tokens_per_s < float(card.bandwidth_gb_per_s) * 1e9 / (
        2 * (8_030_261_248 - 128_256 * 4_096)
    )
