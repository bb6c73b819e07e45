"""Results as rows of the table of measurements.

The value of a memory row is the peak that published figures of its kind mean: for training, all
that the run added to the card; for inference, the tensors while it writes, after the prompt. The
note says which, and gives the others and the versions.
"""

import csv
import io
from collections.abc import Iterable
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from sizing.measure.results import Outcome, Result
from sizing.measure.runs import MeasuredRun, Targets, Work, run_of
from sizing.measurements import COLUMNS, INFERENCE_TASK, Metric

OWN_SOURCE: Final = "own measurement"
METHOD_NAMES: Final = MappingProxyType({Work.FULL: "full", Work.LORA: "LoRA", Work.QLORA: "QLoRA"})
TARGET_WORDS: Final = MappingProxyType(
    {
        Targets.QUERY_VALUE: "query,value",
        Targets.ATTENTION: "attention",
        Targets.ALL_LINEAR: "all linear",
    }
)


class Peak(StrEnum):
    """Which of the measured peaks a row tells."""

    DEVICE = "device"
    RESERVED = "reserved"
    ALLOCATED = "allocated"


def rows_of(
    result: Result, *, peak: Peak | None = None, source: str = OWN_SOURCE
) -> list[dict[str, str]]:
    """Return the rows of one result: its memory, and its speeds where it wrote text.

    ``peak`` chooses another peak than the usual one. Nothing comes of a run that did not end.
    """
    if result.outcome is not Outcome.MEASURED:
        return []
    run = run_of(result.job)
    told = peak or (Peak.DEVICE if run.is_training else Peak.ALLOCATED)
    size = _size(result, told)
    rows = []
    if size is not None:
        rows.append(_row(run, result, Metric.PEAK_MEMORY, str(size), "B", told=told, source=source))
    speeds = (
        (Metric.PREFILL_SPEED, result.prefill_tokens_per_s),
        (Metric.DECODE_SPEED, result.decode_tokens_per_s),
    )
    for metric, speed in speeds:
        if speed is not None:
            value = f"{speed:.2f}"
            rows.append(_row(run, result, metric, value, "tokens/s", told=None, source=source))
    return rows


def _size(result: Result, peak: Peak) -> int | None:
    return {
        Peak.DEVICE: result.device_bytes,
        Peak.RESERVED: result.reserved_bytes,
        Peak.ALLOCATED: result.allocated_bytes,
    }[peak]


def _row(  # noqa: PLR0913  a row has this many facts
    run: MeasuredRun,
    result: Result,
    metric: Metric,
    value: str,
    unit: str,
    *,
    told: Peak | None,
    source: str,
) -> dict[str, str]:
    cells = dict.fromkeys(COLUMNS, "")
    cells |= _run_cells(run) | {
        "id": _id(run, result, metric),
        "gpu": result.gpu,
        "gpus": "1",
        "metric": metric.value,
        "value": value,
        "unit": unit,
        "source": source,
        "note": _note(run, result, told=told),
    }
    return cells


def _run_cells(run: MeasuredRun) -> dict[str, str]:
    cells = {
        "task": "fine-tuning" if run.is_training else INFERENCE_TASK,
        "model": run.model.name,
        "model_slug": run.model.slug,
        "method": METHOD_NAMES.get(run.work)
        or f"Transformers, {run.new_tokens} generated after the prompt",
        "precision": "nf4" if run.work is Work.QLORA else "bf16",
        "seq_len": str(run.sequence_tokens),
        "micro_batch": str(run.micro_batch),
        "attention": "SDPA",
    }
    if run.is_training:
        cells |= {"optimizer": "AdamW", "grad_ckpt": "yes" if run.has_checkpointing else "no"}
    if run.work in {Work.LORA, Work.QLORA}:
        cells |= {"lora_rank": str(run.lora_rank), "lora_targets": TARGET_WORDS[run.targets]}
    return cells


def _id(run: MeasuredRun, result: Result, metric: Metric) -> str:
    words = (
        "own",
        "-".join(result.gpu.lower().split()),
        run.model.slug or f"{run.model.hidden}x{run.model.layers}",
        run.work.value,
        f"{run.sequence_tokens}x{run.micro_batch}",
        metric.value,
    )
    return "/".join(words)


def _note(run: MeasuredRun, result: Result, *, told: Peak | None) -> str:
    sizes = (
        ("allocated", result.allocated_bytes),
        ("reserved", result.reserved_bytes),
        ("device", result.device_bytes),
        ("allocated while reading the prompt", result.prompt_bytes),
        ("others on the card before", result.others_bytes),
    )
    words = [f"value: {told.value} peak"] if told else []
    words += [f"{name} {size} B" for name, size in sizes if size is not None]
    words += [f"{name} {version}" for name, version in sorted(result.packages.items())]
    words += [f"driver {result.driver}"] if result.driver else []
    if run.work is Work.QLORA:
        words.append(
            "double quantization" if run.has_double_quantization else "single quantization"
        )
    if run.work is Work.FULL:
        words.append("weights, gradients and moments in bf16")
    if run.work in {Work.LORA, Work.QLORA}:
        words.append("adapters in fp32 under autocast")
    return "; ".join([*words, "random weights"])


def csv_text(rows: Iterable[dict[str, str]], *, has_heading: bool) -> str:
    """Return rows as lines of the table."""
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, COLUMNS, lineterminator="\n")
    if has_heading:
        writer.writeheader()
    writer.writerows(rows)
    return buffer.getvalue()
