"""Training jobs: what is refused, and with which words; recipes and frameworks by name."""

from dataclasses import replace

import pytest

from sizing.bounds import InputError
from sizing.shapes.language_models import model_by_slug
from sizing.training.choices import (
    RECIPES,
    Adapter,
    Checkpointing,
    Loss,
    Method,
    Offload,
    Optimizer,
    Precision,
    Sharding,
    Target,
)
from sizing.training.job import (
    MOST_TOKENS_PER_PASS,
    TrainingJob,
    check_training_job,
    job_of,
    recipe_of,
    with_recipe,
)
from sizing.training.profiles import Profile

LORA = TrainingJob(model=model_by_slug("llama-3-8b"), method=Method.LORA)
FULL = replace(LORA, method=Method.FULL)


@pytest.mark.parametrize(
    "job",
    [
        LORA,
        FULL,
        replace(LORA, adapter=Adapter.PREFIX, lora_targets=(), lora_rank=9000),
        replace(FULL, cards=8, tensor_parallel=2, pipeline_parallel=2, sharding=Sharding.FSDP),
        replace(FULL, offload=Offload.ALL),
        replace(FULL, is_fused_step=True),
        replace(LORA, is_fused_step=True, accumulation=8),
        replace(FULL, optimizer=Optimizer.GALORE),
    ],
)
def test_what_can_be_meant_is_taken(job):
    check_training_job(job)


@pytest.mark.parametrize(
    ("job", "field", "problem"),
    [
        (replace(LORA, sequence_tokens=0), "sequence_tokens", "below_least"),
        (replace(LORA, micro_batch=-1), "micro_batch", "below_least"),
        (replace(LORA, accumulation=0), "accumulation_steps", "below_least"),
        (replace(LORA, cards=10**9), "gpus", "above_most"),
        (replace(LORA, longest_percent=101), "longest_percent", "above_most"),
        (
            replace(LORA, micro_batch=65_536, sequence_tokens=10**6),
            "micro_batch",
            "too_many_together",
        ),
        (replace(LORA, lora_rank=4097), "lora_rank", "above_dimension"),
        (
            replace(FULL, optimizer=Optimizer.GALORE, galore_rank=5000),
            "galore_rank",
            "above_dimension",
        ),
        (replace(LORA, lora_targets=()), "lora_targets", "missing"),
        (replace(LORA, lora_targets=(Target.Q, Target.Q)), "lora_targets", "unknown_choice"),
        (replace(LORA, optimizer=Optimizer.GALORE), "optimizer", "only_with"),
        (replace(LORA, optimizer=Optimizer.MUON), "optimizer", "only_with"),
        (replace(FULL, cards=6, tensor_parallel=4), "tensor_parallel", "not_dividing"),
        (replace(FULL, cards=6, pipeline_parallel=4), "pipeline_parallel", "not_dividing"),
        (replace(FULL, cards=6, tensor_parallel=6), "tensor_parallel", "not_dividing"),
        (replace(FULL, cards=64, pipeline_parallel=64), "pipeline_parallel", "above_dimension"),
        (replace(FULL, cards=2), "sharding", "not_together"),
        (
            replace(FULL, cards=2, sharding=Sharding.ZERO2, offload=Offload.ALL),
            "offload",
            "not_together",
        ),
        (replace(FULL, is_fused_step=True, accumulation=2), "accumulation_steps", "not_together"),
    ],
)
def test_what_cannot_be_meant_is_refused_by_field(job, field, problem):
    with pytest.raises(InputError) as refused:
        check_training_job(job)

    assert (refused.value.field, refused.value.problem) == (field, problem)


def test_a_refusal_says_what_to_try():
    with pytest.raises(InputError) as refused:
        check_training_job(replace(LORA, lora_rank=9000))

    assert str(refused.value) == (
        "lora_rank is 9000, but it cannot exceed the narrowest width of the model, which is "
        "4096: give at most 4096."
    )


def test_the_most_tokens_of_a_pass_are_taken():
    check_training_job(replace(LORA, sequence_tokens=MOST_TOKENS_PER_PASS // 256, micro_batch=256))


@pytest.mark.parametrize("letter", RECIPES)
def test_a_recipe_is_known_again(letter):
    assert recipe_of(with_recipe(FULL, RECIPES[letter])) == RECIPES[letter]


def test_a_job_may_follow_no_named_recipe():
    assert recipe_of(replace(FULL, optimizer=Optimizer.SGD)) is None


def test_a_framework_has_its_own_settings():
    job = job_of(model=LORA.model, method=Method.LORA, profile=Profile.LITGPT)

    assert (job.checkpointing, job.loss) == (Checkpointing.NONE, Loss.CHUNKED)
    assert job.adapter_precision is Precision.BF16


@pytest.mark.parametrize(("tensor", "pipeline", "ways"), [(1, 1, 8), (2, 2, 2), (8, 1, 1)])
def test_cards_that_share_no_layer_take_different_texts(tensor, pipeline, ways):
    job = replace(FULL, cards=8, tensor_parallel=tensor, pipeline_parallel=pipeline)

    assert job.data_parallel == ways
