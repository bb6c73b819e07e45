"""Jobs that are no language model: pictures and clips, scenes, simulations.

Their blocks stand on their use-case pages and keep their values in those pages' addresses. The
engine ranks the cards; what it cannot know it leaves out, and every figure says what it rests on.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from django import forms
from django.forms import BoundField
from django.utils.translation import gettext_lazy as _

from catalog.calculator.choices import Choices, Words
from catalog.calculator.form import GROUPING
from catalog.calculator.words import VERDICTS
from catalog.fits import KINDS
from catalog.queries import GpuRow
from catalog.sizing_words import problem_text
from sizing.benchmarked.diffusion_jobs import (
    DiffusionJob,
    diffusion_models,
    estimate_diffusion,
    rank_diffusion,
)
from sizing.benchmarked.rendering_jobs import (
    Engine,
    RenderingJob,
    RenderVerdict,
    rank_rendering,
)
from sizing.benchmarked.scientific_jobs import (
    Precision,
    ScientificJob,
    rank_scientific,
)
from sizing.benchmarked.standing import Figure, Standing
from sizing.bounds import InputError
from sizing.cards import Card, all_cards
from sizing.fits import Verdict
from sizing.plain.benchmarked import BenchmarkedTask, benchmarked_job

SHOWN_ROWS: Final = 8
MICRO: Final = 10**6

STANDINGS: Final[Mapping[Standing, Words]] = MappingProxyType(
    {
        Standing.MEASURED: _("measured"),
        Standing.ESTIMATED: _("estimated"),
        Standing.INDICATIVE: _("indicative"),
    }
)
_RENDER_VERDICTS: Final[Mapping[RenderVerdict, tuple[Words, str]]] = {
    RenderVerdict.COMFORTABLE: (VERDICTS[Verdict.COMFORTABLE], "ok"),
    RenderVerdict.TIGHT: (VERDICTS[Verdict.TIGHT], "tight"),
    RenderVerdict.OUT_OF_CORE: (_("With textures on the server"), "tight"),
    RenderVerdict.NO: (VERDICTS[Verdict.NO], "no"),
}


class Box(NamedTuple):
    """A field of such a form; numbers have no choices."""

    name: str
    label: Words
    default: str
    choices: Choices = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherRow:
    """A card with what is known of the job on it; ``cost_micro`` is that of the work told."""

    card: Card
    price_micro: int | None
    word: Words
    kind: str
    value: Decimal | None
    unit: str
    standing: Words
    cost_micro: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherBlock:
    """The block of a use case: its form, and the cards that suit, cheapest work first."""

    key: str
    form: forms.Form
    boxes: tuple[BoundField, ...]
    rows: tuple[OtherRow, ...]
    needed_bytes: int | None
    needed_standing: Words


class _Ranking(NamedTuple):
    needed_bytes: int | None
    standing: Words
    rows: Iterable[OtherRow]


Prices = Mapping[str, Decimal]
Rank = Callable[[Mapping[str, str], Sequence[Card], Prices], _Ranking]

# The program that most people use, and the one of the table above it.
FIRST_MODEL: Final = "sd3-medium-diffusers"
_MODELS: Final[Choices] = {key: model.name for key, model in diffusion_models().items()}
_BITS: Final[Choices] = {"16": _("16 bits"), "8": _("8 bits"), "4": _("4 bits")}
_ENGINES: Final[Choices] = {
    Engine.CYCLES.value: "Blender Cycles",
    Engine.VRAY.value: "V-Ray",
    Engine.REDSHIFT.value: "Redshift",
    Engine.OCTANE.value: "Octane",
}
_PRECISIONS: Final[Choices] = {
    Precision.FP64.value: _("Double precision (FP64)"),
    Precision.MIXED.value: _("Molecular dynamics, mixed precision"),
    Precision.BANDWIDTH.value: _("Bound by memory bandwidth"),
}
BOXES: Final[Mapping[str, tuple[Box, ...]]] = MappingProxyType(
    {
        "image-video": (
            Box("diffusion_model", _("Model"), FIRST_MODEL, _MODELS),
            Box("bits", _("Weights"), "16", _BITS),
            Box("width_px", _("Width, pixels"), "1024"),
            Box("height_px", _("Height, pixels"), "1024"),
            Box("frames", _("Frames of a clip"), "1"),
        ),
        "rendering": (
            Box("scene_gb", _("Scene in memory, GB"), "16"),
            Box("render_engine", _("Renderer"), Engine.CYCLES.value, _ENGINES),
        ),
        "scientific": (
            Box("precision", _("What decides"), Precision.FP64.value, _PRECISIONS),
            Box("atoms", _("Atoms, for molecular dynamics"), "100000"),
        ),
    }
)


class OtherForm(forms.Form):
    """The values of the address; the engine checks them and says at the field what is wrong."""

    def __init__(self, values: Mapping[str, str], *, boxes: Sequence[Box]) -> None:
        given = {box.name: values.get(box.name, "").strip() or box.default for box in boxes}
        super().__init__(given, use_required_attribute=False)
        for box in boxes:
            words: dict[str, Any] = {"label": box.label}
            attrs = {"inputmode": "numeric", "autocomplete": "off"}
            widget = (
                forms.Select(choices=list(box.choices.items()))
                if box.choices
                else forms.TextInput(attrs=attrs)
            )
            self.fields[box.name] = forms.CharField(**words, widget=widget)

    def texts(self) -> dict[str, str]:
        return {name: GROUPING.sub("", str(self.data[name])) for name in self.fields}


def other_block(
    key: str, *, values: Mapping[str, str], rows: Iterable[GpuRow]
) -> OtherBlock | None:
    """Return the block of a use case that asks for no language model; None of another."""
    boxes = BOXES.get(key)
    if boxes is None:
        return None
    form = OtherForm(values, boxes=boxes)
    listed = [row for row in rows if row.gpu.slug in all_cards()]
    cards = [all_cards()[row.gpu.slug] for row in listed]
    prices = {
        row.gpu.slug: Decimal(row.price_micro) / MICRO
        for row in listed
        if row.price_micro is not None
    }
    try:
        ranking = _RANKS[key](form.texts(), cards, prices)
    except InputError as error:
        form.add_error(error.field if error.field in form.fields else None, problem_text(error))
        ranking = _Ranking(None, "", ())
    return OtherBlock(
        key=key,
        form=form,
        boxes=tuple(form[box.name] for box in boxes),
        rows=tuple(sorted(ranking.rows, key=_place))[:SHOWN_ROWS],
        needed_bytes=ranking.needed_bytes,
        needed_standing=ranking.standing,
    )


def _images(texts: Mapping[str, str], cards: Sequence[Card], prices: Prices) -> _Ranking:
    job = benchmarked_job(BenchmarkedTask.IMAGE_VIDEO, texts)
    assert isinstance(job, DiffusionJob)
    known = estimate_diffusion(job, cards[0]) if cards else None
    ranked = rank_diffusion(job, cards, prices)
    rows = (
        _row(
            each.slug,
            prices,
            word=VERDICTS[each.answer.verdict],
            kind=KINDS[each.answer.verdict],
            figure=each.answer.seconds,
            cost=each.cost,
        )
        for each in ranked
        if each.answer.verdict is not None
    )
    standing = STANDINGS[known.standing] if known is not None and known.standing else ""
    return _Ranking(known.peak_bytes if known else None, standing, rows)


def _scenes(texts: Mapping[str, str], cards: Sequence[Card], prices: Prices) -> _Ranking:
    job = benchmarked_job(BenchmarkedTask.RENDERING, texts)
    assert isinstance(job, RenderingJob)
    ranked = rank_rendering(job, cards, prices)
    rows = (
        _row(
            each.slug,
            prices,
            word=_RENDER_VERDICTS[each.answer.verdict][0],
            kind=_RENDER_VERDICTS[each.answer.verdict][1],
            figure=each.answer.samples_per_minute,
            cost=each.cost,
        )
        for each in ranked
    )
    needed = ranked[0].answer.needed_bytes if ranked else None
    return _Ranking(needed, STANDINGS[Standing.INDICATIVE], rows)


def _simulations(texts: Mapping[str, str], cards: Sequence[Card], prices: Prices) -> _Ranking:
    is_dynamics = texts["precision"] == Precision.MIXED
    told = {name: text for name, text in texts.items() if is_dynamics or name != "atoms"}
    job = benchmarked_job(BenchmarkedTask.SCIENTIFIC, told)
    assert isinstance(job, ScientificJob)
    rows = (
        _row(
            each.slug,
            prices,
            word=_("Suitable"),
            kind="ok",
            figure=each.answer.figure,
            cost=each.cost,
        )
        for each in rank_scientific(job, cards, prices)
    )
    return _Ranking(None, "", rows)


_RANKS: Final[Mapping[str, Rank]] = MappingProxyType(
    {"image-video": _images, "rendering": _scenes, "scientific": _simulations}
)


def _place(row: OtherRow) -> tuple[bool, bool, int]:
    """Put what has a cost first, in the engine's order; then what is on offer, the cheapest first."""
    is_costed = row.cost_micro is not None
    return not is_costed, row.price_micro is None, 0 if is_costed else row.price_micro or 0


def _row(
    slug: str,
    prices: Prices,
    *,
    word: Words,
    kind: str,
    figure: Figure | None,
    cost: Decimal | None,
) -> OtherRow:
    price = prices.get(slug)
    return OtherRow(
        card=all_cards()[slug],
        price_micro=None if price is None else int(price * MICRO),
        word=word,
        kind=kind,
        value=figure.value if figure else None,
        unit=figure.unit if figure else "",
        standing=STANDINGS[figure.standing] if figure else "",
        cost_micro=None if cost is None else int(cost * MICRO),
    )
