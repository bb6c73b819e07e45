"""The smallest change that makes a job fit: the least harmful one, and of it the least."""

from dataclasses import replace

import pytest

from sizing.planning.changes import Change, smallest_change
from sizing.planning.placing import Job, place
from sizing.serving.formats import weight_format_by_slug
from sizing.serving.job import Engine, ServingJob, check_serving_job
from sizing.shapes.language_models import model_by_slug
from sizing.training.choices import (
    Attention,
    Checkpointing,
    Loss,
    Method,
    Optimizer,
    Quantization,
)
from sizing.training.job import TrainingJob, check_training_job
from sizing.units import GB
from tests.unit.sizing.planning_jobs import (
    FULL,
    H100,
    LLAMA_70B,
    QLORA,
    RTX_4090,
    SERVING,
    SERVING_70B,
    card_of,
)

LORA = replace(QLORA, method=Method.LORA)


def changed(job: Job, *, memory_gb: int, gpus: int = 1) -> Change:
    """Return the change, which must be one that fits and is valid."""
    found = smallest_change(job, card_of(memory_gb), gpus=gpus)
    assert found is not None
    assert found.placed.fits
    if isinstance(found.placed.job, ServingJob):
        check_serving_job(found.placed.job)
    else:
        check_training_job(found.placed.job)
    return found


def after(change: Change) -> int:
    value = dict(change.values)["after"]
    assert isinstance(value, int)
    return value


def just_too_small_gb(job: Job) -> int:
    """Return the largest whole size of a card that the job does not fit."""
    placed = place(job, card_of(1), gpus=1)
    return (placed.missing_bytes + GB - 1) // GB


def test_a_job_that_fits_needs_no_change() -> None:
    assert smallest_change(QLORA, RTX_4090, gpus=1) is None


def test_no_single_change_puts_a_huge_job_on_a_small_card() -> None:
    job = replace(FULL, model=LLAMA_70B)

    assert smallest_change(job, RTX_4090, gpus=1) is None


def test_takes_the_loss_in_pieces_before_all_else() -> None:
    job = replace(QLORA, sequence_tokens=8_192)

    found = changed(job, memory_gb=24)

    assert found[:2] == ("loss", (("before", "eager"), ("after", "chunked")))


def test_computes_activations_again() -> None:
    job = replace(QLORA, loss=Loss.FUSED, checkpointing=Checkpointing.NONE, micro_batch=2)

    found = changed(job, memory_gb=24)

    assert found[:2] == ("checkpointing", (("before", "none"), ("after", "full")))


def test_does_not_write_attention_out() -> None:
    job = replace(
        LORA,
        loss=Loss.FUSED,
        checkpointing=Checkpointing.OFFLOADED,
        attention=Attention.EAGER,
        sequence_tokens=8_192,
    )

    found = changed(job, memory_gb=just_too_small_gb(job))

    assert found[:2] == ("attention", (("before", "eager"), ("after", "flash")))


LEAN = replace(LORA, loss=Loss.FUSED, checkpointing=Checkpointing.OFFLOADED)


def test_takes_the_largest_batch_that_fits_with_more_accumulation() -> None:
    job = replace(LEAN, micro_batch=16, accumulation=2)

    found = changed(job, memory_gb=24)

    assert found.key == "micro_batch"
    batch = after(found)
    assert dict(found.values)["accumulation"] == -(-32 // batch)
    larger = replace(job, micro_batch=batch + 1, accumulation=-(-32 // (batch + 1)))
    assert not place(larger, card_of(24), gpus=1).fits


def test_does_not_accumulate_in_a_fused_step() -> None:
    job = replace(
        FULL,
        loss=Loss.FUSED,
        checkpointing=Checkpointing.OFFLOADED,
        is_fused_step=True,
        micro_batch=64,
    )

    found = changed(job, memory_gb=just_too_small_gb(job))

    assert found.key == "micro_batch"
    assert dict(found.values)["accumulation"] == 1


@pytest.mark.parametrize(
    ("job", "memory_gb", "key", "leaner"),
    [
        (FULL, 141, "optimizer", "adamw_8bit"),
        (FULL, 80, "optimizer", "paged_adamw_8bit"),
        (replace(FULL, optimizer=Optimizer.SGD_MOMENTUM), 24, "method", "qlora"),
        (replace(FULL, optimizer=Optimizer.SGD_MOMENTUM), 40, "method", "lora"),
        (LEAN, 16, "method", "qlora"),
    ],
)
def test_takes_a_leaner_optimizer_then_a_leaner_method(
    job: TrainingJob, memory_gb: int, key: str, leaner: str
) -> None:
    found = changed(job, memory_gb=memory_gb)

    assert found.key == key
    assert dict(found.values)["after"] == leaner


def test_quantizes_frozen_weights_further() -> None:
    job = replace(
        LEAN, method=Method.QLORA, quantization=Quantization.INT8, optimizer=Optimizer.SGD
    )

    found = changed(job, memory_gb=just_too_small_gb(job))

    assert found[:2] == ("quantization", (("before", "int8"), ("after", "nf4_double")))


LEANEST = replace(LEAN, method=Method.QLORA, optimizer=Optimizer.PAGED_ADAMW_8BIT)


def test_shortens_a_sequence_to_whole_steps() -> None:
    job = replace(LEANEST, sequence_tokens=65_536)

    found = changed(job, memory_gb=24)

    assert found.key == "sequence_tokens"
    tokens = after(found)
    assert tokens % 128 == 0
    longer = replace(job, sequence_tokens=tokens + 128)
    assert not place(longer, card_of(24), gpus=1).fits


def test_offers_no_sequence_below_a_quarter() -> None:
    job = replace(LEANEST, sequence_tokens=262_144)

    assert smallest_change(job, card_of(24), gpus=1) is None


def test_cuts_short_texts_by_the_token() -> None:
    wide = replace(LEANEST.model, layers=1, intermediate=4_000_000)
    job = replace(LEANEST, model=wide, sequence_tokens=100)

    found = changed(job, memory_gb=just_too_small_gb(job))

    assert found.key == "sequence_tokens"
    longer = replace(job, sequence_tokens=after(found) + 1)
    assert 25 <= after(found) < 100
    assert not place(longer, found.placed.card, gpus=1).fits


def test_takes_more_cards_last() -> None:
    job = replace(LEANEST, model=LLAMA_70B, sequence_tokens=512)

    found = changed(job, memory_gb=24)

    assert found[:2] == ("gpus", (("before", 1), ("after", 4)))
    assert found.placed.gpus == 4


def test_narrows_the_cache_first() -> None:
    job = replace(SERVING, requests=56)

    found = smallest_change(job, H100, gpus=1)

    assert found is not None
    assert found[:2] == ("kv_format", (("before", "16"), ("after", "fp8")))


@pytest.mark.parametrize(
    ("job", "memory_gb", "narrower"),
    [
        (replace(SERVING_70B, requests=1), 96, "int8"),
        (replace(SERVING_70B, requests=1), 80, "int4-g128"),
        (replace(SERVING_70B, requests=1, engine=Engine.LITGPT), 80, "nf4"),
        (
            replace(
                SERVING_70B,
                requests=1,
                engine=Engine.LLAMA_CPP,
                weights=weight_format_by_slug("q8-0"),
            ),
            80,
            "q6-k",
        ),
    ],
)
def test_narrows_the_weights_to_the_widest_that_fits(
    job: ServingJob, memory_gb: int, narrower: str
) -> None:
    found = changed(job, memory_gb=memory_gb)

    assert found.key == "weights"
    assert dict(found.values) == {"before": job.weights.slug, "after": narrower}


NARROW = replace(SERVING, weights=weight_format_by_slug("nf4-dq"), engine=Engine.LITGPT)


def test_serves_fewer_requests() -> None:
    found = changed(replace(NARROW, requests=60), memory_gb=24)

    assert found.key == "requests"
    assert not place(replace(NARROW, requests=after(found) + 1), card_of(24), gpus=1).fits


def test_shortens_the_context_of_one_request() -> None:
    job = replace(NARROW, requests=1, context_tokens=131_072, output_tokens=1_024)

    found = changed(job, memory_gb=20)

    assert found.key == "context_tokens"
    assert 131_072 / 4 <= after(found) < 131_072


def test_serves_on_more_cards_last() -> None:
    job = replace(NARROW, model=LLAMA_70B, requests=1, context_tokens=512)

    found = changed(job, memory_gb=24)

    assert found[:2] == ("gpus", (("before", 1), ("after", 4)))


def test_counts_only_more_cards() -> None:
    job = replace(LEANEST, model=model_by_slug("llama-3.1-405b"), sequence_tokens=128)

    found = changed(job, memory_gb=48, gpus=4)

    assert found[:2] == ("gpus", (("before", 4), ("after", 8)))
    assert smallest_change(job, RTX_4090, gpus=8) is None
