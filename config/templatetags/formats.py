"""How numbers, money, sizes and dates look on every page, in English and in French.

Babel holds the rules; this module chooses the locale and mends two things in its output:
the minus sign is U+2212, and the first of a French month is "1er". Money and numbers in
English follow CLDR ``en``; dates follow ``en_GB``, so that 8/11 and 11/8 never meet.
Amounts arrive as integers (minor units, micro-units): no float touches them.
"""

from datetime import date as calendar_date
from datetime import datetime, tzinfo
from decimal import ROUND_HALF_UP, Decimal

from babel import Locale
from babel.dates import format_date, format_skeleton, format_time, format_timedelta
from babel.numbers import format_currency, format_decimal, format_percent
from babel.units import format_compound_unit, format_unit
from django import template
from django.utils import timezone
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from billing.money import MICRO_PER_UNIT, MINOR_PER_UNIT

register = template.Library()

PRICE_STEP = Decimal("0.001")
MINUS = "\N{MINUS SIGN}"
HYPHEN_MINUS = "-"
NO_BREAK_SPACE = "\N{NO-BREAK SPACE}"
NARROW_NO_BREAK_SPACE = "\N{NARROW NO-BREAK SPACE}"
AGE_THRESHOLD = 1  # Babel turns 45 minutes into an hour below 1; an age must not grow early.


def _number_locale() -> Locale:
    return Locale.parse("fr_FR" if _is_french() else "en")


def _date_locale() -> Locale:
    return Locale.parse("fr_FR" if _is_french() else "en_GB")


def _is_french() -> bool:
    return (get_language() or "").startswith("fr")


def _with_real_minus(text: str) -> str:
    return text.replace(HYPHEN_MINUS, MINUS, 1) if text.startswith(HYPHEN_MINUS) else text


@register.filter
def money(minor: int | None, currency: str) -> str:
    """Return an amount in minor units with its currency: ``1,234.50`` of 123450."""
    if minor is None:
        return ""
    amount = Decimal(minor) / MINOR_PER_UNIT
    return _with_real_minus(format_currency(amount, str(currency), locale=_number_locale()))


@register.filter
def unit_price(micro: int | None, currency: str) -> str:
    """Return a price per GPU-hour: two decimals, three when the third is not zero.

    Rounded half-up to the tick for averages; offers and limits are whole ticks already.
    """
    if micro is None:
        return ""
    amount = (Decimal(micro) / MICRO_PER_UNIT).quantize(PRICE_STEP, ROUND_HALF_UP)
    locale = _number_locale()
    pattern = locale.currency_formats["standard"].pattern.replace("0.00", "0.00#")
    text = format_currency(amount, str(currency), pattern, locale=locale, currency_digits=False)
    return _with_real_minus(text)


@register.filter
def plain_price(micro: int | None) -> str:
    """Return a price without its currency, for axes and columns whose head names it."""
    if micro is None:
        return ""
    amount = (Decimal(micro) / MICRO_PER_UNIT).quantize(PRICE_STEP, ROUND_HALF_UP)
    return _with_real_minus(format_decimal(amount, "#,##0.00#", locale=_number_locale()))


@register.filter
def number(value: int | Decimal | None) -> str:
    """Return a number grouped as readers expect; decimals stay as they are."""
    if value is None:
        return ""
    return _with_real_minus(
        format_decimal(value, locale=_number_locale(), decimal_quantization=False)
    )


@register.filter
def decimal(text: str) -> Decimal:
    """Return the number that a stored decimal string holds."""
    return Decimal(text)


@register.filter
def percent(share: Decimal | None) -> str:
    """Return a share (``Decimal("0.031")``) as a percentage with at most one decimal."""
    if share is None:
        return ""
    locale = _number_locale()
    pattern = locale.percent_formats[None].pattern.replace("#,##0", "#,##0.#")
    text = _with_real_minus(format_percent(share, pattern, locale=locale))
    return text.replace(NO_BREAK_SPACE, NARROW_NO_BREAK_SPACE)  # As before every unit's symbol.


@register.filter
def gb(value: int | Decimal | None) -> str:
    """Return a size in decimal gigabytes: ``24 GB``, ``24 Go`` in French."""
    if value is None:
        return ""
    return format_unit(value, "digital-gigabyte", length="short", locale=_number_locale())


@register.filter
def bandwidth(value: int | Decimal | None) -> str:
    """Return a memory bandwidth: ``1,008 GB/s``, in French with ``Go/s``."""
    if value is None:
        return ""
    text = format_compound_unit(
        value,
        "digital-gigabyte",
        denominator_unit="duration-second",
        length="short",
        locale=_number_locale(),
    )
    return text or ""


@register.filter
def billions(value: int | None) -> str:
    """Return a model size in billions of parameters: ``15 B``, ``15 Md`` in French."""
    if not value:
        return "–"
    return _("%(number)s B") % {"number": number(value)}


@register.filter
def date(value: calendar_date | datetime | None) -> str:
    """Return a day with the month in letters: ``8 Nov 2026``."""
    if value is None:
        return ""
    day = _local(value).date() if isinstance(value, datetime) else value
    return _french_first(format_date(day, "medium", locale=_date_locale()))


@register.filter
def day_month(value: calendar_date | datetime | None) -> str:
    """Return a day without its year, for axes: ``8 Nov``."""
    if value is None:
        return ""
    day = _local(value).date() if isinstance(value, datetime) else value
    return _french_first(format_skeleton("MMMd", day, locale=_date_locale()))


@register.filter
def clock_time(value: datetime | None) -> str:
    """Return the time of day in the reader's zone: ``14:05``.

    When clocks go back an hour comes twice; there, and only there, the offset's name follows.
    """
    if value is None:
        return ""
    local = _local(value)
    shown = format_time(local.time(), "short", locale=_date_locale())
    is_twice = local.replace(fold=0).utcoffset() != local.replace(fold=1).utcoffset()
    return f"{shown} {local.tzname()}" if is_twice else shown


@register.filter
def datetime_zone(value: datetime | None) -> str:
    """Return day and time in the reader's zone, and name the zone."""
    if value is None:
        return ""
    return f"{date(value)}, {clock_time(value)} ({zone_name()})"


@register.filter
def time_zone(value: datetime | None) -> str:
    """Return the time with seconds in the reader's zone, and name the zone."""
    if value is None:
        return ""
    shown = format_time(_local(value).time(), "medium", locale=_date_locale())
    return f"{shown} ({zone_name()})"


@register.filter
def age(value: datetime | None, now: datetime) -> str:
    """Return how long ago ``value`` was, seen from ``now``: ``3 minutes ago``."""
    if value is None:
        return ""
    if value >= now:
        return _("just now")
    return format_timedelta(
        value - now, add_direction=True, threshold=AGE_THRESHOLD, locale=_date_locale()
    )


@register.simple_tag
def zone_in_use() -> str:
    """Return the name of the zone in which this page shows its times."""
    return zone_name()


def zone_name() -> str:
    """Return the name of the zone in which times are shown now."""
    return str(_zone())


def _zone() -> tzinfo:
    return timezone.get_current_timezone()


def _local(value: datetime) -> datetime:
    return value.astimezone(_zone())


def _french_first(text: str) -> str:
    if _is_french() and text.startswith("1 "):
        return text.replace("1 ", "1er ", 1)
    return text
