"""Stated figures about training, each computed by the engine and held against what is stated.

Articles state bytes a parameter, shares and growth without naming the recipe. Each case says what
is stated, what the engine computes, and with which recipes the two agree.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cache
from types import MappingProxyType
from typing import Final, NamedTuple

from sizing.capacity import indicative_capacity
from sizing.cards import all_cards
from sizing.csv_tables import table_rows
from sizing.estimates import Part
from sizing.shapes.architecture import LanguageModel
from sizing.shapes.language_models import all_language_models
from sizing.training.choices import (
    ALL_LINEAR,
    QUERIES_AND_VALUES,
    RECIPES,
    Attention,
    Method,
    Target,
)
from sizing.training.constants import training_constants
from sizing.training.job import TrainingJob, with_recipe
from sizing.training.memory import estimate_training, peak_of

SEVEN_BILLION: Final = "llama-2-7b-hf"
SEVENTY_BILLION: Final = "llama-2-70b-hf"
SHORT_TOKENS: Final = 2_048
LONG_TOKENS: Final = 8_192
# Between steps of accumulation the gradients of the adapters stay, no more.
ALMOST: Final = 1.05


@dataclass(frozen=True, slots=True, kw_only=True)
class SeedFigure:
    """A stated figure. ``stated`` and ``computed`` have the same meaning, told by ``unit``.

    ``recipes`` are those with which the engine agrees, dearest first; empty where no recipe is
    involved. ``is_true`` is the engine's answer, for at least one recipe where there are any.
    """

    key: str
    facts: tuple[int, ...]
    statement: str
    unit: str
    stated: tuple[float, ...]
    computed: tuple[float, ...]
    recipes: tuple[str, ...]
    is_true: bool


class StateBytes(NamedTuple):
    """Bytes a parameter that training holds beside activations."""

    weights: float
    gradients: float
    optimizer: float

    @property
    def total(self) -> float:
        return sum(self)


@cache
def seed_figures() -> MappingProxyType[str, SeedFigure]:
    """Return every stated figure with what the engine computes, by key."""
    return MappingProxyType({figure.key: figure for figure in _figures()})


@cache
def state_bytes(letter: str) -> StateBytes:
    """Return what a recipe holds for each parameter, rounded to the tenth of a byte."""
    model = _model(SEVEN_BILLION)
    job = with_recipe(TrainingJob(model=model, method=Method.FULL), RECIPES[letter])
    shares = peak_of(job, constants=training_constants()).shares
    return StateBytes(
        *(
            round(size_bytes / model.parameters, 1)
            for size_bytes in (shares.weights, shares.gradients, shares.optimizer)
        )
    )


def _figures() -> Iterable[SeedFigure]:
    yield _of_recipes(
        key="full-7b-parts",
        facts=(36,),
        statement="7B trained whole: about 14 GB of weights, 14 of gradients, 56 of Adam's states",
        unit="GB",
        stated=(14, 14, 56),
        computed=lambda states: tuple(7 * each for each in states),
    )
    yield _of_recipes(
        key="full-16-bytes",
        facts=(23,),
        statement="training every weight takes about 16 bytes a parameter",
        unit="bytes per parameter",
        stated=(16,),
        computed=lambda states: (states.total,),
    )
    yield _of_recipes(
        key="adam-twice-weights",
        facts=(33,),
        statement="the states of Adam take about twice the weights",
        unit="times the weights",
        stated=(2,),
        computed=lambda states: (states.optimizer / states.weights,),
    )
    yield _frozen(Method.LORA, key="lora-2-bytes", facts=(17,), stated=2.0)
    yield _frozen(Method.QLORA, key="qlora-below-1-byte", facts=(18, 42), stated=1.0)
    yield _trainable_share()
    yield _longer_weights()
    yield _longer_memory()
    yield _activations_by_length(Attention.FLASH, key="activations-fused")
    yield _activations_by_length(Attention.EAGER, key="activations-written-scores")
    yield _accumulation()
    yield _indicative_table()


def _of_recipes(
    *,
    key: str,
    facts: tuple[int, ...],
    statement: str,
    unit: str,
    stated: tuple[float, ...],
    computed: Callable[[StateBytes], tuple[float, ...]],
) -> SeedFigure:
    """Compute a figure with each recipe; the first that agrees is shown, else the classic one."""
    by_letter = {letter: computed(state_bytes(letter)) for letter in RECIPES}
    agreeing = tuple(letter for letter, figures in by_letter.items() if _agree(figures, stated))
    return SeedFigure(
        key=key,
        facts=facts,
        statement=statement,
        unit=unit,
        stated=stated,
        computed=by_letter[agreeing[0] if agreeing else "C"],
        recipes=agreeing,
        is_true=bool(agreeing),
    )


def _agree(computed: tuple[float, ...], stated: tuple[float, ...]) -> bool:
    return all(round(one) == round(other) for one, other in zip(computed, stated, strict=True))


def _frozen(method: Method, *, key: str, facts: tuple[int, ...], stated: float) -> SeedFigure:
    """Bytes a parameter of frozen weights: about 2 with LoRA, well below 1 with QLoRA."""
    model = _model(SEVEN_BILLION)
    estimate = estimate_training(TrainingJob(model=model, method=method))
    per_parameter = estimate.part_bytes(Part.WEIGHTS) / model.parameters
    is_lora = method is Method.LORA
    words = "take about 2 bytes" if is_lora else "take well below 1 byte"
    return SeedFigure(
        key=key,
        facts=facts,
        statement=f"frozen weights of {'LoRA' if is_lora else 'QLoRA'} {words} a parameter",
        unit="bytes per parameter",
        stated=(stated,),
        computed=(per_parameter,),
        recipes=(),
        is_true=_agree((per_parameter,), (stated,)) if is_lora else per_parameter < stated,
    )


def _trainable_share() -> SeedFigure:
    """From the fewest to the most parameters that usual settings train."""
    shares = tuple(
        100 * trainable_share(_model(slug), rank=rank, targets=targets)
        for slug, rank, targets in (
            (SEVENTY_BILLION, 8, QUERIES_AND_VALUES),
            (SEVEN_BILLION, 8, QUERIES_AND_VALUES),
            (SEVENTY_BILLION, 16, ALL_LINEAR),
            (SEVEN_BILLION, 16, ALL_LINEAR),
            (SEVEN_BILLION, 64, ALL_LINEAR),
        )
    )
    least, most = 0.1, 1.0
    return SeedFigure(
        key="lora-trainable-share",
        facts=(41,),
        statement="LoRA trains 0.1 to 1 % of the parameters",
        unit="%",
        stated=(least, most),
        computed=shares,
        recipes=(),
        is_true=all(least <= share <= most for share in shares),
    )


def trainable_share(model: LanguageModel, *, rank: int, targets: tuple[Target, ...]) -> float:
    """Return the parameters of LoRA's factors over those of the model."""
    estimate = estimate_training(
        TrainingJob(model=model, method=Method.LORA, lora_rank=rank, lora_targets=targets)
    )
    return estimate.part_bytes(Part.ADAPTERS) / ADAPTER_BYTES / model.parameters


# Adapters are kept in fp32 by default.
ADAPTER_BYTES: Final = 4


def _longer_weights() -> SeedFigure:
    short, long = (_lora_part(Part.WEIGHTS, tokens) for tokens in (SHORT_TOKENS, LONG_TOKENS))
    return SeedFigure(
        key="longer-texts-same-weights",
        facts=(44,),
        statement="2,048 or 8,192 tokens make no difference to the weights",
        unit="times",
        stated=(1,),
        computed=(long / short,),
        recipes=(),
        is_true=long == short,
    )


def _longer_memory() -> SeedFigure:
    short, long = (
        estimate_training(_lora_job(sequence_tokens=tokens)).peak_bytes
        for tokens in (SHORT_TOKENS, LONG_TOKENS)
    )
    return SeedFigure(
        key="longer-texts-more-memory",
        facts=(19, 44),
        statement="8,192 tokens instead of 2,048 clearly raise the memory of training",
        unit="times",
        stated=(1,),
        computed=(long / short,),
        recipes=(),
        is_true=long > short,
    )


def _activations_by_length(attention: Attention, *, key: str) -> SeedFigure:
    """Activations at four times the length: fourfold where no scores are written, else more."""
    short, long = (
        _activations(_lora_job(sequence_tokens=tokens, attention=attention))
        for tokens in (SHORT_TOKENS, LONG_TOKENS)
    )
    is_fused = attention is not Attention.EAGER
    ratio = LONG_TOKENS / SHORT_TOKENS
    return SeedFigure(
        key=key,
        facts=(19, 43),
        statement="activations grow linearly with the length"
        if is_fused
        else "activations grow with the square of the length in attention",
        unit="times, for four times the length",
        stated=(ratio,) if is_fused else (ratio, ratio**2),
        computed=(long / short,),
        recipes=(),
        is_true=_agree((long / short,), (ratio,)) if is_fused else ratio < long / short,
    )


def _activations(job: TrainingJob) -> int:
    return estimate_training(job).part_bytes(Part.ACTIVATIONS)


def _accumulation() -> SeedFigure:
    """Reach an effective batch of eight at once or in eight steps."""
    at_once = estimate_training(replace(_lora_job(), micro_batch=8)).peak_bytes
    in_steps = estimate_training(replace(_lora_job(), accumulation=8)).peak_bytes
    one = estimate_training(_lora_job()).peak_bytes
    return SeedFigure(
        key="accumulation",
        facts=(45,),
        statement="steps of accumulation give back the batch almost without its memory",
        unit="times the memory of one text",
        stated=(1,),
        computed=(in_steps / one, at_once / one),
        recipes=(),
        is_true=in_steps <= ALMOST * one < at_once,
    )


def _indicative_table() -> SeedFigure:
    """How many of the table's 18 cells the indicative rule gives."""
    right = 0
    rows = table_rows("seed_table.csv")
    for row in rows:
        card = all_cards()[row["card"]]
        capacity = indicative_capacity(slug=card.slug, memory_gb=card.memory_gb)
        right += capacity.qlora_b == int(row["qlora_b"])
        right += capacity.lora16_b == int(row["lora16_b"])
    return SeedFigure(
        key="indicative-table",
        facts=tuple(range(3, 12)),
        statement="nine cards and the largest base model of each, with QLoRA and with LoRA",
        unit="cells",
        stated=(2 * len(rows),),
        computed=(right,),
        recipes=(),
        is_true=right == 2 * len(rows),
    )


def _lora_job(
    *, sequence_tokens: int = SHORT_TOKENS, attention: Attention = Attention.FLASH
) -> TrainingJob:
    return TrainingJob(
        model=_model(SEVEN_BILLION),
        method=Method.LORA,
        sequence_tokens=sequence_tokens,
        attention=attention,
    )


def _lora_part(part: Part, tokens: int) -> int:
    return estimate_training(_lora_job(sequence_tokens=tokens)).part_bytes(part)


def _model(slug: str) -> LanguageModel:
    return all_language_models()[slug]
