"""Time of work, at points reckoned by hand."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sizing.cards import all_cards, card_by_slug
from sizing.planning.work import (
    Interval,
    Work,
    hours_for,
    rates_of,
    training_flops_per_token,
    training_load,
    training_tokens_per_hour,
)
from sizing.serving.peaks import UnknownPeakError
from sizing.serving.speed import decode_throughput, prefill_speed
from sizing.shapes.language_models import model_by_slug
from sizing.training.choices import Checkpointing, Method, Offload, Sharding
from tests.unit.sizing.planning_jobs import A100, FULL, H100, LLAMA_8B, QLORA, RTX_4090, SERVING

LORA = replace(QLORA, method=Method.LORA)
# Of the 8B: all but the table of embeddings, which is only looked up.
PASSED = 8_030_261_248 - 128_256 * 4_096
ATTENTION = 32 * 4_096 * 2_048


@pytest.mark.parametrize(
    ("method", "checkpointing", "per_parameter", "per_score"),
    [
        (Method.FULL, Checkpointing.NONE, 6, 12),
        (Method.FULL, Checkpointing.SELECTIVE, 6, 16),
        (Method.FULL, Checkpointing.FULL, 8, 16),
        (Method.LORA, Checkpointing.NONE, 4, 12),
        (Method.LORA, Checkpointing.OFFLOADED, 6, 16),
        (Method.QLORA, Checkpointing.FULL, 6, 16),
    ],
)
def test_counts_the_operations_of_a_token(
    method: Method, checkpointing: Checkpointing, per_parameter: int, per_score: int
) -> None:
    job = replace(QLORA, method=method, checkpointing=checkpointing)

    assert training_flops_per_token(job) == per_parameter * PASSED + per_score * ATTENTION


def test_a_window_bounds_what_is_seen() -> None:
    model = replace(LLAMA_8B, window_layers=16, window_tokens=1_024)
    job = replace(LORA, model=model, checkpointing=Checkpointing.NONE)

    seen = 16 * 2_048 + 16 * 1_024
    assert training_flops_per_token(job) == 4 * PASSED + 12 * 4_096 * seen


def test_a_step_reaches_a_third_to_half_of_the_peak() -> None:
    found = training_tokens_per_hour(LORA, A100, gpus=1)

    flops = 6 * PASSED + 16 * ATTENTION
    expected = [3_600 * 312e12 * share / flops for share in (0.35, 0.45, 0.55)]
    assert found == pytest.approx(expected)


def test_includes_the_speed_that_was_measured() -> None:
    """Llama 3.2 3B, packed, on an A100: 7,075 to 8,998 tokens/s were published."""
    job = replace(FULL, model=model_by_slug("llama-3.2-3b"), checkpointing=Checkpointing.NONE)

    found = training_tokens_per_hour(job, A100, gpus=1)

    low, middle, high = (each / 3_600 for each in found)
    assert low < 7_075 < high
    assert middle == pytest.approx(7_075, rel=0.1)


def test_no_step_beats_the_best_product_measured() -> None:
    """An MI300X multiplies at 668 of 1,300 TFLOPS: 0.55 of the peak is out of its reach."""
    found = training_tokens_per_hour(LORA, card_by_slug("mi300x"), gpus=1)

    assert found.high == pytest.approx(3_600 * 668.4e12 / (6 * PASSED + 16 * ATTENTION))


@pytest.mark.parametrize(
    ("tokens", "ratio"), [(256, 2.5), (512, 2.0), (1_024, 1.25), (2_048, 1.35), (8_192, 1.05)]
)
def test_unpacking_slows_tiny_steps_down_as_measured(tokens: int, ratio: float) -> None:
    lora, qlora = (
        training_tokens_per_hour(replace(job, sequence_tokens=tokens), A100, gpus=1)
        for job in (LORA, QLORA)
    )

    least, most = lora.high / qlora.high, lora.low / qlora.low
    # Ratios of the source are rounded to the twentieth.
    assert least - 0.05 <= ratio <= most + 0.05


def test_divided_weights_are_exchanged_over_nvlink() -> None:
    """Two copies of the weights and one of the gradients, 7/8 of each, at 0.7 of 300 GB/s."""
    found = training_tokens_per_hour(FULL, A100, gpus=8)

    work_s = (8 * PASSED + 16 * ATTENTION) * 2_048 / (312e12 * 0.45)
    link_s = 7 / 8 * 3 * 2 * 8_030_261_248 / (300e9 * 0.7)
    assert found.middle == pytest.approx(3_600 * 8 * 2_048 / (work_s + link_s / 2))


def test_cards_without_nvlink_lose_part_of_the_speed() -> None:
    job = replace(LORA, sharding=Sharding.FSDP)
    without = replace(A100, nvlink_gb_per_s=None)

    linked, unlinked = (training_tokens_per_hour(job, card, gpus=8) for card in (A100, without))

    assert unlinked.middle < 0.8 * linked.middle
    assert unlinked.low < 0.5 * linked.low
    assert rates_of(without).link == 32e9


def test_copies_exchange_gradients_once_a_step() -> None:
    once = replace(LORA, sharding=Sharding.DDP, cards=4)

    load, rarer = training_load(once), training_load(replace(once, accumulation=8))

    trained = 41_943_040
    assert load.carried_bytes == 3 / 4 * 2 * 2 * trained
    assert rarer.carried_bytes == load.carried_bytes / 8
    assert load.tokens == 4 * 2_048


def test_divided_layers_reduce_activations() -> None:
    job = replace(LORA, tensor_parallel=4, cards=4)

    load = training_load(job)
    kept = training_load(replace(job, checkpointing=Checkpointing.NONE))

    size = 2_048 * 4_096 * 2
    assert load.carried_bytes == 3 / 4 * 2 * 6 * 32 * size
    assert kept.carried_bytes == 3 / 4 * 2 * 4 * 32 * size
    assert load.tokens == 2_048
    assert load.flops == training_flops_per_token(job) * 2_048 / 4


def test_stages_wait_for_each_other() -> None:
    job = replace(LORA, pipeline_parallel=4, cards=4, accumulation=9)

    assert training_load(job).busy_share == 9 / 12


def test_what_lies_with_the_server_travels() -> None:
    states = training_load(replace(FULL, offload=Offload.OPTIMIZER, accumulation=2))
    everything = training_load(replace(FULL, offload=Offload.ALL, accumulation=2))

    assert states.host_bytes == 4 * 8_030_261_248 / 2
    assert everything.host_bytes == states.host_bytes + 2 * 2 * 8_030_261_248


def test_tells_the_hours_of_training() -> None:
    speed = training_tokens_per_hour(FULL, A100, gpus=8)

    hours = hours_for(FULL, Work(100_000_000), A100, gpus=8)

    assert hours == pytest.approx((1e8 / speed.high, 1e8 / speed.middle, 1e8 / speed.low))


def test_tells_the_hours_of_generating_with_prompts() -> None:
    job = replace(SERVING, output_tokens=1_024)
    decode, prefill = decode_throughput(job, H100), prefill_speed(job, H100)

    hours = hours_for(job, Work(1_024_000), H100, gpus=1)

    seconds = 1_024_000 / decode.tokens_per_s + 1_000 * 7_168 / prefill.tokens_per_s
    assert hours.middle == pytest.approx(seconds / 3_600)
    assert hours.low < hours.middle < hours.high


def test_tells_the_hours_of_answers_alone_where_their_length_is_not_told() -> None:
    decode = decode_throughput(SERVING, H100)

    hours = hours_for(SERVING, Work(1_000_000), H100, gpus=1)

    assert hours.middle == pytest.approx(1_000_000 / decode.tokens_per_s / 3_600)


def test_says_no_speed_of_a_card_whose_peak_was_not_read() -> None:
    with pytest.raises(UnknownPeakError):
        hours_for(LORA, Work(1), card_by_slug("rx-7900-xtx"), gpus=1)


@settings(max_examples=60, deadline=None)
@given(
    slug=st.sampled_from([slug for slug in all_cards() if slug not in ("rx-7900-xtx", "mi210")]),
    method=st.sampled_from(Method),
    tokens=st.sampled_from([64, 1_024, 8_192]),
    gpus=st.sampled_from([1, 2, 8]),
)
def test_bounds_hold_the_middle_and_more_cards_are_not_slower_together(
    slug: str, method: Method, tokens: int, gpus: int
) -> None:
    job = replace(QLORA, method=method, sequence_tokens=tokens)

    found = training_tokens_per_hour(job, card_by_slug(slug), gpus=gpus)

    assert 0 < found.low <= found.middle <= found.high


def test_an_interval_is_scaled_as_a_whole() -> None:
    assert Interval(1, 2, 4).times(2) == (2, 4, 8)


def test_consumer_cards_are_counted_at_their_dense_rate() -> None:
    assert rates_of(RTX_4090).peak == 165.2e12
