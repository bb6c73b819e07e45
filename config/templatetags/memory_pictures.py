"""The memory that a job needs, part by part, against the memories of cards."""

from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal
from typing import Protocol

from django import template
from django.utils.translation import gettext as _

from config.pictures.axis import share_percent
from config.templatetags import formats

register = template.Library()

# What cards have, in GB.
CARD_SIZES_GB = (24, 32, 48, 80, 96, 141)
# The bar is no shorter than this, so that a small job leaves room for every line.
LEAST_WIDTH_GB = Decimal(150)
HEADROOM = Decimal("1.06")
# Lines closer than this share of the bar would write over each other.
LEAST_GAP = Decimal("0.045")
# Beyond these shares a label stands on the inner side of its mark.
NEAR_START, NEAR_END = Decimal("0.14"), Decimal("0.84")
LABEL_END = Decimal("0.92")
ROUND_FROM_GB = 100
GB = BILLION = 10**9
MILLION = 10**6

Context = dict[str, object]


class BarPart(Protocol):
    """A piece of the bar; ``colour`` is m1 to m5 of the style sheet."""

    @property
    def label(self) -> str: ...

    @property
    def size_gb(self) -> Decimal: ...

    @property
    def colour(self) -> str: ...


def short_gb(value: Decimal) -> Decimal:
    """Round a size as it is shown: a tenth of a GB below a hundred, whole ones above."""
    step = Decimal("0.1") if value < ROUND_FROM_GB else Decimal(1)
    rounded = value.quantize(step, ROUND_HALF_UP)
    return rounded.quantize(Decimal(1)) if rounded == rounded.to_integral_value() else rounded


@register.inclusion_tag("components/card_lines.html")
def card_lines(parts: Sequence[BarPart], low_gb: Decimal, high_gb: Decimal) -> Context:
    total = sum((part.size_gb for part in parts), Decimal(0))
    width = max(LEAST_WIDTH_GB, high_gb * HEADROOM)
    shown, start = [], Decimal(0)
    for part in parts:
        shown.append(
            {
                "label": part.label,
                "text": formats.number(short_gb(part.size_gb)),
                "colour": part.colour,
                "x": share_percent(start, width),
                "width": share_percent(part.size_gb, width),
            }
        )
        start += part.size_gb
    return {
        "parts": shown,
        "sentence": _sentence(parts, total),
        "lines": _lines(width),
        "interval": _interval(low_gb, high_gb, width),
    }


def _lines(width: Decimal) -> list[Context]:
    """Return the lines that have room, labels on two heights in turn; the largest card first."""
    kept: list[int] = []
    for size in reversed(CARD_SIZES_GB):
        if not kept or (kept[-1] - size) / width >= LEAST_GAP:
            kept.append(size)
    return [
        {
            "x": share_percent(size, width),
            "text": formats.gb(size) if size == CARD_SIZES_GB[-1] else formats.number(size),
            "is_high": place % 2 == 1,
            "anchor": "end" if size / width > LABEL_END else "middle",
        }
        for place, size in enumerate(reversed(kept))
    ]


def _interval(low: Decimal, high: Decimal, width: Decimal) -> Context:
    """Return the line below the bar; near an edge both its labels stand on the inner side."""
    texts = {"low": formats.number(short_gb(low)), "high": formats.gb(short_gb(high))}
    both = _("%(low)s to %(high)s") % texts
    context: Context = {"x1": share_percent(low, width), "x2": share_percent(high, width)}
    if low / width < NEAR_START:
        return context | {"before": "", "after": both}
    if high / width > NEAR_END:
        return context | {"before": both, "after": ""}
    return context | {"before": texts["low"], "after": texts["high"]}


def _sentence(parts: Sequence[BarPart], total: Decimal) -> str:
    listed = ", ".join(f"{part.label} {formats.number(short_gb(part.size_gb))}" for part in parts)
    return _("%(total)s in all: %(parts)s. Lines: cards of 24 to 141 GB.") % {
        "total": formats.gb(short_gb(total)),
        "parts": listed,
    }


@register.filter
def bytes_gb(size_bytes: int) -> str:
    """Return a size in gigabytes, a tenth below a hundred: ``39.5 GB``."""
    return formats.gb(short_gb(Decimal(size_bytes) / GB))


@register.filter
def plain_gb(size_bytes: int) -> str:
    """Return a size as `bytes_gb` does, without the unit that follows elsewhere: ``39.5``."""
    return formats.number(short_gb(Decimal(size_bytes) / GB))


@register.filter
def large(count: int | float) -> str:
    """Return a count to three digits where it is large: ``70.6 B``, ``207 M``, ``8,192``."""
    if count >= BILLION:
        return _("%(number)s B") % {"number": formats.number(_three_digits(count / BILLION))}
    if count >= MILLION:
        return _("%(number)s M") % {"number": formats.number(_three_digits(count / MILLION))}
    return formats.number(_three_digits(count) if isinstance(count, float) else count)


@register.filter
def large_decimal(value: Decimal) -> str:
    """Return a measured figure to three digits, as `large` does."""
    return large(float(value))


@register.filter
def points(percent: float) -> str:
    """Return a figure that is in percent already: ``4.2%`` of 4.24."""
    return formats.percent(Decimal(str(percent)) / 100)


def _three_digits(value: float) -> Decimal:
    """Round to three significant digits, without an exponent and without idle zeros."""
    number = Decimal(f"{value:.3g}")
    return number.quantize(Decimal(1)) if number == number.to_integral_value() else number
