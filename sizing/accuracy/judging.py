"""Measurements and the estimates for the same runs.

Where the engine refuses a row, the row is counted with the engine's own sentence.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from sizing.accuracy.row_estimates import RowRefusedError, row_estimate
from sizing.measurements import INFERENCE_TASK, Measurement, Metric, NotJudged, Reason
from sizing.rivals import Run, Tuning
from sizing.shapes.language_models import all_language_models

SIXTEEN_BIT_PRECISIONS: Final = ("bf16", "fp16", "f16", "bf16-true", "bfloat16", "float16")


class Kind(StrEnum):
    """What is compared. Kinds have different terms, so their errors are never mixed."""

    TRAINING_ONE_CARD = "fine-tuning memory, one card"
    TRAINING_MANY_CARDS = "fine-tuning memory, several cards"
    INFERENCE_16_BITS = "inference memory, 16 bits"
    INFERENCE_QUANTIZED = "inference memory, quantized"
    DECODE_SPEED = "decode speed"
    PREFILL_SPEED = "prefill speed"

    @property
    def task(self) -> str:
        is_training = self in {Kind.TRAINING_ONE_CARD, Kind.TRAINING_MANY_CARDS}
        return "fine-tuning" if is_training else "inference"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """A measured value and its estimates, all in bytes or all in tokens per second.

    ``left_out_estimate`` was made with constants fitted without the row's source. ``rival_run``
    is None where the published rules have no word for what was run.
    """

    id: str
    kind: Kind
    method: str
    source: str
    is_one_card: bool
    measured: float
    estimate: float
    left_out_estimate: float
    rival_run: Run | None


def kind_of(row: Measurement) -> Kind:
    if row.metric is Metric.DECODE_SPEED:
        return Kind.DECODE_SPEED
    if row.metric is Metric.PREFILL_SPEED:
        return Kind.PREFILL_SPEED
    if row.task == INFERENCE_TASK:
        is_16_bits = row.cells["precision"].lower() in SIXTEEN_BIT_PRECISIONS
        return Kind.INFERENCE_16_BITS if is_16_bits else Kind.INFERENCE_QUANTIZED
    return Kind.TRAINING_ONE_CARD if row.gpus == 1 else Kind.TRAINING_MANY_CARDS


def judged(rows: Iterable[Measurement]) -> tuple[list[Judgement], list[NotJudged]]:
    """Return the rows with their estimates, and those that the engine refuses."""
    judgements: list[Judgement] = []
    refused: list[NotJudged] = []
    for row in rows:
        try:
            judgements.append(_judgement(row))
        except RowRefusedError as error:
            refused.append(
                NotJudged(line=row.line, id=row.id, reason=Reason.NOT_ESTIMATED, detail=str(error))
            )
    return judgements, refused


def _judgement(row: Measurement) -> Judgement:
    return Judgement(
        id=row.id,
        kind=kind_of(row),
        method=row.method,
        source=row.source,
        is_one_card=row.gpus == 1 and row.metric is Metric.PEAK_MEMORY,
        measured=row.value,
        estimate=row_estimate(row),
        left_out_estimate=row_estimate(row, without_source=row.source),
        rival_run=_rival_run(row),
    )


_TUNINGS: Final = {"full": Tuning.FULL, "lora": Tuning.LORA, "qlora": Tuning.QLORA}


def _rival_run(row: Measurement) -> Run | None:
    """Return the run as the published rules see it; they know three methods and nothing more."""
    tuning = _TUNINGS.get(row.method.lower())
    if tuning is None or row.task == INFERENCE_TASK:
        return None
    return Run(
        model=all_language_models()[row.model_slug],
        tuning=tuning,
        sequence_tokens=int(row.cells["seq_len"]),
        micro_batch=int(row.cells["micro_batch"] or 1),
        has_checkpointing=row.cells["grad_ckpt"].lower() != "no",
        is_pure_bf16="bf16-true" in row.cells["precision"].lower(),
    )
