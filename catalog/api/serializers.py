"""The shapes of the catalogue's answers: decimals as strings, the unit in each name."""

from datetime import datetime
from decimal import Decimal
from typing import Any

from rest_framework import serializers

from billing.money import MICRO_PER_UNIT, Currency
from catalog.forms import DEFAULT_CURRENCY
from catalog.queries import GpuRow

PRICE_HUNDREDTHS = Decimal("0.01")
PRICE_THOUSANDTHS = Decimal("0.001")


class CurrencyQuery(serializers.Serializer[dict[str, Any]]):
    """The query of a priced list; both names of the error point at ``currency``."""

    currency = serializers.ChoiceField(
        choices=[currency.value for currency in Currency], default=DEFAULT_CURRENCY.value
    )


class GpuRowAnswer(serializers.Serializer[dict[str, Any]]):
    """One card of a list."""

    card = serializers.CharField()
    slug = serializers.SlugField()
    architecture = serializers.CharField()
    memory_gb = serializers.IntegerField()
    bandwidth_gb_per_s = serializers.FloatField()
    qlora_b = serializers.IntegerField()
    lora16_b = serializers.IntegerField()
    full_b = serializers.IntegerField()
    price_per_gpu_hour = serializers.CharField(allow_null=True)
    currency = serializers.CharField()
    as_of = serializers.DateTimeField(allow_null=True)


class GpuListAnswer(serializers.Serializer[dict[str, Any]]):
    """A list of cards with prices in one currency."""

    currency = serializers.CharField()
    price_basis = serializers.CharField()
    as_of = serializers.DateTimeField(allow_null=True)
    rows = GpuRowAnswer(many=True)


def row_answer(row: GpuRow, currency: Currency) -> dict[str, object]:
    return {
        "card": row.gpu.name,
        "slug": row.gpu.slug,
        "architecture": row.gpu.architecture,
        "memory_gb": row.gpu.memory_gb,
        "bandwidth_gb_per_s": bandwidth_number(row.gpu.bandwidth_gb_per_s),
        "qlora_b": row.capacity.qlora_b,
        "lora16_b": row.capacity.lora16_b,
        "full_b": row.capacity.full_b,
        "price_per_gpu_hour": price_text(row.price_micro),
        "currency": currency.value,
        "as_of": instant_text(row.as_of),
    }


def price_text(price_micro: int | None) -> str | None:
    """Return a price as a decimal string: two decimals, three when the third is not zero."""
    if price_micro is None:
        return None
    amount = Decimal(price_micro) / MICRO_PER_UNIT
    shortest = amount.quantize(PRICE_HUNDREDTHS)
    return str(shortest if shortest == amount else amount.quantize(PRICE_THOUSANDTHS))


def bandwidth_number(value: Decimal) -> int | float:
    """Return a JSON number: whole where the maker's figure is whole."""
    return int(value) if value == value.to_integral_value() else float(value)


def instant_text(value: datetime | None) -> str | None:
    return value.isoformat() if value else None
