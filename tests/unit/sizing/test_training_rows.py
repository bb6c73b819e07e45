"""Measured fine-tuning as jobs, the fit of the constants, and how far estimates may be off."""

from importlib.resources import files
from statistics import median
from types import MappingProxyType
from typing import Any

import pytest

from sizing.measurements import COLUMNS, Measurement, Metric, own_measurements
from sizing.training.choices import (
    ALL_LINEAR,
    QUERIES_AND_VALUES,
    Adapter,
    Attention,
    Checkpointing,
    Counted,
    Loss,
    Method,
    Offload,
    Optimizer,
    Precision,
    Quantization,
    Sharding,
    Target,
)
from sizing.training.constants import training_constants
from sizing.training.fitting import FITTED, fit, training_runs, written
from sizing.training.from_row import UnreadableRowError, training_estimate, training_job
from sizing.training.memory import estimate_training
from sizing.training.profiles import Profile

MEMORIES = tuple(gigabytes * 10**9 for gigabytes in (24, 32, 48, 80, 96, 141))
QWEN = "https://github.com/QwenLM/Qwen/blob/main/README.md"


def _row(
    *,
    method: str = "LoRA",
    gpus: int = 1,
    source: str = "",
    metric: Metric = Metric.PEAK_MEMORY,
    task: str = "fine-tuning",
    **cells: str,
) -> Measurement:
    named = dict.fromkeys(COLUMNS, "") | {"precision": "bf16", "seq_len": "1024"} | cells
    return Measurement(
        line=2,
        id="x",
        task=task,
        method=method,
        metric=metric,
        value=2e10,
        model_slug="llama-3-8b",
        gpus=gpus,
        source=source,
        cells=MappingProxyType(named),
    )


def _job(**fields: Any):
    return training_job(_row(**fields))


@pytest.mark.parametrize(
    ("fields", "method"),
    [
        ({"method": "full", "precision": "bf16"}, Method.FULL),
        ({"method": "Full finetune"}, Method.FULL),
        ({"method": "LoRA+emb"}, Method.LORA),
        ({"method": "QLoRA", "precision": ""}, Method.QLORA),
        ({"method": "Adapter", "precision": "bf16-true + bnb.nf4"}, Method.QLORA),
        ({"method": "LoRA", "precision": "4-bit"}, Method.QLORA),
    ],
)
def test_the_method_is_read(fields, method):
    assert _job(**fields).method is method


def test_an_unknown_method_is_refused():
    with pytest.raises(UnreadableRowError, match="method soft prompts"):
        _job(method="soft prompts")


@pytest.mark.parametrize(
    ("fields", "profile"),
    [
        ({}, Profile.GENERIC),
        ({"source": QWEN}, Profile.TRANSFORMERS),
        ({"source": QWEN, "method": "full"}, Profile.DEEPSPEED),
        ({"source": "https://github.com/pytorch/torchtune"}, Profile.TORCHTUNE),
        ({"attention": "Unsloth+FA2"}, Profile.UNSLOTH),
        ({"note": "axolotl example"}, Profile.AXOLOTL),
        ({"sharding": "ZeRO-3", "gpus": 2}, Profile.DEEPSPEED),
        ({"source": "https://github.com/huggingface/peft"}, Profile.TRANSFORMERS),
    ],
)
def test_the_framework_is_told_by_words(fields, profile):
    assert _job(**fields).profile is profile


@pytest.mark.parametrize(
    ("optimizer", "expected"),
    [
        ("", Optimizer.ADAMW),
        ("AdamW", Optimizer.ADAMW),
        ("PagedAdamW8bit", Optimizer.PAGED_ADAMW_8BIT),
        ("AdamW 8-bit", Optimizer.ADAMW_8BIT),
        ("Lion", Optimizer.LION),
        ("Lion 8bit", Optimizer.LION_8BIT),
        ("Adafactor", Optimizer.ADAFACTOR),
        ("Muon", Optimizer.MUON),
        ("SGD", Optimizer.SGD),
        ("SGD momentum", Optimizer.SGD_MOMENTUM),
        ("GaLore", Optimizer.GALORE),
    ],
)
def test_the_optimizer_is_read(optimizer, expected):
    assert _job(optimizer=optimizer).optimizer is expected


@pytest.mark.parametrize(
    ("precision", "expected"),
    [
        ("fp32", Precision.FP32),
        ("bf16-mixed", Precision.FP32),
        ("bf16-true", Precision.BF16),
        ("bf16", Precision.BF16),
    ],
)
def test_the_precision_of_full_training_is_read(precision, expected):
    assert _job(method="full", precision=precision, note="torchtune").precision is expected


@pytest.mark.parametrize(
    ("stated", "rank", "expected"),
    [
        ("query,value", "8", QUERIES_AND_VALUES),
        ("all linear", "", ALL_LINEAR),
        ("", "", ALL_LINEAR),
        ("something else", "8", QUERIES_AND_VALUES),
        ("q_proj, v_proj, lm_head", "8", (*QUERIES_AND_VALUES, Target.HEAD)),
        ("attention and mlp", "8", ALL_LINEAR),
    ],
)
def test_targets_are_read(stated, rank, expected):
    assert _job(lora_targets=stated, lora_rank=rank).lora_targets == expected


def test_the_scripts_of_qwen_take_rank_64():
    job = _job(source=QWEN, method="LoRA+emb")

    assert job.lora_rank == 64
    assert job.lora_targets == (*ALL_LINEAR, Target.WHOLE_EMBEDDINGS, Target.WHOLE_HEAD)


def test_a_stated_rank_is_taken():
    assert _job(lora_rank="32").lora_rank == 32
    assert _job().lora_rank == 8


@pytest.mark.parametrize(
    ("fields", "name", "expected"),
    [
        ({"method": "Adapter"}, "adapter", Adapter.PREFIX),
        ({"method": "Adapter-v2"}, "adapter", Adapter.SCALES),
        ({"precision": "bnb.nf4-dq"}, "quantization", Quantization.NF4_DOUBLE),
        ({"precision": "nf4"}, "quantization", Quantization.NF4),
        ({"precision": "int4 GPTQ"}, "quantization", Quantization.INT4_GROUPS),
        ({"micro_batch": "4"}, "micro_batch", 4),
        ({"grad_ckpt": "no"}, "checkpointing", Checkpointing.NONE),
        ({"grad_ckpt": "yes"}, "checkpointing", Checkpointing.FULL),
        ({"grad_ckpt": "selective"}, "checkpointing", Checkpointing.SELECTIVE),
        ({"grad_ckpt": "offloaded"}, "checkpointing", Checkpointing.OFFLOADED),
        ({"grad_ckpt": "yes", "note": "unsloth"}, "checkpointing", Checkpointing.OFFLOADED),
        ({"note": "litgpt"}, "checkpointing", Checkpointing.NONE),
        ({"attention": "eager"}, "attention", Attention.EAGER),
        ({"attention": "SDPA"}, "attention", Attention.SDPA),
        ({"attention": "FlashAttention-2"}, "attention", Attention.FLASH),
        ({"note": "liger kernels"}, "loss", Loss.FUSED),
        ({"note": "chunked cross-entropy"}, "loss", Loss.CHUNKED),
        ({"note": "torch compile"}, "is_compiled", True),
        ({"note": "no compile"}, "is_compiled", False),
        ({"note": "batch 1, accumulation 8"}, "accumulation", 8),
        ({"note": "torchtune without gradient accumulation"}, "accumulation", 1),
        ({"note": "torchtune"}, "accumulation", 1),
        ({}, "accumulation", 8),
        ({"note": "optimizer fused in backward"}, "is_fused_step", True),
        ({"note": "CPU offload"}, "offload", Offload.ALL),
        ({"note": "optimizer offload"}, "offload", Offload.OPTIMIZER),
        ({"note": "max reserved"}, "counted", Counted.RESERVED),
        ({"note": "torchtune"}, "counted", Counted.RESERVED),
        ({"note": "litgpt"}, "counted", Counted.ALLOCATED),
        ({"gpus": 2, "sharding": "FSDP"}, "sharding", Sharding.FSDP),
        ({"gpus": 2, "sharding": "DDP"}, "sharding", Sharding.DDP),
        ({"gpus": 2, "sharding": "DeepSpeed"}, "sharding", Sharding.ZERO3),
        ({"gpus": 2}, "sharding", Sharding.DDP),
        ({"gpus": 2, "source": QWEN}, "sharding", Sharding.ZERO2),
        ({"gpus": 2, "source": QWEN, "method": "full"}, "sharding", Sharding.ZERO3),
    ],
)
def test_a_setting_is_read(fields, name, expected):
    assert getattr(_job(**fields), name) == expected


def test_a_total_is_of_all_cards():
    row = _row(gpus=2, metric=Metric.PEAK_MEMORY_TOTAL, sharding="FSDP")

    assert training_estimate(row) == 2 * estimate_training(training_job(row)).peak_bytes


def test_inference_several_cards_and_unknown_methods_are_not_fitted():
    rows = [_row(task="inference"), _row(gpus=2), _row(method="soft prompts"), _row()]

    assert len(list(training_runs(rows))) == 1


# Fitting each source out takes seconds, so all tests share one.
@pytest.fixture(scope="module")
def fitted():
    return fit(own_measurements().measurements)


def test_the_table_is_what_the_fit_gives(fitted):
    table = files("sizing.tables").joinpath("training_constants.toml").read_text(encoding="utf-8")

    assert written(fitted) == table


def test_constants_stay_where_they_mean_something():
    constants = training_constants()

    for name, bound in FITTED.items():
        assert bound.least <= getattr(constants, name) <= bound.most


def test_without_rows_every_constant_is_its_prior():
    constants = fit([])

    assert {name: getattr(constants, name) for name in FITTED} == {
        name: bound.prior for name, bound in FITTED.items()
    }
    # Without an error to go by, intervals are wide.
    assert (constants.low_share_lora, constants.high_share_lora) == pytest.approx(
        (0.7788, 1.284), rel=1e-3
    )


RUNS = tuple(training_runs(own_measurements().measurements))


def _errors(runs, constants=None):
    return sorted(
        abs(estimate_training(run.job, constants=constants).peak_bytes / run.measured - 1)
        for run in runs
    )


@pytest.mark.parametrize(
    ("method", "rows", "middle", "worst"),
    [(Method.FULL, 6, 0.03, 0.12), (Method.LORA, 52, 0.035, 0.14), (Method.QLORA, 56, 0.045, 0.21)],
)
def test_estimates_stay_near_measured_peaks(method, rows, middle, worst):
    errors = _errors([run for run in RUNS if run.job.method is method])

    assert len(errors) == rows
    assert median(errors) <= middle
    assert errors[-1] <= worst


@pytest.mark.parametrize(
    ("source", "middle", "worst"),
    [("QwenLM/Qwen", 0.06, 0.27), ("Lightning-AI", 0.05, 0.13), ("hiyouga", 0.05, 0.17)],
)
def test_estimates_stay_near_a_source_that_they_never_saw(source, middle, worst):
    seen = [row for row in own_measurements().measurements if source not in row.source]
    constants = fit(seen, has_intervals=False)

    errors = _errors([run for run in RUNS if source in run.source], constants)

    assert median(errors) <= middle
    assert errors[-1] <= worst


def test_no_run_is_promised_a_card_that_is_too_small():
    decisions = [
        (run.measured <= memory, 1.1 * estimate_training(run.job).peak_bytes <= memory)
        for run in RUNS
        for memory in MEMORIES
    ]

    assert decisions.count((False, True)) == 0
    assert decisions.count((True, False)) <= 0.03 * len(decisions)


def test_runs_on_several_cards_are_met_within_a_quarter():
    rows = [
        row for row in own_measurements().measurements if row.task == "fine-tuning" and row.gpus > 1
    ]

    errors = sorted(abs(training_estimate(row) / row.value - 1) for row in rows)

    assert len(errors) == 25
    assert median(errors) <= 0.07
    assert errors[-1] <= 0.26
