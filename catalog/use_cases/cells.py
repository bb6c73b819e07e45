"""What a use-case table shows of one card: figures of the maker, rules and measurements."""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from catalog.queries import EIGHT_GPUS
from catalog.use_cases.rows import CaseRow
from sizing.benchmarked.diffusion import diffusion_runs
from sizing.benchmarked.rendering import (
    Basis,
    RenderScore,
    micro_per_million_samples,
    render_score,
    rt_cores,
)
from sizing.benchmarked.scientific import fluid_speeds, micro_per_tflops
from sizing.capacity import Method, indicative_parameters_b
from sizing.fits import Verdict, verdict
from sizing.inference import (
    WeightBits,
    decode_bound_tokens_per_s,
    measured_decodes,
    reference_read_bytes,
    servable_parameters_b,
)

Text = str | Promise
Value = int | Decimal | bool | Verdict | None

ESTIMATED = _("estimated, ± 30 percent")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A value, and a word under it. Without a value nobody published the figure: a dash."""

    value: Value
    note: Text = ""
    is_approximate: bool = False


CellOf = Callable[[CaseRow], Cell]


def price(case: CaseRow) -> Cell:
    return Cell(value=case.row.price_micro)


def price_of_eight(case: CaseRow) -> Cell:
    return Cell(value=case.eight_micro)


def memory(case: CaseRow) -> Cell:
    return Cell(value=case.row.gpu.memory_gb)


def memory_with_type(case: CaseRow) -> Cell:
    return Cell(value=case.row.gpu.memory_gb, note=case.row.gpu.memory_type)


def bandwidth(case: CaseRow) -> Cell:
    return Cell(value=case.row.gpu.bandwidth_gb_per_s)


def qlora(case: CaseRow) -> Cell:
    return Cell(value=case.row.capacity.qlora_b)


def lora16(case: CaseRow) -> Cell:
    return Cell(value=case.row.capacity.lora16_b)


def full(case: CaseRow) -> Cell:
    return Cell(value=case.row.capacity.full_b)


def full_on_eight(case: CaseRow) -> Cell:
    memory_bytes = case.card.memory_bytes * EIGHT_GPUS
    return Cell(value=indicative_parameters_b(memory_bytes=memory_bytes, method=Method.FULL))


def figure(name: str) -> CellOf:
    """Return the cell of one of the maker's further figures."""

    def cell(case: CaseRow) -> Cell:
        text = case.row.gpu.figures.get(name)
        return Cell(value=None if text is None else Decimal(text))

    return cell


def tensor16(case: CaseRow) -> Cell:
    """Show the FP16 rate, else the BF16 rate: tensor cores run both at the same speed."""
    fp16 = figure("fp16_dense_tflops")(case)
    return fp16 if fp16.value is not None else figure("bf16_dense_tflops")(case)


def served_at(bits: WeightBits) -> CellOf:
    """Return the cell of the largest model whose weights are stored in ``bits``."""

    def cell(case: CaseRow) -> Cell:
        size_b = servable_parameters_b(memory_bytes=case.card.memory_bytes, bits=bits)
        return Cell(value=size_b)

    return cell


def decode_bound(case: CaseRow) -> Cell:
    bound = decode_bound_tokens_per_s(
        bandwidth_gb_per_s=case.card.bandwidth_gb_per_s, read_bytes=reference_read_bytes()
    )
    return Cell(value=bound)


def decode_measured(case: CaseRow) -> Cell:
    run = measured_decodes().get(case.card.slug)
    return Cell(value=run.tokens_per_second if run else None)


def verdict_on(run_key: str) -> CellOf:
    """Return the cell that judges a card by the peak of a run."""

    def cell(case: CaseRow) -> Cell:
        peak_bytes = diffusion_runs()[run_key].peak_bytes
        return Cell(value=verdict(needed_bytes=peak_bytes, memory_bytes=case.card.memory_bytes))

    return cell


def has_rt_cores(case: CaseRow) -> Cell:
    return Cell(value=rt_cores().get(case.card.slug))


def blender(case: CaseRow) -> Cell:
    score = render_score(case.card)
    if score is None:
        return Cell(value=None)
    return Cell(
        value=score.samples_per_minute.to_integral_value(),
        note=_score_note(score),
        is_approximate=score.basis == Basis.ESTIMATED,
    )


def million_samples(case: CaseRow) -> Cell:
    score, price_micro = render_score(case.card), case.row.price_micro
    if score is None or price_micro is None:
        return Cell(value=None)
    micro = micro_per_million_samples(
        price_micro=price_micro, samples_per_minute=score.samples_per_minute
    )
    return Cell(value=micro, is_approximate=score.basis == Basis.ESTIMATED)


def fluidx3d(case: CaseRow) -> Cell:
    speed = fluid_speeds().get(case.card.slug)
    return Cell(value=speed.mlups if speed else None)


def fp64_cost(case: CaseRow) -> Cell:
    tflops, price_micro = case.card.fp64_tflops, case.row.price_micro
    if tflops is None or price_micro is None:
        return Cell(value=None)
    return Cell(value=micro_per_tflops(price_micro=price_micro, tflops=tflops))


def _score_note(score: RenderScore) -> Text:
    if score.submissions is None:
        return ESTIMATED
    if score.has_few_submissions:
        return _few(score.submissions)
    return _submissions(score.submissions)


def _submissions(count: int) -> str:
    return ngettext("%(count)s submission", "%(count)s submissions", count) % {"count": count}


def _few(count: int) -> str:
    text = ngettext("only %(count)s submission", "only %(count)s submissions", count)
    return text % {"count": count}
