"""Two to four GPU models side by side: which ones the address names, and how each row reads.

The address holds the choice, ``cards=a,b`` or ``cards=a&cards=b``. What it names beyond the
fourth, twice or wrongly is left out and told. In a row the best value is named when it is known
for two models at least and not the same for all; equal best values are named together.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from django.http import QueryDict
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from catalog.models import GpuModel
from catalog.queries_listed import ListedGpu

MAX_COMPARED = 4  # A fifth column does not fit beside the others on a laptop.
MAX_NAMED = 12  # Slugs of one address that are looked at: three times what can be shown.
MAX_TYPED_LENGTH = 60  # The longest slug.
PERCENT = 100
GB_PER_TB = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """The models that are compared, and what of the address was left out."""

    gpus: tuple[GpuModel, ...]
    left_over: tuple[GpuModel, ...]
    twice: tuple[GpuModel, ...]
    unknown: tuple[str, ...]

    @property
    def address_value(self) -> str:
        return ",".join(gpu.slug for gpu in self.gpus)

    def without(self, gpu: GpuModel) -> str:
        """Return the address's value when one model is taken away."""
        return ",".join(other.slug for other in self.gpus if other != gpu)


def chosen_cards(query: QueryDict, *, gpus: Iterable[GpuModel]) -> Chosen:
    """Return the models that ``query`` names, in its order."""
    known = {gpu.slug: gpu for gpu in gpus}
    texts = [text.strip() for value in query.getlist("cards") for text in value.split(",")]
    named = [text for text in texts if text][:MAX_NAMED]
    found = [known[text] for text in named if text in known]
    once = list(dict.fromkeys(found))
    unknown = dict.fromkeys(text[:MAX_TYPED_LENGTH] for text in named if text not in known)
    return Chosen(
        gpus=tuple(once[:MAX_COMPARED]),
        left_over=tuple(once[MAX_COMPARED:]),
        twice=tuple(gpu for gpu in once if found.count(gpu) > 1),
        unknown=tuple(unknown),
    )


Value = Decimal | int | str | None


@dataclass(frozen=True, slots=True)
class Cell:
    """One value of a row; ``share_percent`` is the length of its bar, none without a number."""

    value: Value
    is_best: bool
    share_percent: int | None


@dataclass(frozen=True, slots=True)
class Row:
    """A figure of all models. ``kind`` says how the template writes its values."""

    label: str | Promise
    note: str | Promise
    kind: str
    cells: tuple[Cell, ...]
    is_same: bool


@dataclass(frozen=True, slots=True)
class Group:
    label: str | Promise
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """How one row is read from a model; ``best`` is min, max or, for words, nothing."""

    label: str | Promise
    kind: str
    read: Callable[[ListedGpu], Value]
    best: Callable[[Iterable[Decimal | int]], Decimal | int] | None = None
    note: str | Promise = ""


def per_gb_micro(row: ListedGpu) -> Decimal | None:
    """Return the hourly price of one GB of memory, exact."""
    return Decimal(row.price_micro) / row.gpu.memory_gb if row.price_micro is not None else None


def per_tb_per_s_micro(row: ListedGpu) -> Decimal | None:
    """Return the hourly price of one TB/s of memory bandwidth, exact to 28 digits."""
    if row.price_micro is None:
        return None
    return Decimal(row.price_micro) * GB_PER_TB / row.gpu.bandwidth_gb_per_s


def _figure(name: str) -> Callable[[ListedGpu], Decimal | None]:
    def read(row: ListedGpu) -> Decimal | None:
        text = row.gpu.figures.get(name)
        return Decimal(text) if text else None

    return read


PRICE_FIGURES = (
    Figure(
        label=_("Price per hour"),
        note=_("1 GPU, now"),
        kind="price",
        read=lambda row: row.price_micro,
        best=min,
    ),
    Figure(
        label=_("Per GB of memory"),
        note=_("and per hour"),
        kind="price_gb",
        read=per_gb_micro,
        best=min,
    ),
    Figure(
        label=_("Per TB/s of bandwidth"),
        note=_("and per hour"),
        kind="price_tb",
        read=per_tb_per_s_micro,
        best=min,
    ),
    Figure(label=_("Open offers"), kind="number", read=lambda row: row.offers, best=max),
)
MEMORY_FIGURES = (
    Figure(label=_("Memory"), kind="gb", read=lambda row: row.gpu.memory_gb, best=max),
    Figure(
        label=_("Bandwidth"),
        kind="bandwidth",
        read=lambda row: row.gpu.bandwidth_gb_per_s,
        best=max,
    ),
    Figure(label=_("Memory type"), kind="text", read=lambda row: row.gpu.memory_type),
)
CAPACITY_FIGURES = (
    Figure(label="QLoRA", kind="billions", read=lambda row: row.capacity.qlora_b, best=max),
    Figure(
        label=_("16-bit LoRA"), kind="billions", read=lambda row: row.capacity.lora16_b, best=max
    ),
    Figure(
        label=_("Every weight"), kind="billions", read=lambda row: row.capacity.full_b, best=max
    ),
)
RATE_FIGURES = (
    Figure(label=_("BF16 tensor"), kind="tflops", read=_figure("bf16_dense_tflops"), best=max),
    Figure(label=_("FP8 tensor"), kind="tflops", read=_figure("fp8_dense_tflops"), best=max),
    Figure(label="FP32", kind="tflops", read=_figure("fp32_tflops"), best=max),
    Figure(label="FP64", kind="tflops", read=_figure("fp64_tflops"), best=max),
)
MACHINE_FIGURES = (
    Figure(
        label="NVLink",
        kind="nvlink",
        read=lambda row: Decimal(row.gpu.figures.get("nvlink_gb_per_s", 0)),
        best=max,
    ),
    Figure(label=_("Power"), kind="watts", read=_figure("tdp_w"), best=min),
    Figure(label=_("Segment"), kind="segment", read=lambda row: row.gpu.segment),
    Figure(label=_("Form factor"), kind="text", read=lambda row: row.gpu.form_factor),
    Figure(label=_("Release year"), kind="year", read=lambda row: row.gpu.release_year),
)
GROUPS: tuple[tuple[str | Promise, tuple[Figure, ...]], ...] = (
    (_("Price, excluding tax"), PRICE_FIGURES),
    (_("Memory"), MEMORY_FIGURES),
    (_("Largest base model, indicative"), CAPACITY_FIGURES),
    (_("Compute, dense rates"), RATE_FIGURES),
    (_("Machine"), MACHINE_FIGURES),
)


def compared(rows: Sequence[ListedGpu], *, only_differences: bool = False) -> list[Group]:
    """Return the table's groups; with ``only_differences`` without what is the same for all."""
    groups = []
    for label, figures in GROUPS:
        found = [_row(figure, rows) for figure in figures]
        kept = tuple(row for row in found if not (only_differences and row.is_same))
        if kept:
            groups.append(Group(label, kept))
    return groups


def winner(rows: Sequence[ListedGpu], figure: Figure) -> ListedGpu | None:
    """Return the model that alone is best at a figure."""
    best = [row for row, cell in zip(rows, _row(figure, rows).cells, strict=True) if cell.is_best]
    return best[0] if len(best) == 1 else None


def _row(figure: Figure, rows: Sequence[ListedGpu]) -> Row:
    values = [figure.read(row) for row in rows]
    numbers = [value for value in values if isinstance(value, Decimal | int)]
    is_same = len(rows) > 1 and len(set(values)) == 1
    has_best = figure.best is not None and len(numbers) > 1 and not is_same
    best = figure.best(numbers) if figure.best is not None and has_best else None
    cells = tuple(
        Cell(value, best is not None and value == best, _share(value, numbers)) for value in values
    )
    return Row(figure.label, figure.note, figure.kind, cells, is_same)


def _share(value: Value, numbers: Sequence[Decimal | int]) -> int | None:
    """Return a value's share of the row's largest, as a whole percentage."""
    largest = max(numbers, default=0)
    if not largest or not isinstance(value, Decimal | int):
        return None
    return int(value * PERCENT / largest)
