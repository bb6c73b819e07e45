"""What a card's page tells beside its market: what fits, its figures, its questions, its uses."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from django.template.loader import render_to_string
from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from billing.money import Currency
from catalog.content.use_cases import cards_of, use_case_keys
from catalog.fits import Fit, Wanted
from catalog.models import GpuModel, PublishedOffer, TradedHour
from catalog.queries_listed import ListedGpu
from sizing.fits import Job
from sizing.shapes.language_models import all_language_models

DAY = timedelta(hours=24)
NEIGHBOURS = 3  # Enough to choose from, short enough for the side of the page.
PERIODS: dict[str, tuple[str | Promise, timedelta]] = {
    "24h": (_("24 h"), DAY),
    "7d": (_("7 d"), timedelta(days=7)),
    "30d": (_("30 d"), timedelta(days=30)),
}
DEFAULT_PERIOD = "7d"
# From the smallest to the largest need, so that the verdicts change once on the way down.
WORKLOADS = (
    ("llama-3.1-8b", Job.QLORA),
    ("llama-2-13b-hf", Job.QLORA),
    ("llama-3.1-8b", Job.INFERENCE16),
    ("llama-2-7b-hf", Job.LORA16),
    ("qwen2.5-32b", Job.QLORA),
    ("llama-2-13b-hf", Job.LORA16),
    ("llama-3.1-70b", Job.QLORA),
    ("llama-2-7b-hf", Job.FULL),
    ("llama-3.1-70b", Job.INFERENCE16),
)
QUESTIONS = ("fits", "several", "nvlink", "price")


@dataclass(frozen=True, slots=True)
class Period:
    """A length of the price history: its name in the address, its words, where it begins."""

    key: str
    label: str | Promise
    starts_at: datetime
    ignored: str = ""


def chosen_period(text: str, *, now: datetime) -> Period:
    """Return the period that the address names; an unknown one is told."""
    key = text if text in PERIODS else DEFAULT_PERIOD
    label, length = PERIODS[key]
    return Period(key, label, now - length, ignored="" if text in {"", key} else text[:20])


def average_micro(hours: Iterable[TradedHour], *, since: datetime) -> int | None:
    """Return what a GPU-hour cost on average from ``since`` on, rounded half-up to a micro-unit."""
    counted = [hour for hour in hours if hour.hour_starts_at >= since]
    gpu_hours = sum(hour.gpu_hours for hour in counted)
    if not gpu_hours:
        return None
    total_micro = sum(hour.average_price_micro * hour.gpu_hours for hour in counted)
    return (2 * total_micro + gpu_hours) // (2 * gpu_hours)


def workload_fits(gpu: GpuModel) -> list[Fit]:
    """Return how well-known jobs stand to the card's memory."""
    models = all_language_models()
    return [
        Wanted(model=models[slug], job=job).on(memory_gb=gpu.memory_gb) for slug, job in WORKLOADS
    ]


def use_cases_of(gpu: GpuModel) -> list[str]:
    """Return the keys of the use cases that list the card."""
    return [key for key in use_case_keys() if gpu.slug in cards_of(key)]


def neighbours_of(row: ListedGpu, rows: Iterable[ListedGpu]) -> list[ListedGpu]:
    """Return the offered models nearest in memory; at equal distance, the cheaper first."""
    others = [r for r in rows if r.price_micro is not None and r.gpu.pk != row.gpu.pk]
    others.sort(
        key=lambda r: (abs(r.gpu.memory_gb - row.gpu.memory_gb), r.price_micro or 0, r.gpu.slug)
    )
    return others[:NEIGHBOURS]


def specs_of(gpu: GpuModel) -> list[tuple[str, Decimal | None, str]]:
    """Return the further figures: label, value, unit; None where no source was read."""
    rows = [
        ("fp16_dense_tflops", gettext("FP16 tensor"), "TFLOPS"),
        ("bf16_dense_tflops", gettext("BF16 tensor"), "TFLOPS"),
        ("fp8_dense_tflops", gettext("FP8 tensor"), "TFLOPS"),
        ("fp4_dense_tflops", gettext("FP4 tensor"), "TFLOPS"),
        ("tf32_dense_tflops", gettext("TF32 tensor"), "TFLOPS"),
        ("fp32_tflops", "FP32", "TFLOPS"),
        ("fp64_tflops", "FP64", "TFLOPS"),
        ("tdp_w", gettext("Power"), "W"),
    ]
    figures = gpu.figures
    return [
        (label, Decimal(figures[key]) if key in figures else None, unit)
        for key, label, unit in rows
    ]


def sources_of(gpu: GpuModel) -> list[tuple[str, str]]:
    """Return where each group of figures was read."""
    rows = [
        (gettext("Memory, bandwidth, power"), gpu.source_base),
        (gettext("Tensor rates"), gpu.source_tensor),
        ("NVLink", gpu.source_nvlink),
    ]
    return [(label, source) for label, source in rows if source]


def questions_of(
    row: ListedGpu, *, offers: Sequence[PublishedOffer], currency: Currency
) -> list[tuple[str, str]]:
    """Return frequent questions with their answers, as text from the card's own figures."""
    model = all_language_models()["llama-3.1-8b"]
    context = {
        "gpu": row.gpu,
        "row": row,
        "currency": currency.value,
        "most_gpus": max((offer.max_gpus for offer in offers), default=0),
        "qlora": Wanted(model=model, job=Job.QLORA).on(memory_gb=row.gpu.memory_gb),
        "lora16": Wanted(model=model, job=Job.LORA16).on(memory_gb=row.gpu.memory_gb),
    }
    return [_question(name, context) for name in QUESTIONS]


def _question(name: str, context: dict[str, object]) -> tuple[str, str]:
    """Return a question and its answer: the first line of its text, and the rest."""
    text = render_to_string(f"catalog/questions/{name}.txt", context)
    question, _, answer = text.strip().partition("\n")
    return question.strip(), " ".join(answer.split(" ")).strip()
