"""The form field for amounts of money: what people type becomes whole minor or micro-units.

Django's own parser reads ``2,80`` as 280 in English pages, so it is never used for money. Rule:
comma or dot is the decimal separator in both languages; when both appear, the last one is;
spaces group; a currency mark may stand before or after. One separator followed by exactly three
digits, after one to three digits that do not start with zero, can be read in two ways: both
readings are shown and the amount is refused. The one exception is a price, where three decimals
are normal and a thousand is above the highest price: there only the decimal reading remains.
The page after the form always repeats the amount that was understood.
"""

import re
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from typing import Any

from babel import Locale
from babel.numbers import format_decimal
from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _

from billing.money import (
    MICRO_PER_UNIT,
    MINOR_PER_UNIT,
    PRICE_MAX_MICRO,
    PRICE_MIN_MICRO,
    Currency,
)

MAX_TYPED_LENGTH = 40  # The longest amount with its mark is under 30 characters.
MAX_DIGITS = 18  # More than any balance; keeps the decimal arithmetic exact.

_SPACES = dict.fromkeys(map(ord, " \t\u00a0\u202f\u2009\u2007"))
# Longest first: "US$" must not leave "US" behind.
_MARKS = {
    "US$": Currency.USD,
    "$US": Currency.USD,
    "£GB": Currency.GBP,
    "GB£": Currency.GBP,
    "EUR": Currency.EUR,
    "USD": Currency.USD,
    "GBP": Currency.GBP,
    "€": Currency.EUR,
    "$": Currency.USD,
    "£": Currency.GBP,
}
_PLAIN = re.compile(r"(?P<whole>[0-9]+)(?:[.,](?P<decimals>[0-9]*))?|[.,](?P<only>[0-9]+)")
_ONE_SEPARATOR_THREE_DIGITS = re.compile(r"(?P<whole>[1-9][0-9]{0,2})[.,](?P<rest>[0-9]{3})")
_GROUPED = re.compile(
    r"(?P<whole>[0-9]{1,3}(?:,[0-9]{3})+)(?:\.(?P<d1>[0-9]*))?"
    r"|(?P<whole2>[0-9]{1,3}(?:\.[0-9]{3})+)(?:,(?P<d2>[0-9]*))?"
)


class Scale(Enum):
    """How many whole units the field returns per unit of currency, and the decimals allowed."""

    MINOR = (MINOR_PER_UNIT, 2)
    PRICE_MICRO = (MICRO_PER_UNIT, 3)

    @property
    def per_unit(self) -> int:
        return self.value[0]

    @property
    def decimals(self) -> int:
        return self.value[1]


@dataclass(frozen=True, slots=True)
class Typed:
    """What a text can mean: one reading, or two, in units of currency; and the mark in it."""

    readings: tuple[Decimal, ...]
    currency: Currency | None


class NotAnAmountError(ValueError):
    """The text is not an amount of money in any reading."""


def read_amount(text: str) -> Typed:
    """Return every reading of ``text`` as an amount, not yet bounded or rounded.

    Raises
    ------
    NotAnAmountError
        No reading at all.
    """
    unsigned, is_negative = _without_sign(text.translate(_SPACES))
    digits, currency = _without_mark(unsigned)
    if sum(character.isdigit() for character in digits) > MAX_DIGITS:
        raise NotAnAmountError(digits)
    return Typed(tuple(-r if is_negative else r for r in _readings(digits)), currency)


def _without_sign(text: str) -> tuple[str, bool]:
    is_negative = text[:1] in {"-", "\N{MINUS SIGN}"}
    return text[1:] if is_negative else text, is_negative


def _without_mark(text: str) -> tuple[str, Currency | None]:
    upper = text.upper()
    for mark, currency in _MARKS.items():
        if upper.startswith(mark):
            return text[len(mark) :], currency
        if upper.endswith(mark):
            return text[: -len(mark)], currency
    return text, None


def _readings(digits: str) -> tuple[Decimal, ...]:
    """Return the decimal reading first, then the one with thousands if there is one."""
    ambiguous = _ONE_SEPARATOR_THREE_DIGITS.fullmatch(digits)
    if ambiguous:
        whole, rest = ambiguous["whole"], ambiguous["rest"]
        return (Decimal(f"{whole}.{rest}"), Decimal(whole + rest))
    reading = _plain_reading(digits)
    if reading is None:
        reading = _grouped_reading(digits)
    if reading is None:
        raise NotAnAmountError(digits)
    return (reading,)


def _plain_reading(digits: str) -> Decimal | None:
    match = _PLAIN.fullmatch(digits)
    if match is None:
        return None
    return Decimal(f"{match['whole'] or 0}.{match['decimals'] or match['only'] or 0}")


def _grouped_reading(digits: str) -> Decimal | None:
    match = _GROUPED.fullmatch(digits)
    if match is None:
        return None
    whole = re.sub(r"[.,]", "", match["whole"] or match["whole2"])
    return Decimal(f"{whole}.{match['d1'] or match['d2'] or 0}")


class MoneyField(forms.Field):
    """An amount of money, cleaned to whole minor units (or micro-units for a price).

    Parameters
    ----------
    scale
        `Scale.MINOR` for amounts in cents, `Scale.PRICE_MICRO` for prices per GPU-hour.
    min_units, max_units
        Bounds of the cleaned value. An amount must be positive unless ``min_units`` says else.
    currency
        When given, a mark of another currency in the text is refused.
    """

    default_error_messages = {
        "invalid": _("Enter an amount such as 12.50 or 12,50."),
        "ambiguous": _(
            "“%(typed)s” can mean %(first)s or %(second)s. "
            "Write two decimals, or no separator between thousands."
        ),
        "too_precise": _("Use at most %(decimals)s decimals: the smallest step is %(step)s."),
        "too_small": _("Enter at least %(limit)s."),
        "too_large": _("Enter at most %(limit)s."),
        "wrong_currency": _("This amount is in %(expected)s, not in %(found)s."),
    }

    def __init__(
        self,
        *,
        scale: Scale = Scale.MINOR,
        min_units: int = 1,
        max_units: int | None = None,
        currency: Currency | None = None,
        **options: Any,
    ) -> None:
        self.scale = scale
        self.min_units = min_units
        self.max_units = max_units
        self.currency = currency
        options.setdefault("widget", forms.TextInput)
        super().__init__(**options)

    def widget_attrs(self, widget: forms.Widget) -> dict[str, Any]:
        return super().widget_attrs(widget) | {
            "inputmode": "decimal",
            "autocomplete": "off",
            "maxlength": str(MAX_TYPED_LENGTH),
        }

    def to_python(self, value: Any) -> int | None:
        text = str(value).strip() if value is not None else ""
        if not text:
            return None
        try:
            typed = read_amount(text[: MAX_TYPED_LENGTH + 1])
        except NotAnAmountError:
            raise ValidationError(self.error_messages["invalid"], code="invalid") from None
        self._refuse_other_currency(typed.currency)
        return self._to_units(self._chosen_reading(text, typed.readings))

    def validate(self, value: Any) -> None:
        super().validate(value)
        if value is None:
            return
        if value < self.min_units:
            raise self._limit_error("too_small", self.min_units)
        if self.max_units is not None and value > self.max_units:
            raise self._limit_error("too_large", self.max_units)

    def prepare_value(self, value: Any) -> Any:
        """Return whole units as the reader would type them; a refused text stays as typed."""
        if isinstance(value, int):
            return self._shown(value)
        return value

    def _refuse_other_currency(self, found: Currency | None) -> None:
        if found is None or self.currency is None or found == self.currency:
            return
        raise ValidationError(
            self.error_messages["wrong_currency"],
            code="wrong_currency",
            params={"expected": self.currency.value, "found": found.value},
        )

    def _chosen_reading(self, text: str, readings: tuple[Decimal, ...]) -> Decimal:
        if len(readings) == 1 or self._is_above_every_price(readings[1]):
            return readings[0]
        first, second = (_localized(amount) for amount in readings)
        raise ValidationError(
            self.error_messages["ambiguous"],
            code="ambiguous",
            params={"typed": text, "first": first, "second": second},
        )

    def _is_above_every_price(self, amount: Decimal) -> bool:
        if self.scale is not Scale.PRICE_MICRO or self.max_units is None:
            return False
        return amount * self.scale.per_unit > self.max_units

    def _to_units(self, amount: Decimal) -> int:
        on_step = amount.scaleb(self.scale.decimals)
        if on_step != on_step.to_integral_value():
            step = Decimal(1).scaleb(-self.scale.decimals)
            raise ValidationError(
                self.error_messages["too_precise"],
                code="too_precise",
                params={"decimals": self.scale.decimals, "step": _localized(step)},
            )
        return int(amount * self.scale.per_unit)

    def _limit_error(self, code: str, limit_units: int) -> ValidationError:
        return ValidationError(
            self.error_messages[code], code=code, params={"limit": self._shown(limit_units)}
        )

    def _shown(self, units: int) -> str:
        amount = Decimal(units) / self.scale.per_unit
        return _localized(amount)


class PriceField(MoneyField):
    """A price per GPU-hour in micro-units, on the tick and within the market's bounds."""

    def __init__(self, **options: Any) -> None:
        options.setdefault("scale", Scale.PRICE_MICRO)
        options.setdefault("min_units", PRICE_MIN_MICRO)
        options.setdefault("max_units", PRICE_MAX_MICRO)
        super().__init__(**options)


def _localized(amount: Decimal) -> str:
    """Return a number as it may be typed again: not grouped, two decimals, three when needed."""
    locale = Locale.parse("fr_FR" if (get_language() or "").startswith("fr") else "en")
    return format_decimal(amount, "0.00#", locale=locale)
