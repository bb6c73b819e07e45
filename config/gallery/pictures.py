"""The pictures of the gallery: with many values, few and none."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from django.utils.translation import gettext as _

from catalog.calculator.terms import BarPart
from config.templatetags import formats, memory_pictures, pictures

# Invented figures, the same on every view: the page is photographed.
BEGIN = datetime(2026, 11, 24, tzinfo=UTC)
BIDS = ((2_800_000, 6), (2_750_000, 4), (2_700_000, 6), (2_600_000, 16), (2_400_000, 8))
ASKS = ((2_880_000, 2), (2_920_000, 8), (2_950_000, 4), (3_050_000, 16), (3_200_000, 8))
WEEK, MONTH = 7 * 24, 30 * 24
# Hours without a sale, of each week.
QUIET = frozenset({40, 41, 42, 90, 92})

Named = tuple[str, str, Mapping[str, object]]


@dataclass(frozen=True, slots=True)
class SampleHour:
    """An hour of trade that never was."""

    hour_starts_at: datetime
    average_price_micro: int
    gpu_hours: int


def sample_hours(count: int) -> Iterator[SampleHour]:
    """Return ``count`` hours, those without a sale left out; prices swing by a fixed rule."""
    for number in range(count):
        if number % WEEK not in QUIET:
            price_micro = 2_760_000 + 1_000 * (number * 7 % 90) + 400 * number
            yield SampleHour(BEGIN + timedelta(hours=number), price_micro, 3 + number * 5 % 17)


def _memory(state: str, capacity_gb: int) -> Callable[[], Named]:
    def picture() -> Named:
        parts = [
            (_("Weights"), Decimal("5.2")),
            (_("Adapters"), Decimal("0.4")),
            (_("Activations"), Decimal("3.1")),
            (_("Logits"), Decimal("2.6")),
            (_("Context"), Decimal("1.2")),
        ]
        label = _("Memory of a sample model.")
        return "memory_bar", state, pictures.memory_bar(parts, capacity_gb, label)

    return picture


def _lines(state: str, factor: int) -> Callable[[], Named]:
    def picture() -> Named:
        parts = [
            BarPart(label=_("Weights"), size_gb=Decimal("5.2") * factor, colour="m1"),
            BarPart(label=_("Activations"), size_gb=Decimal("3.1") * factor, colour="m3"),
            BarPart(label=_("Logits"), size_gb=Decimal("2.6") * factor, colour="m4"),
        ]
        low, high = Decimal("9.8") * factor, Decimal("12.4") * factor
        return "card_lines", state, memory_pictures.card_lines(parts, low, high)

    return picture


def _spark(state: str, *values: int | None) -> Callable[[], Named]:
    def picture() -> Named:
        label = _("Price of a sample model.")
        return "sparkline", state, pictures.sparkline(values, label)

    return picture


def _bars(state: str, *names: str) -> Callable[[], Named]:
    def picture() -> Named:
        sizes = (3_350, 1_792, 1_008)
        rows = [
            (name, Decimal(size), formats.bandwidth(size))
            for name, size in zip(names, sizes, strict=False)
        ]
        return "bar_rows", state, pictures.bar_rows(rows, _("Bandwidth of sample models."), "GB/s")

    return picture


def _depth(
    state: str, bids: tuple[tuple[int, int], ...], asks: tuple[tuple[int, int], ...]
) -> Callable[[], Named]:
    def picture() -> Named:
        label = _("Book of a sample model.")
        return "depth", state, pictures.depth(bids, asks, "USD", label)

    return picture


def _chart(state: str, hours: int, *links: tuple[str, str, bool]) -> Callable[[], Named]:
    def picture() -> Named:
        label = _("Price of a sample model.") + f" {state}"
        shown = list(sample_hours(hours))
        return "price_chart", state, pictures.price_chart(shown, "USD", label, links)

    return picture


PICTURES = (
    _memory("capacity_gb=24", 24),
    _memory("capacity_gb=15", 15),
    _memory("capacity_gb=12", 12),
    _lines("high_gb=12.4", 1),
    _lines("high_gb=74.4", 6),
    _lines("high_gb=372", 30),
    _spark("values=12, …", 12, 14, 13, 17, 16, 19, 18, 22),
    _spark("values=12, None, …", 12, 14, None, 17, 15, None, 13, 11),
    _spark("values=12", 12),
    _spark("values="),
    _bars("rows=3", "H100 SXM", "RTX 5090", "RTX 4090"),
    _bars("rows=0"),
    _depth("bids asks", BIDS, ASKS),
    _depth("asks", (), ASKS),
    _depth("", (), ()),
    _chart("hours=168", WEEK, ("24 h", "#24", False), ("7 d", "#168", True)),
    _chart("hours=720", MONTH),
    _chart("hours=1", 1),
    _chart("hours=0", 0),
)
