"""Answers as plain values, for JSON: the same shape on the command line and over the API.

Sizes are bytes, times hours, rates tokens per second or hour. Money is a decimal text in the
currency of the prices that were given. What is not known, or not on offer, is null.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from decimal import ROUND_HALF_UP, Decimal
from typing import Any, Final

from sizing.capacity import (
    BYTES_TENTHS_PER_PARAMETER,
    COARSE_FROM_B,
    COARSE_STEP_B,
    MEMORY_SHARE_PERCENT,
    Capacity,
)
from sizing.cards import Card
from sizing.estimates import MARGIN_PERCENT, Estimate
from sizing.plain.jobs import job_values
from sizing.plain.places import MICRO_PER_UNIT
from sizing.planning.backwards import backwards
from sizing.planning.changes import smallest_change
from sizing.planning.placing import Job, Placed, place
from sizing.planning.ranking import Ranked
from sizing.planning.work import Interval, training_tokens_per_hour
from sizing.serving.explain import explain_serving
from sizing.serving.job import ServingJob
from sizing.serving.memory import estimate_serving
from sizing.serving.peaks import UnknownPeakError
from sizing.serving.speed import Speed, decode_speed, decode_throughput, prefill_speed
from sizing.shapes.architecture import LanguageModel
from sizing.shapes.assumptions import Assumption
from sizing.training.explain import FORMULAS, explain_training
from sizing.training.memory import estimate_training

Say = Callable[[Assumption], str]
_CENT: Final = Decimal("0.01")
_THOUSANDTH: Final = Decimal("0.001")
# Digits that a rate or a time is told with; its interval is far wider.
_RATE_DIGITS: Final = 4


def estimate_of(job: Job) -> Estimate:
    return estimate_serving(job) if isinstance(job, ServingJob) else estimate_training(job)


def job_object(job: Job, *, say: Say = str) -> dict[str, Any]:
    """Return the job by the fields that give it again, and its model."""
    return {"job": job_values(job), "model": model_object(job.model, say=say)}


def model_object(model: LanguageModel, *, say: Say = str) -> dict[str, Any]:
    return {
        "slug": model.slug or None,
        "name": model.name,
        "parameters": model.parameters,
        "active_parameters": model.active_parameters,
        "source": model.source or None,
        "assumptions": [{"key": each.key, "text": say(each)} for each in model.assumptions],
    }


def estimate_object(job: Job, *, say: Say = str) -> dict[str, Any]:
    """Return the estimate of a job with its terms and the formula of each."""
    estimate = estimate_of(job)
    return (
        job_object(job, say=say)
        | _peak(estimate)
        | {
            "terms": _terms(estimate),
            "formulas": formula_objects(job),
            "left_out": list(estimate.left_out),
        }
    )


def formula_objects(job: Job) -> list[dict[str, Any]]:
    """Return each formula with the figures in it and what it gives on one card."""
    if isinstance(job, ServingJob):
        return [
            _formula(each.part.value, each.formula, each.values, each.size_bytes, share=1.0)
            for each in explain_serving(job)
        ]
    return [
        _formula(each.part.value, FORMULAS[each.key], each.values, each.size_bytes, each.share)
        for each in explain_training(job)
    ]


def fit_object(job: Job, cards: Iterable[Card], *, gpus: int, say: Say = str) -> dict[str, Any]:
    """Return the verdict on each card."""
    rows = [placed_object(place(job, card, gpus=gpus)) for card in cards]
    return job_object(job, say=say) | {"margin_percent": MARGIN_PERCENT, "cards": rows}


def whole_fit_object(
    job: Job, cards: Iterable[Card], *, gpus: int, say: Say = str
) -> dict[str, Any]:
    """Return the verdict on each card, with what would fit, how fast it is, and what it holds."""
    rows = [_whole_placed(job, card, gpus=gpus) for card in cards]
    return job_object(job, say=say) | {"margin_percent": MARGIN_PERCENT, "cards": rows}


def placed_object(placed: Placed) -> dict[str, Any]:
    return {
        "card": placed.card.slug,
        "name": placed.card.name,
        "memory_bytes": placed.card.memory_bytes,
        "gpus": placed.gpus,
        "working_gpus": placed.working,
        "split": placed.split.value,
        "verdict": placed.verdict.value,
        **_peak(placed.estimate),
        "missing_bytes": placed.missing_bytes,
    }


def ranked_object(rows: Sequence[Ranked], *, job: Job, say: Say = str) -> dict[str, Any]:
    """Return the ranking, best first."""
    return job_object(job, say=say) | {
        "margin_percent": MARGIN_PERCENT,
        "rows": [_ranked(row) for row in rows],
    }


def capacity_object(capacities: Iterable[Capacity]) -> dict[str, Any]:
    """Return the indicative capacity of cards, and the rule."""
    return {"rule": capacity_rule(), "cards": [asdict(capacity) for capacity in capacities]}


def capacity_rule() -> dict[str, Any]:
    return {
        "memory_share_percent": MEMORY_SHARE_PERCENT,
        "bytes_per_parameter": {
            method.value: tenths / 10 for method, tenths in BYTES_TENTHS_PER_PARAMETER.items()
        },
        "rounding": (
            f"down to a whole number below {COARSE_FROM_B}, "
            f"to a multiple of {COARSE_STEP_B} from {COARSE_FROM_B} up"
        ),
        "unit": "billions of parameters",
    }


def money_text(micro: float | None) -> str | None:
    """Return an amount with two decimals, three where the third is not zero."""
    if micro is None:
        return None
    amount = (Decimal(round(micro)) / MICRO_PER_UNIT).quantize(_THOUSANDTH, ROUND_HALF_UP)
    cents = amount.quantize(_CENT, ROUND_HALF_UP)
    return str(cents if cents == amount else amount)


def _peak(estimate: Estimate) -> dict[str, Any]:
    return {
        "peak_bytes": estimate.peak_bytes,
        "low_bytes": estimate.low_bytes,
        "high_bytes": estimate.high_bytes,
        "host_bytes": estimate.host_bytes,
    }


def _terms(estimate: Estimate) -> list[dict[str, Any]]:
    return [
        {"part": term.part.value, "size_bytes": term.size_bytes}
        for term in estimate.terms
        if term.size_bytes
    ]


def _formula(
    part: str, formula: str, values: Mapping[str, object], size_bytes: int, share: float
) -> dict[str, Any]:
    return {
        "part": part,
        "formula": formula,
        "values": {name: _digits(value) for name, value in values.items()},
        "share": round(share, _RATE_DIGITS),
        "size_bytes": size_bytes,
    }


def _digits(value: object) -> object:
    return round(value, _RATE_DIGITS) if isinstance(value, float) else value


def _whole_placed(job: Job, card: Card, *, gpus: int) -> dict[str, Any]:
    placed = place(job, card, gpus=gpus)
    return placed_object(placed) | {
        "terms": _terms(placed.estimate),
        "change": _change(job, card, gpus=gpus),
        "speed": _speed(placed),
        "backwards": backwards(job, card, gpus=gpus)._asdict(),
    }


def _change(job: Job, card: Card, *, gpus: int) -> dict[str, Any] | None:
    change = smallest_change(job, card, gpus=gpus)
    if change is None:
        return None
    return {
        "key": change.key,
        "values": {name: _plain(value) for name, value in change.values},
        "job": job_values(change.placed.job),
        **placed_object(change.placed),
    }


def _plain(value: int | str) -> int | str:
    """Return the text of an enumeration's member as a plain one."""
    return value if isinstance(value, int) else str(value)


def _speed(placed: Placed) -> dict[str, Any]:
    job, card = placed.job, placed.card
    try:
        if not isinstance(job, ServingJob):
            speed = training_tokens_per_hour(job, card, gpus=placed.gpus)
            return {"training_tokens_per_hour": interval_object(speed)}
        prompts = _rate(prefill_speed(job, card))
    except UnknownPeakError:
        prompts = None
    if not isinstance(job, ServingJob):
        return {"training_tokens_per_hour": None}
    return {
        "tokens_per_s_of_each_request": _rate(decode_speed(job, card)),
        "tokens_per_s_of_all_requests": _rate(decode_throughput(job, card)),
        "prompt_tokens_per_s": prompts,
    }


def _rate(speed: Speed) -> dict[str, Any]:
    rates = Interval(speed.low_tokens_per_s, speed.tokens_per_s, speed.high_tokens_per_s)
    return interval_object(rates) | {"measured_rows": speed.rows}


def interval_object(interval: Interval) -> dict[str, Any]:
    return {name: float(f"{value:.{_RATE_DIGITS}g}") for name, value in interval._asdict().items()}


def _ranked(row: Ranked) -> dict[str, Any]:
    price = row.price_micro
    total = row.total_micro
    return placed_object(row.placed) | {
        "price_per_gpu_hour": None if price is None else money_text(price / row.placed.gpus),
        "price_per_hour": money_text(price),
        "hours": None if row.hours is None else interval_object(row.hours),
        "total": None
        if total is None
        else {name: money_text(value) for name, value in total._asdict().items()},
        "reasons": [reason.value for reason in row.reasons],
    }
