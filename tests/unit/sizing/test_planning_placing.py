"""Placing a job on cards: how they share it, and what more cards or memory do to the verdict."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sizing.fits import Verdict
from sizing.planning.placing import (
    COUNTS,
    Job,
    Sharing,
    choose,
    needed_memory_bytes,
    place,
    plans_by_count,
    plans_with_all,
    verdict_of,
)
from sizing.serving.job import Engine, ServingJob, Split
from sizing.serving.memory import estimate_serving
from sizing.shapes.by_hand import model_of_size
from sizing.training.choices import Method, Offload, Sharding
from sizing.training.job import TrainingJob, check_training_job
from sizing.training.memory import estimate_training
from sizing.units import GB
from tests.unit.sizing.planning_jobs import (
    A100,
    BF16,
    FULL,
    H100,
    LLAMA_8B,
    QLORA,
    RTX_4090,
    SERVING,
    SERVING_70B,
    card_of,
)

jobs = st.one_of(
    st.builds(
        lambda method, tokens, batch: replace(
            FULL, method=method, sequence_tokens=tokens, micro_batch=batch
        ),
        st.sampled_from(Method),
        st.sampled_from([256, 2_048, 16_384]),
        st.sampled_from([1, 4]),
    ),
    st.builds(
        lambda engine, tokens, requests: replace(
            SERVING, engine=engine, context_tokens=tokens, requests=requests
        ),
        st.sampled_from([Engine.VLLM, Engine.LLAMA_CPP, Engine.TRANSFORMERS]),
        st.sampled_from([512, 8_192, 65_536]),
        st.sampled_from([1, 16, 128]),
    ),
)


def test_tells_what_one_card_needs() -> None:
    placed = place(QLORA, RTX_4090, gpus=1)

    assert placed.split is Sharing.ONE
    assert placed.verdict is Verdict.COMFORTABLE
    assert placed.fits
    assert placed.missing_bytes == 0
    assert placed.estimate == estimate_training(QLORA)
    assert placed.working == 1


def test_tells_how_much_is_missing_with_the_margin() -> None:
    placed = place(FULL, RTX_4090, gpus=1)

    peak = estimate_training(FULL).peak_bytes
    assert placed.verdict is Verdict.NO
    assert placed.missing_bytes == -(-peak * 110 // 100) - 24 * GB


def test_keeps_a_copy_on_each_card_where_one_fits() -> None:
    placed = place(QLORA, RTX_4090, gpus=4)

    assert placed.split is Sharing.DDP
    assert placed.estimate == estimate_training(replace(QLORA, cards=4, sharding=Sharding.DDP))


def test_divides_the_weights_where_no_copy_fits() -> None:
    placed = place(FULL, A100, gpus=8)

    assert placed.split is Sharing.FSDP
    assert placed.estimate == estimate_training(replace(FULL, cards=8, sharding=Sharding.FSDP))


def test_keeps_the_sharding_that_the_job_names() -> None:
    placed = place(replace(FULL, sharding=Sharding.ZERO2), A100, gpus=8)

    assert placed.split is Sharing.ZERO2


def test_divides_weights_that_lie_with_the_server() -> None:
    placed = place(replace(FULL, offload=Offload.ALL), RTX_4090, gpus=2)

    assert placed.split is Sharing.FSDP


@pytest.mark.parametrize(
    ("tensor", "pipeline", "gpus", "split"),
    [
        (4, 1, 4, Sharing.TENSOR),
        (1, 4, 4, Sharing.LAYERS),
        (2, 2, 4, Sharing.TENSOR),
        (2, 1, 4, Sharing.FSDP),
        (4, 1, 1, Sharing.ONE),
    ],
)
def test_divides_layers_as_the_job_names_where_the_cards_allow(
    tensor: int, pipeline: int, gpus: int, split: Sharing
) -> None:
    job = replace(FULL, cards=4, tensor_parallel=tensor, pipeline_parallel=pipeline)

    placed = place(job, H100, gpus=gpus)

    assert isinstance(placed.job, TrainingJob)
    assert placed.split is split
    check_training_job(placed.job)


def test_divides_layers_where_the_heads_divide() -> None:
    placed = place(SERVING, RTX_4090, gpus=8)

    assert placed.split is Sharing.TENSOR
    assert placed.estimate == estimate_serving(replace(SERVING, gpus=8))


def test_splits_layers_where_the_heads_do_not_divide() -> None:
    model = replace(LLAMA_8B, heads=28, kv_heads=4, hidden=3_584)

    four, eight = (place(replace(SERVING, model=model), RTX_4090, gpus=gpus) for gpus in (4, 8))

    assert four.split is Sharing.TENSOR
    assert eight.split is Sharing.LAYERS


def test_splits_layers_in_engines_that_do_so_unless_told_otherwise() -> None:
    usual = replace(SERVING, engine=Engine.LLAMA_CPP, requests=1)

    assert place(usual, A100, gpus=2).split is Sharing.LAYERS
    assert place(replace(usual, gpus=2), A100, gpus=2).split is Sharing.TENSOR
    assert place(replace(SERVING, split=Split.LAYERS), A100, gpus=2).split is Sharing.LAYERS


def test_leaves_cards_idle_that_cannot_share() -> None:
    model = replace(LLAMA_8B, layers=1, heads=1, kv_heads=1)

    placed = place(replace(SERVING, model=model), A100, gpus=8)

    assert placed.split is Sharing.ONE
    assert (placed.working, placed.gpus) == (1, 8)


def test_leaves_cards_idle_whose_buffers_would_not_fit() -> None:
    job = replace(QLORA, model=model_of_size(parameters_billions=0.1))
    (alone,) = plans_with_all(job, cards=1)
    card = card_of(-(-needed_memory_bytes(alone) // GB))

    placed = place(job, card, gpus=2)

    assert all(
        needed_memory_bytes(plan) > card.memory_bytes for plan in plans_with_all(job, cards=2)
    )
    assert placed.fits
    assert (placed.split, placed.working) == (Sharing.ONE, 1)
    assert choose(plans_by_count(job, counts=(2,))[2], card, gpus=2) == placed


def test_holds_engines_that_reserve_to_their_share() -> None:
    """50 requests fit the 72 GB that vLLM takes of 80; a larger share is no use past the margin."""
    job = replace(SERVING, requests=50)

    assert place(job, H100, gpus=1).verdict is Verdict.TIGHT
    assert place(replace(job, requests=51), H100, gpus=1).verdict is Verdict.NO
    half = place(replace(SERVING, utilization_percent=50), H100, gpus=1)
    assert half.missing_bytes == 2 * half.estimate.peak_bytes - 80 * GB


@settings(max_examples=60, deadline=None)
@given(job=jobs, memory_gb=st.integers(8, 300))
def test_missing_memory_is_what_turns_a_refusal_into_a_fit(job: Job, memory_gb: int) -> None:
    for plan in plans_with_all(job, cards=2):
        needed = needed_memory_bytes(plan)

        assert verdict_of(plan, memory_bytes=needed) is not Verdict.NO
        assert verdict_of(plan, memory_bytes=needed - 1) is Verdict.NO
        is_enough = memory_gb * GB >= needed
        assert (verdict_of(plan, memory_bytes=memory_gb * GB) is not Verdict.NO) is is_enough


@settings(max_examples=60, deadline=None)
@given(job=jobs, memory_gb=st.integers(8, 300))
def test_more_cards_never_turn_a_fit_into_a_refusal(job: Job, memory_gb: int) -> None:
    card = card_of(memory_gb)

    placed = [place(job, card, gpus=gpus) for gpus in COUNTS]

    assert sorted(each.fits for each in placed) == [each.fits for each in placed]
    missing = [each.missing_bytes for each in placed]
    assert missing == sorted(missing, reverse=True)


@settings(max_examples=30, deadline=None)
@given(job=jobs)
def test_more_cards_never_need_more_per_card(job: Job) -> None:
    """Where a card has no room to spare, the leanest way is taken; it never needs more."""
    plans = plans_by_count(job, counts=COUNTS)

    peaks = [plans[count].leanest.estimate.peak_bytes for count in COUNTS]

    assert peaks == sorted(peaks, reverse=True)


@settings(max_examples=60, deadline=None)
@given(
    job=jobs, gpus=st.sampled_from(COUNTS), memory_gb=st.integers(8, 200), more=st.integers(1, 90)
)
def test_a_fit_stays_a_fit_with_more_memory(job: Job, gpus: int, memory_gb: int, more: int) -> None:
    small, large = (place(job, card_of(size), gpus=gpus) for size in (memory_gb, memory_gb + more))

    assert large.fits >= small.fits
    assert large.missing_bytes <= small.missing_bytes


@settings(max_examples=30, deadline=None)
@given(job=jobs, memory_gb=st.integers(8, 200))
def test_one_reckoning_for_all_cards_says_the_same(job: Job, memory_gb: int) -> None:
    card, plans = card_of(memory_gb), plans_by_count(job, counts=COUNTS)

    together = [choose(plans[count], card, gpus=count) for count in COUNTS]

    assert together == [place(job, card, gpus=count) for count in COUNTS]


def test_divides_a_large_model_over_eight_cards_of_one_server() -> None:
    assert not place(SERVING_70B, H100, gpus=1).fits
    assert place(SERVING_70B, H100, gpus=4).verdict is Verdict.COMFORTABLE
    assert isinstance(place(SERVING_70B, H100, gpus=4).job, ServingJob)
    assert SERVING_70B.weights is BF16
