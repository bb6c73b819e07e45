"""Rows of measurements as jobs, the fit behind the constants, and how far estimates may be off."""

from importlib.resources import files
from statistics import median
from types import MappingProxyType

import pytest

from sizing.measurements import Measurement, Metric, own_measurements
from sizing.serving.constants import MemoryKind, SpeedKey
from sizing.serving.fitting import fit, written
from sizing.serving.formats import KvFormat, SpeedClass
from sizing.serving.from_row import UnjudgedRowError, estimate_of, serving_run
from sizing.serving.job import Cache, Counted, Engine, Split
from sizing.serving.measured_cards import card_named
from sizing.shapes.language_models import model_by_slug

CELLS: MappingProxyType[str, str] = MappingProxyType(
    {
        "precision": "bf16",
        "seq_len": "1024",
        "micro_batch": "1",
        "gpu": "RTX 4090 24GB",
        "sharding": "",
        "method": "llama.cpp",
        "note": "",
    }
)


def _row(
    *,
    metric: Metric = Metric.DECODE_SPEED,
    task: str = "inference",
    slug: str = "llama-3-8b",
    gpus: int = 1,
    **cells: str,
) -> Measurement:
    named = CELLS | cells
    return Measurement(
        line=1,
        id="x",
        task=task,
        method=named["method"],
        metric=metric,
        value=10.0,
        model_slug=slug,
        gpus=gpus,
        source="",
        cells=MappingProxyType(named),
    )


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("A100-SXM4-80G", "a100-sxm-80"),
        ("NVIDIA GeForce RTX 4090", "rtx-4090"),
        ("4090 24GB", "rtx-4090"),
        ("3080 Ti 12GB", "rtx-3080-ti"),
        ("RTX A6000 48GB", "rtx-a6000"),
        ("H100 PCIe 80GB", "h100-pcie"),
        ("L40S 48GB", "l40s"),
        ("A40 48GB", "a40"),
        ("H20 96GB", "h20"),
    ],
)
def test_knows_cards_by_the_names_of_sources(name: str, slug: str) -> None:
    card = card_named(name)

    assert card is not None
    assert card.slug == slug


@pytest.mark.parametrize("name", ["", "GB", "24GB", "Voodoo 2", "NVIDIA"])
def test_knows_no_card_by_other_names(name: str) -> None:
    assert card_named(name) is None


def test_reads_what_was_generated_after_a_prompt() -> None:
    job = serving_run(
        _row(method="SGLang, 2048 generated after the prompt", seq_len="6144", precision="FP8")
    ).job

    assert (job.engine, job.context_tokens, job.output_tokens) == (Engine.SGLANG, 8_192, 2_048)
    assert job.weights.slug == "fp8"
    assert job.counted is Counted.HELD


def test_reads_a_split_of_layers_and_of_tensors() -> None:
    layers = serving_run(_row(method="llama.cpp, layer split", gpus=4, precision="Q4_K_M")).job
    tensors = serving_run(_row(method="vLLM", gpus=2, sharding="TP2")).job

    assert (layers.split, layers.gpus, layers.weights.slug) == (Split.LAYERS, 4, "q4-k-m")
    assert (tensors.split, tensors.tensor_parallel) == (Split.TENSOR, 2)


def test_reads_a_narrow_cache_that_grew_by_concatenation() -> None:
    job = serving_run(
        _row(method="KV cache int8", slug="qwen1-7b", metric=Metric.PEAK_MEMORY, micro_batch="16")
    ).job

    assert (job.engine, job.cache) == (Engine.TRANSFORMERS_2023, Cache.CONCATENATED)
    assert (job.kv_format, job.requests) == (KvFormat.INT8, 16)


def test_takes_the_length_of_a_prompt_for_its_speed() -> None:
    job = serving_run(_row(metric=Metric.PREFILL_SPEED)).job

    assert (job.prompt_tokens, job.output_tokens) == (1_024, 0)


def test_assumes_short_lengths_where_they_hardly_matter() -> None:
    speed = serving_run(_row(seq_len="")).job
    litgpt = serving_run(_row(method="litgpt generate", seq_len="", metric=Metric.PEAK_MEMORY)).job

    assert speed.context_tokens == 512
    assert litgpt.context_tokens == 60


def test_gives_memory_of_all_cards_where_the_row_does() -> None:
    row = _row(metric=Metric.PEAK_MEMORY, gpus=2, method="transformers")
    total = _row(metric=Metric.PEAK_MEMORY_TOTAL, gpus=2, method="transformers")

    assert estimate_of(serving_run(total)) == 2 * estimate_of(serving_run(row))


@pytest.mark.parametrize(
    ("row", "why"),
    [
        (_row(task="fine-tuning"), "not serving"),
        (_row(gpu="Voodoo 2"), "Voodoo 2"),
        (_row(method="somebody's engine"), "no engine"),
        (_row(precision="int3"), "int3"),
        (_row(precision="Q4_K_M", method="vLLM"), "does not load"),
        (_row(method="vLLM", metric=Metric.PEAK_MEMORY), "reserves"),
        (_row(method="transformers", seq_len="", metric=Metric.PEAK_MEMORY), "length"),
    ],
)
def test_says_why_a_row_cannot_be_judged(row: Measurement, why: str) -> None:
    with pytest.raises(UnjudgedRowError, match=why):
        serving_run(row)


def test_the_table_of_speeds_is_what_the_fit_writes() -> None:
    table = files("sizing.tables").joinpath("serving_speed.toml").read_text(encoding="utf-8")

    assert table == written(fit(own_measurements().measurements))


def test_fits_without_any_row() -> None:
    constants = fit([_row(task="fine-tuning"), _row(method="unknown")])

    assert all(profile.rows == 0 for profile in constants.speed.values())
    assert constants.hop_s == pytest.approx(100e-6)
    assert constants.expert_loop == pytest.approx(0.14)


def test_passes_over_prompts_on_cards_without_a_known_rate() -> None:
    constants = fit([_row(metric=Metric.PREFILL_SPEED, gpu="MI210")])

    assert all(use.rows == 0 for use in constants.prefill_use.values())


def test_finds_the_share_and_the_seconds_that_made_up_rows_were_made_with() -> None:
    """Two sizes of model on one card tell reading and launching apart."""
    rows = [
        _with_speed(slug, read_share=0.8, layer_s=100e-6)
        for slug in ("llama-3-8b", "llama-3.1-70b", "qwen2.5-32b", "llama-2-13b-hf")
    ]

    profile = fit(rows).speed[SpeedKey(Engine.LLAMA_CPP, MemoryKind.GDDR, SpeedClass.SIXTEEN)]

    assert profile.share == pytest.approx(0.8, rel=0.03)
    assert profile.layer_s == pytest.approx(100e-6, rel=0.1)


def _with_speed(slug: str, *, read_share: float, layer_s: float) -> Measurement:
    model = model_by_slug(slug)
    tokens = 512 * 2 * model.layers * model.kv_width * 2
    read = (2 * model.read_parameters + tokens) / 1_008e9
    row = _row(slug=slug)
    return Measurement(
        line=row.line,
        id=row.id,
        task=row.task,
        method=row.method,
        metric=row.metric,
        value=1 / (read / read_share + model.layers * layer_s),
        model_slug=slug,
        gpus=1,
        source="",
        cells=row.cells,
    )


def _errors(*, metric: Metric, is_16_bits: bool | None = None) -> list[float]:
    errors = []
    for row in own_measurements().measurements:
        if row.task != "inference" or row.metric is not metric:
            continue
        run = serving_run(row)
        if is_16_bits is None or is_16_bits == run.job.weights.is_16_bits_or_wider:
            errors.append(abs(estimate_of(run) / row.value - 1))
    return errors


@pytest.mark.parametrize(
    ("metric", "is_16_bits", "middle", "rows"),
    [
        (Metric.PEAK_MEMORY, True, 0.01, 40),
        (Metric.PEAK_MEMORY, False, 0.03, 40),
        (Metric.DECODE_SPEED, None, 0.15, 100),
        (Metric.PREFILL_SPEED, None, 0.25, 20),
    ],
)
def test_half_of_the_measured_rows_are_within_the_tolerance_of_their_class(
    metric: Metric, is_16_bits: bool | None, middle: float, rows: int
) -> None:
    errors = _errors(metric=metric, is_16_bits=is_16_bits)

    assert len(errors) >= rows
    assert median(errors) <= middle


def test_no_estimate_of_memory_is_off_by_more_than_a_fifth() -> None:
    assert max(_errors(metric=Metric.PEAK_MEMORY)) <= 0.2
    assert max(_errors(metric=Metric.PEAK_MEMORY_TOTAL)) <= 0.2
