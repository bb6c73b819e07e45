"""What is refused before anything is reckoned, and how it is told."""

from dataclasses import replace
from typing import Any

import pytest

from sizing.bounds import InputError
from sizing.serving.formats import KvFormat, weight_format_by_slug
from sizing.serving.job import Engine, ServingJob, Split, check_serving_job
from sizing.shapes.language_models import model_by_slug

JOB = ServingJob(
    model=model_by_slug("llama-3-8b"),
    weights=weight_format_by_slug("bf16"),
    context_tokens=4_096,
)


@pytest.mark.parametrize(
    ("changes", "field", "problem"),
    [
        ({"context_tokens": 0}, "context_tokens", "below_least"),
        ({"context_tokens": -5}, "context_tokens", "below_least"),
        ({"context_tokens": 10**30}, "context_tokens", "above_most"),
        ({"context_tokens": "4096"}, "context_tokens", "not_whole"),
        ({"context_tokens": 9_000}, "context_tokens", "above_dimension"),
        ({"requests": 0}, "concurrency", "below_least"),
        ({"output_tokens": 5_000}, "output_tokens", "above_dimension"),
        ({"output_tokens": -1}, "output_tokens", "below_least"),
        ({"prefill_chunk_tokens": -1}, "prefill_chunk_tokens", "below_least"),
        ({"gpus": 3}, "tensor_parallel", "not_dividing"),
        ({"gpus": 65}, "tensor_parallel", "above_most"),
        ({"gpus": 33, "split": Split.LAYERS}, "gpus", "above_dimension"),
        ({"utilization_percent": 101}, "utilization_percent", "above_most"),
        ({"weights": weight_format_by_slug("q4-k-m")}, "engine", "not_together"),
        ({"kv_format": KvFormat.Q4_0}, "kv_format", "not_together"),
        ({"engine": Engine.LLAMA_CPP, "weights": weight_format_by_slug("fp8")}, "engine",
         "not_together"),
        ({"engine": Engine.LITGPT, "weights": weight_format_by_slug("int8")}, "engine",
         "not_together"),
    ],
)  # fmt: skip
def test_refuses_what_cannot_be_run(changes: dict[str, Any], field: str, problem: str) -> None:
    with pytest.raises(InputError) as refused:
        check_serving_job(replace(JOB, **changes))

    assert (refused.value.field, refused.value.problem) == (field, problem)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"output_tokens": 4_096, "prefill_chunk_tokens": 512, "gpus": 8, "kv_format": KvFormat.FP8},
        {"engine": Engine.LLAMA_CPP, "weights": weight_format_by_slug("q4-k-m"), "gpus": 3,
         "split": Split.LAYERS, "kv_format": KvFormat.Q8_0},
        {"engine": Engine.LITGPT, "weights": weight_format_by_slug("nf4")},
        {"model": model_by_slug("glm-4.5"), "context_tokens": 1_000_000},
    ],
)  # fmt: skip
def test_accepts_what_can_be_run(changes: dict[str, Any]) -> None:
    check_serving_job(replace(JOB, **changes))


def test_names_the_cards_that_divide_the_heads() -> None:
    with pytest.raises(InputError, match="1, 2, 4, 8, 16, 32"):
        check_serving_job(replace(JOB, gpus=5))
