"""Backwards: what fits at most, and nothing larger does."""

from dataclasses import replace

import pytest

from sizing.planning.backwards import Backwards, backwards, largest_known_model, largest_parameters
from sizing.planning.placing import place
from sizing.serving.capacity import longest_context, most_requests
from sizing.serving.job import Engine
from sizing.shapes.by_hand import model_of_size
from sizing.training.choices import Method
from tests.unit.sizing.planning_jobs import (
    A100,
    FULL,
    H100,
    QLORA,
    RTX_4090,
    SERVING,
    card_of,
)


def test_nothing_larger_fits_a_training_run() -> None:
    found = backwards(QLORA, RTX_4090, gpus=1)

    assert found.most_requests is None
    assert found.largest_batch is not None
    for job in (
        replace(QLORA, sequence_tokens=found.longest_tokens),
        replace(QLORA, micro_batch=found.largest_batch),
    ):
        assert place(job, RTX_4090, gpus=1).fits
    for job in (
        replace(QLORA, sequence_tokens=found.longest_tokens + 1),
        replace(QLORA, micro_batch=found.largest_batch + 1),
    ):
        assert not place(job, RTX_4090, gpus=1).fits


def test_agrees_with_the_capacity_of_serving() -> None:
    """vLLM takes 90 % of the card, less than the margin leaves."""
    found = backwards(SERVING, H100, gpus=1)

    assert found.most_requests == most_requests(SERVING, H100) == 50
    assert found.longest_tokens == longest_context(SERVING, H100)
    assert found.largest_batch is None


def test_a_text_is_no_longer_than_the_model_was_made_for() -> None:
    one = replace(SERVING, requests=1, output_tokens=512)

    assert backwards(one, H100, gpus=8).longest_tokens == 131_072


def test_counts_the_longest_text_of_a_model_whose_context_is_not_known() -> None:
    job = replace(QLORA, model=replace(QLORA.model, max_context=0), micro_batch=4_096)

    assert backwards(job, card_of(10**7), gpus=1).longest_tokens == 2**28 // 4_096


def test_finds_the_largest_model_to_a_tenth_of_a_billion() -> None:
    parameters = largest_parameters(QLORA, RTX_4090, gpus=1)

    size = parameters / 10**9
    fitting = replace(QLORA, model=model_of_size(parameters_billions=size))
    larger = replace(QLORA, model=model_of_size(parameters_billions=size + 0.1))
    assert place(fitting, RTX_4090, gpus=1).fits
    assert not place(larger, RTX_4090, gpus=1).fits


def test_says_nothing_where_not_even_the_least_fits() -> None:
    tiny = card_of(1)

    assert backwards(FULL, tiny, gpus=1) == Backwards(0, 0, 0, None)
    assert backwards(replace(SERVING, engine=Engine.VLLM), tiny, gpus=1)[3] == 0
    assert largest_known_model(FULL, tiny, gpus=1) is None


@pytest.mark.parametrize("method", Method)
def test_more_cards_hold_no_less(method: Method) -> None:
    job = replace(QLORA, method=method)

    one, eight = (backwards(job, A100, gpus=gpus) for gpus in (1, 8))

    assert eight.longest_tokens >= one.longest_tokens
    assert eight.largest_parameters > one.largest_parameters


def test_names_the_largest_known_model() -> None:
    found = largest_known_model(replace(QLORA, sequence_tokens=512), card_of(48), gpus=1)

    assert found is not None
    assert 60e9 < found.parameters < 90e9
