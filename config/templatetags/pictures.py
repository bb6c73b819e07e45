"""Pictures as inline SVG: sparkline, memory, shares, rows of bars, depth and price history.

Each has a title for readers and a sentence that says what it shows; all but the two smallest
also carry their numbers as a table. The templates in ``components/`` state the inputs again.
"""

from collections.abc import Iterable, Sequence
from decimal import Decimal

from django import template
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from config.pictures.axis import BOX, share_percent
from config.pictures.depth import Depth, Level, Order, depth_of
from config.pictures.history import History, Point, PricedHour, history_of
from config.templatetags import formats

register = template.Library()

# Colours m1 to m5 of the style sheet, in the order in which parts are stacked.
PART_COLOURS = 5
TIGHT_SHARE = Decimal("0.8")
# Room to the right of the longest bar of memory, so that its end is seen.
MEMORY_HEADROOM = Decimal("1.06")
# A sparkline's curve keeps this far from its upper and lower edge, in thousandths.
SPARK_INSET = 80
ROW_HEIGHT = 46
PLOT_TOP, PLOT_HEIGHT = 24, 180

Context = dict[str, object]


@register.inclusion_tag("components/sparkline.html")
def sparkline(values: Sequence[int | Decimal | None], label: str) -> Context:
    known = [value for value in values if value is not None]
    if not known:
        return {"label": label}
    low, high = min(known), max(known)

    def height(value: int | Decimal) -> int:
        if low == high:
            return BOX // 2
        return BOX - SPARK_INSET - int((BOX - 2 * SPARK_INSET) * (value - low) / (high - low))

    last_index = max(index for index, value in enumerate(values) if value is not None)
    return {
        "label": label,
        "sentence": _direction(known[0], known[-1]),
        "path": _broken_line([None if value is None else height(value) for value in values]),
        "last_x": share_percent(last_index, max(len(values) - 1, 1)),
        "last_y": share_percent(height(known[-1]), BOX),
    }


@register.inclusion_tag("components/memory_bar.html")
def memory_bar(
    parts: Sequence[tuple[str, Decimal]], capacity_gb: Decimal | int, label: str
) -> Context:
    total = sum((gb for _name, gb in parts), Decimal(0))
    width = max(total, Decimal(capacity_gb)) * MEMORY_HEADROOM
    shown, start = [], Decimal(0)
    for number, (name, gb) in enumerate(parts):
        shown.append(
            {
                "label": name,
                "text": formats.gb(gb),
                "share": formats.percent(_share(gb, capacity_gb)),
                "x": share_percent(start, width),
                "width": share_percent(gb, width),
                "colour": f"m{number % PART_COLOURS + 1}",
            }
        )
        start += gb
    return {
        "label": label,
        "parts": shown,
        "total": formats.gb(total),
        "total_share": formats.percent(_share(total, capacity_gb)),
        "capacity": formats.gb(capacity_gb),
        "tight": formats.percent(TIGHT_SHARE),
        "tight_x": share_percent(TIGHT_SHARE * capacity_gb, width),
        "full_x": share_percent(capacity_gb, width),
        "is_over": total > capacity_gb,
        "sentence": _memory_sentence(total, Decimal(capacity_gb)),
    }


@register.inclusion_tag("components/share_bar.html")
def share_bar(value: Decimal | int | None, largest: Decimal | int, label: str) -> Context:
    return {"width": share_percent(value or 0, largest), "label": label}


@register.inclusion_tag("components/bar_rows.html")
def bar_rows(rows: Sequence[tuple[str, Decimal | int, str]], label: str, unit: str) -> Context:
    if not rows:
        return {"label": label}
    largest = max(rows, key=lambda row: row[1])
    smallest = min(rows, key=lambda row: row[1])
    return {
        "label": label,
        "unit": unit,
        "height": len(rows) * ROW_HEIGHT - 4,
        "sentence": _extremes_sentence(largest, smallest),
        "rows": [
            {
                "label": name,
                "text": text,
                "width": share_percent(value, largest[1]),
                "text_y": number * ROW_HEIGHT + 14,
                "bar_y": number * ROW_HEIGHT + 22,
            }
            for number, (name, value, text) in enumerate(rows)
        ],
    }


@register.inclusion_tag("components/depth.html")
def depth(bids: Iterable[Order], asks: Iterable[Order], currency: str, label: str) -> Context:
    found = depth_of(bids=bids, asks=asks)
    if found is None:
        return {"label": label}
    return {
        "label": label,
        "currency": currency,
        "sentence": _depth_sentence(found, currency),
        "bids": found.bids,
        "asks": found.asks,
        "bid_path": found.bid_steps(),
        "ask_path": found.ask_steps(),
        "plot": {"top": PLOT_TOP, "height": PLOT_HEIGHT, "floor": PLOT_TOP + PLOT_HEIGHT},
        "counts": [
            {"text": formats.number(count), "y": _label_height(found.gpus.height(count))}
            for count in found.gpus.labels()
        ],
        "prices": [
            {"text": formats.plain_price(micro), "x": found.prices.percent(micro)}
            for micro in found.prices.labels()
        ],
    }


@register.inclusion_tag("components/price_chart.html")
def price_chart(
    hours: Iterable[PricedHour],
    currency: str,
    label: str,
    range_links: Sequence[tuple[str, str, bool]] = (),
    history_url: str = "",
) -> Context:
    zone = timezone.get_current_timezone()
    common: Context = {
        "label": label,
        "currency": currency,
        "range_links": range_links or (),
        "history_url": history_url or "",
        "zone": formats.zone_name(),
    }
    history = history_of(hours, zone=zone)
    if history is None:
        return common
    prices = history.prices
    return common | {
        "sentence": _history_sentence(history, currency),
        "gaps": _gaps_sentence(history),
        "is_by_day": history.is_by_day,
        "points": [{"point": point, "when": _when(point, history)} for point in history.points],
        "line": history.line(),
        "dots": history.lone_points(),
        "volumes": history.volumes(),
        "plot": {"top": PLOT_TOP, "height": PLOT_HEIGHT},
        "price_labels": [
            {"text": formats.plain_price(micro), "y": _label_height(prices.height(micro))}
            for micro in prices.labels()
        ],
        "time_labels": _time_labels(history),
    }


def _broken_line(heights: Sequence[int | None]) -> str:
    """Return a path over evenly spaced heights; None breaks it."""
    steps = max(len(heights) - 1, 1)
    parts, is_drawing = [], False
    for index, height in enumerate(heights):
        if height is not None:
            parts.append(f"{'L' if is_drawing else 'M'}{BOX * index // steps} {height}")
        is_drawing = height is not None
    return "".join(parts)


def _direction(first: int | Decimal, last: int | Decimal) -> str:
    """Say in one sentence where a row of numbers went."""
    if first == last or not first:
        return _("The last value equals the first.") if first == last else ""
    change = formats.percent(abs(Decimal(last - first) / Decimal(first)))
    if last > first:
        return _("Up %(change)s from the first to the last value.") % {"change": change}
    return _("Down %(change)s from the first to the last value.") % {"change": change}


def _share(part: Decimal, whole: Decimal | int) -> Decimal:
    return part / Decimal(whole) if whole else Decimal(0)


def _memory_sentence(total: Decimal, capacity: Decimal) -> str:
    facts = {
        "total": formats.gb(total),
        "capacity": formats.gb(capacity),
        "tight": formats.percent(TIGHT_SHARE),
    }
    if total > capacity:
        return _("%(total)s do not fit in the %(capacity)s of the card.") % facts
    if total > capacity * TIGHT_SHARE:
        return _("%(total)s of %(capacity)s: above %(tight)s of the memory, it is tight.") % facts
    return _("%(total)s of %(capacity)s: below %(tight)s of the memory, it fits.") % facts


def _extremes_sentence(
    largest: tuple[str, Decimal | int, str], smallest: tuple[str, Decimal | int, str]
) -> str:
    facts = {
        "largest": largest[0],
        "most": largest[2],
        "smallest": smallest[0],
        "least": smallest[2],
    }
    if largest[1] == smallest[1]:
        return _("%(largest)s: %(most)s.") % facts
    return _("Largest: %(largest)s, %(most)s. Smallest: %(smallest)s, %(least)s.") % facts


def _depth_sentence(found: Depth, currency: str) -> str:
    sentences = []
    if found.bids:
        sentences.append(
            ngettext(
                "%(gpus)s GPU is asked for, at %(price)s at most.",
                "%(gpus)s GPUs are asked for, at %(price)s at most.",
                found.bids[-1].cumulative_gpus,
            )
            % _side_facts(found.bids, currency)
        )
    if found.asks:
        sentences.append(
            ngettext(
                "%(gpus)s GPU is offered, from %(price)s.",
                "%(gpus)s GPUs are offered, from %(price)s.",
                found.asks[-1].cumulative_gpus,
            )
            % _side_facts(found.asks, currency)
        )
    return " ".join(sentences)


def _side_facts(levels: tuple[Level, ...], currency: str) -> dict[str, str]:
    return {
        "gpus": formats.number(levels[-1].cumulative_gpus),
        "price": formats.unit_price(levels[0].price_micro, currency),
    }


def _history_sentence(history: History, currency: str) -> str:
    values = [point.price_micro for point in history.points]
    facts = {
        "first": formats.unit_price(values[0], currency),
        "last": formats.unit_price(values[-1], currency),
        "low": formats.unit_price(min(values), currency),
        "high": formats.unit_price(max(values), currency),
    }
    if len(values) == 1:
        return _("Sold once in this period, at %(last)s per GPU and hour on average.") % facts
    return (
        _("From %(first)s to %(last)s per GPU and hour, between %(low)s and %(high)s on average.")
        % facts
    )


def _gaps_sentence(history: History) -> str:
    missing = history.periods_without_sale
    if not missing:
        return ""
    if history.is_by_day:
        text = ngettext(
            "No sale on %(count)s day: the line breaks there.",
            "No sale on %(count)s days: the line breaks there.",
            missing,
        )
    else:
        text = ngettext(
            "No sale in %(count)s hour: the line breaks there.",
            "No sale in %(count)s hours: the line breaks there.",
            missing,
        )
    return text % {"count": formats.number(missing)}


def _when(point: Point, history: History) -> str:
    day = formats.date(point.starts_at)
    return day if history.is_by_day else f"{day}, {formats.clock_time(point.starts_at)}"


def _time_labels(history: History) -> list[dict[str, str]]:
    """Return the labels under the time axis: days, or hours when the whole is a day or two."""
    zone, times = timezone.get_current_timezone(), history.times
    shown = formats.clock_time if history.is_labelled_by_hour else formats.day_month
    return [
        {"text": shown(start), "x": times.percent(int(start.timestamp()))}
        for start in history.time_labels(zone=zone)
    ]


def _label_height(place: int) -> int:
    """Return the distance from the picture's top of a place in the stretched box."""
    return PLOT_TOP + place * PLOT_HEIGHT // BOX
