"""The terms of an estimate as a page stacks and explains them: five colours, each with a meaning."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from types import MappingProxyType
from typing import Final

from django.utils.translation import gettext_lazy as _

from catalog.calculator.choices import Words
from catalog.calculator.reading import Job
from sizing.estimates import Estimate, Part
from sizing.serving.explain import explain_serving
from sizing.training.explain import explain_training
from sizing.training.job import TrainingJob
from sizing.units import GB

# What is kept for training shares one colour; so do keys and values when nothing is trained.
COLOURS: Final[Mapping[Part, str]] = MappingProxyType(
    {
        Part.WEIGHTS: "m1",
        Part.ADAPTERS: "m2",
        Part.GRADIENTS: "m2",
        Part.OPTIMIZER: "m2",
        Part.KV_CACHE: "m2",
        Part.ACTIVATIONS: "m3",
        Part.LOGITS: "m4",
        Part.OVERHEAD: "m5",
    }
)
NAMES: Final[Mapping[Part, Words]] = MappingProxyType(
    {
        Part.WEIGHTS: _("Weights"),
        Part.ADAPTERS: _("Adapters"),
        Part.GRADIENTS: _("Gradients"),
        Part.OPTIMIZER: _("Optimizer"),
        Part.KV_CACHE: _("Keys and values"),
        Part.ACTIVATIONS: _("Activations"),
        Part.LOGITS: _("Logits"),
        Part.OVERHEAD: _("Context and reserve"),
    }
)
_TOGETHER: Final[Mapping[tuple[Part, ...], Words]] = {
    (Part.ADAPTERS, Part.OPTIMIZER): _("Adapters and optimizer"),
    (Part.GRADIENTS, Part.OPTIMIZER): _("Gradients and optimizer"),
}
_ALL_TOGETHER: Final = _("Adapters, gradients and optimizer")


@dataclass(frozen=True, slots=True, kw_only=True)
class BarPart:
    """A piece of the bar; ``colour`` is m1 to m5 of the style sheet."""

    label: str
    size_gb: Decimal
    colour: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Formula:
    """One formula of a term: its key and numbers, which the page puts into words."""

    key: str
    values: Mapping[str, int | float | str]
    size_bytes: int
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownTerm:
    """A term with its formulas."""

    name: Words
    colour: str
    size_bytes: int
    formulas: tuple[Formula, ...]


def bar_parts(estimate: Estimate) -> list[BarPart]:
    """Return the pieces of the bar, at most five, in the order of stacking."""
    sizes: dict[str, int] = {}
    parts: dict[str, list[Part]] = {}
    for term in estimate.terms:
        colour = COLOURS[term.part]
        sizes[colour] = sizes.get(colour, 0) + term.size_bytes
        parts.setdefault(colour, []).append(term.part)
    return [
        BarPart(
            label=_together(parts[colour]),
            size_gb=Decimal(sizes[colour]) / GB,
            colour=colour,
        )
        for colour in sorted(sizes)
    ]


def _together(parts: Sequence[Part]) -> str:
    """Return one name for the parts of one colour."""
    if len(parts) == 1:
        return str(NAMES[parts[0]])
    return str(_TOGETHER.get(tuple(parts), _ALL_TOGETHER))


def shown_terms(job: Job, estimate: Estimate) -> list[ShownTerm]:
    """Return every term with the formulas that give it."""
    formulas = _formulas(job)
    return [
        ShownTerm(
            name=NAMES[term.part],
            colour=COLOURS[term.part],
            size_bytes=term.size_bytes,
            formulas=tuple(formulas.get(term.part, ())),
        )
        for term in estimate.terms
    ]


def _formulas(job: Job) -> Mapping[Part, Sequence[Formula]]:
    found: dict[Part, list[Formula]] = {}
    if isinstance(job, TrainingJob):
        for each in explain_training(job):
            formula = Formula(
                key=each.key, values=each.values, size_bytes=each.size_bytes, share=each.share
            )
            found.setdefault(each.part, []).append(formula)
        return found
    for one in explain_serving(job):
        formula = Formula(
            key=f"serving_{one.part.value}", values=one.values, size_bytes=one.size_bytes, share=1.0
        )
        found.setdefault(one.part, []).append(formula)
    return found
