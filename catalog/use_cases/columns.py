"""The columns that use-case tables choose from, by key: what each shows, and what that rests on.

Every figure is the maker's, a live offer, a measurement with its source, or follows a named rule
of ``sizing``; the head of each column says which.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum

from django.utils.translation import gettext_lazy as _

from catalog.content.use_cases import columns_of
from catalog.use_cases import cells
from catalog.use_cases.cells import CellOf, Text
from sizing.benchmarked.diffusion import diffusion_runs
from sizing.benchmarked.rendering import measured_scores, rt_core_sources
from sizing.benchmarked.scientific import fluid_speeds
from sizing.csv_tables import Source
from sizing.inference import WeightBits, measured_decodes


class Kind(StrEnum):
    """How a cell is written."""

    PRICE = "price"
    GIGABYTES = "gigabytes"
    BANDWIDTH = "bandwidth"
    NUMBER = "number"
    BILLIONS = "billions"
    BOUND = "bound"
    YES_NO = "yes_no"
    VERDICT = "verdict"
    COST = "cost"


# Said once, above and below the table: prices are live offers, other plain figures the maker’s.
PLAIN = ""
INDICATIVE = _("indicative")
MEASURED = _("measured")
DOCUMENTED = _("documented")
UPPER_BOUND = _("upper bound")
COMPUTED = _("from the live offer")
MEASURED_OR_ESTIMATED = _("measured, else estimated")


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column: its head, what its figures rest on, and how to fill a cell."""

    key: str
    label: Text
    basis: Text
    kind: Kind
    cell: CellOf
    sources: Callable[[], tuple[Source, ...]] = tuple

    @property
    def is_number(self) -> bool:
        """Numbers stand to the right, words to the left."""
        return self.kind not in {Kind.YES_NO, Kind.VERDICT}


def columns(key: str) -> tuple[Column, ...]:
    """Return the columns of the use case ``key``, as its table declares them."""
    return tuple(_BY_KEY[name] for name in columns_of(key))


def _once(sources: Iterable[Source]) -> tuple[Source, ...]:
    return tuple(dict.fromkeys(sources))


def _run_sources(run_key: str) -> Callable[[], tuple[Source, ...]]:
    return lambda: (diffusion_runs()[run_key].source,)


def _decode_sources() -> tuple[Source, ...]:
    return _once(run.source for run in measured_decodes().values())


def _score_sources() -> tuple[Source, ...]:
    return _once(score.source for score in measured_scores().values() if score.source)


def _fluid_sources() -> tuple[Source, ...]:
    return _once(speed.source for speed in fluid_speeds().values())


_OFFERS = (
    Column(
        key="price",
        label=_("Price per hour"),
        basis=PLAIN,
        kind=Kind.PRICE,
        cell=cells.price,
    ),
    Column(
        key="price8",
        label=_("8 GPUs, per GPU and hour"),
        basis=PLAIN,
        kind=Kind.PRICE,
        cell=cells.price_of_eight,
    ),
)
_MAKERS = (
    Column(key="memory", label=_("Memory"), basis=PLAIN, kind=Kind.GIGABYTES, cell=cells.memory),
    Column(
        key="memory-type",
        label=_("Memory"),
        basis=PLAIN,
        kind=Kind.GIGABYTES,
        cell=cells.memory_with_type,
    ),
    Column(
        key="bandwidth",
        label=_("Bandwidth"),
        basis=PLAIN,
        kind=Kind.BANDWIDTH,
        cell=cells.bandwidth,
    ),
    Column(
        key="nvlink",
        label="NVLink",
        basis=PLAIN,
        kind=Kind.BANDWIDTH,
        cell=cells.figure("nvlink_gb_per_s"),
    ),
    Column(
        key="bf16",
        label=_("BF16 tensor, TFLOPS"),
        basis=PLAIN,
        kind=Kind.NUMBER,
        cell=cells.figure("bf16_dense_tflops"),
    ),
    Column(
        key="tensor16",
        label=_("16-bit tensor, TFLOPS"),
        basis=PLAIN,
        kind=Kind.NUMBER,
        cell=cells.tensor16,
    ),
    Column(
        key="fp32",
        label=_("FP32, TFLOPS"),
        basis=PLAIN,
        kind=Kind.NUMBER,
        cell=cells.figure("fp32_tflops"),
    ),
    Column(
        key="fp64",
        label=_("FP64, TFLOPS"),
        basis=PLAIN,
        kind=Kind.NUMBER,
        cell=cells.figure("fp64_tflops"),
    ),
    Column(
        key="rt-cores",
        label=_("RT cores"),
        basis=PLAIN,
        kind=Kind.YES_NO,
        cell=cells.has_rt_cores,
        sources=rt_core_sources,
    ),
)
_RULES = (
    Column(
        key="qlora",
        label=_("QLoRA, base model"),
        basis=INDICATIVE,
        kind=Kind.BILLIONS,
        cell=cells.qlora,
    ),
    Column(
        key="lora16",
        label=_("16-bit LoRA, base model"),
        basis=INDICATIVE,
        kind=Kind.BILLIONS,
        cell=cells.lora16,
    ),
    Column(
        key="full",
        label=_("Full training, 1 GPU"),
        basis=INDICATIVE,
        kind=Kind.BILLIONS,
        cell=cells.full,
    ),
    Column(
        key="full8",
        label=_("Full training, 8 GPUs"),
        basis=INDICATIVE,
        kind=Kind.BILLIONS,
        cell=cells.full_on_eight,
    ),
    Column(
        key="serve16",
        label=_("Model in 16 bits"),
        basis=INDICATIVE,
        kind=Kind.BILLIONS,
        cell=cells.served_at(WeightBits.SIXTEEN),
    ),
    Column(
        key="serve8",
        label=_("Model in 8 bits"),
        basis=INDICATIVE,
        kind=Kind.BILLIONS,
        cell=cells.served_at(WeightBits.EIGHT),
    ),
    Column(
        key="serve4",
        label=_("Model in 4 bits"),
        basis=INDICATIVE,
        kind=Kind.BILLIONS,
        cell=cells.served_at(WeightBits.FOUR),
    ),
    Column(
        key="decode-bound",
        label=_("8B model, tokens/s"),
        basis=UPPER_BOUND,
        kind=Kind.BOUND,
        cell=cells.decode_bound,
    ),
    Column(
        key="million-samples",
        label=_("Price of a million samples"),
        basis=COMPUTED,
        kind=Kind.COST,
        cell=cells.million_samples,
    ),
    Column(
        key="fp64-cost",
        label=_("Price per FP64 TFLOPS and hour"),
        basis=COMPUTED,
        kind=Kind.COST,
        cell=cells.fp64_cost,
    ),
)
_MEASUREMENTS = (
    Column(
        key="decode-measured",
        label=_("8B model, tokens/s"),
        basis=MEASURED,
        kind=Kind.NUMBER,
        cell=cells.decode_measured,
        sources=_decode_sources,
    ),
    Column(
        key="blender",
        label=_("Blender, samples per minute"),
        basis=MEASURED_OR_ESTIMATED,
        kind=Kind.NUMBER,
        cell=cells.blender,
        sources=_score_sources,
    ),
    Column(
        key="fluidx3d",
        label=_("FluidX3D in FP32, MLUPS"),
        basis=MEASURED,
        kind=Kind.NUMBER,
        cell=cells.fluidx3d,
        sources=_fluid_sources,
    ),
    Column(
        key="run-sd3",
        label=_("SD3 Medium, 16 bits, diffusers"),
        basis=MEASURED,
        kind=Kind.VERDICT,
        cell=cells.verdict_on("sd3-medium-16"),
        sources=_run_sources("sd3-medium-16"),
    ),
    Column(
        key="run-flux",
        label=_("FLUX.1, 16 bits, diffusers"),
        basis=DOCUMENTED,
        kind=Kind.VERDICT,
        cell=cells.verdict_on("flux-16"),
        sources=_run_sources("flux-16"),
    ),
    Column(
        key="run-wan",
        label=_("Wan2.1 14B video, 720p"),
        basis=MEASURED,
        kind=Kind.VERDICT,
        cell=cells.verdict_on("wan21-t2v-14b"),
        sources=_run_sources("wan21-t2v-14b"),
    ),
)
_BY_KEY = {column.key: column for column in (*_OFFERS, *_MAKERS, *_RULES, *_MEASUREMENTS)}
