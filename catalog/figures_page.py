"""What articles state of training, beside what the engine computes: the page of our figures."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from types import MappingProxyType
from typing import Final
from urllib.parse import urlencode

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from catalog.calculator.choices import METHODS
from sizing.accuracy.seed_classes import Claim, SeedClass, Standing, seed_classes
from sizing.accuracy.seed_figures import SeedFigure, seed_figures
from sizing.shapes.language_models import all_language_models

Words = str | Promise

STATEMENTS: Final[Mapping[str, Words]] = MappingProxyType(
    {
        "full-7b-parts": _(
            "7B trained whole: about 14 GB of weights, 14 of gradients, 56 of Adam’s states"
        ),
        "full-16-bytes": _("Training every weight takes about 16 bytes per parameter"),
        "adam-twice-weights": _("The states of Adam take about twice the weights"),
        "lora-2-bytes": _("Frozen weights of LoRA take about 2 bytes per parameter"),
        "qlora-below-1-byte": _("Frozen weights of QLoRA take well below 1 byte per parameter"),
        "lora-trainable-share": _("LoRA trains 0.1 to 1 percent of the parameters"),
        "longer-texts-same-weights": _("2,048 or 8,192 tokens: the weights take the same"),
        "longer-texts-more-memory": _(
            "8,192 tokens instead of 2,048 clearly raise the memory of training"
        ),
        "activations-fused": _("Activations grow in proportion to the length"),
        "activations-written-scores": _(
            "Written-out attention grows with the square of the length"
        ),
        "accumulation": _("Accumulation gives the batch back almost without its memory"),
        "indicative-table": _(
            "Nine cards and the largest model of each, with QLoRA and with LoRA: 18 figures"
        ),
    }
)
UNITS: Final[Mapping[str, Words]] = MappingProxyType(
    {
        "full-7b-parts": _("GB"),
        "full-16-bytes": _("bytes per parameter"),
        "adam-twice-weights": _("times the weights"),
        "lora-2-bytes": _("bytes per parameter"),
        "qlora-below-1-byte": _("bytes per parameter"),
        "lora-trainable-share": _("percent"),
        "longer-texts-same-weights": _("times"),
        "longer-texts-more-memory": _("times"),
        "activations-fused": _("times, at four times the length"),
        "activations-written-scores": _("times, at four times the length"),
        "accumulation": _("times the memory of one text"),
        "indicative-table": _("figures"),
    }
)
CLAIMS: Final[Mapping[Claim, Words]] = MappingProxyType(
    {Claim.COMFORTABLE: _("comfortable"), Claim.TIGHT: _("tight"), Claim.FITS: _("fits")}
)
STANDINGS: Final[Mapping[Standing, tuple[Words, str]]] = MappingProxyType(
    {
        Standing.TRUE: (_("Holds as stated"), "ok"),
        Standing.TIGHT: (_("Holds, tight"), "tight"),
        Standing.WITH_RECIPE: (_("Holds with a leaner recipe"), "tight"),
        Standing.NOT: (_("Does not hold"), "no"),
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownFigure:
    statement: Words
    unit: Words
    computed: tuple[Decimal, ...]
    recipes: str
    is_true: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownClass:
    """A stated class of cards; ``address`` opens the calculator with the job it speaks of."""

    model_name: str
    method: Words
    cards: int
    card_gb: int
    claim: Words
    standing: Words
    kind: str
    peak_bytes: int
    recipes: str
    address: str


def shown_figures() -> list[ShownFigure]:
    return [_figure(key, figure) for key, figure in seed_figures().items() if key in STATEMENTS]


def shown_classes() -> list[ShownClass]:
    return [_class(each) for each in seed_classes().values()]


def _figure(key: str, figure: SeedFigure) -> ShownFigure:
    return ShownFigure(
        statement=STATEMENTS[key],
        unit=UNITS[key],
        computed=tuple(Decimal(f"{value:.3g}") for value in figure.computed),
        recipes=", ".join(figure.recipes),
        is_true=figure.is_true,
    )


def _class(each: SeedClass) -> ShownClass:
    standing, kind = STANDINGS[each.standing]
    recipe = {"recipe": each.chosen.recipe} if each.chosen.recipe else {}
    return ShownClass(
        model_name=all_language_models()[each.model_slug].name,
        method=METHODS[each.method],
        cards=each.cards,
        card_gb=each.card_gb,
        claim=CLAIMS[each.claim],
        standing=standing,
        kind=kind,
        peak_bytes=each.chosen.peak_bytes,
        recipes=", ".join(letter for letter in each.true_recipes if letter),
        address=urlencode(
            {"task": "training", "method": each.method.value, "model": each.model_slug} | recipe
        ),
    )
