"""A comparison as a file: one line per figure, one column per model."""

from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal

from django.http import HttpResponse
from django.utils.translation import gettext, gettext_lazy

from billing.money import Currency
from catalog.compare import Group, Row, Value
from catalog.csv_files import csv_file, price_cell
from catalog.models import GpuModel

UNITS = {"gb": "GB", "bandwidth": "GB/s", "nvlink": "GB/s", "tflops": "TFLOPS", "watts": "W"}
PRICES = {
    "price": gettext_lazy("%(currency)s per GPU and hour, excl. tax"),
    "price_gb": gettext_lazy("%(currency)s per GB and hour, excl. tax"),
    "price_tb": gettext_lazy("%(currency)s per TB/s and hour, excl. tax"),
}


def csv_answer(
    groups: Sequence[Group], *, gpus: Sequence[GpuModel], currency: Currency
) -> HttpResponse:
    return csv_file(
        name="-".join(["compare", *(gpu.slug for gpu in gpus)]),
        head=[gettext("Figure"), gettext("Unit"), *(gpu.name for gpu in gpus)],
        rows=[_line(row, currency) for group in groups for row in group.rows],
    )


def _line(row: Row, currency: Currency) -> list[str]:
    return [str(row.label), _unit(row, currency), *(_cell(row, cell.value) for cell in row.cells)]


def _unit(row: Row, currency: Currency) -> str:
    if row.kind in PRICES:
        return str(PRICES[row.kind]) % {"currency": currency.value}
    if row.kind == "billions":
        return gettext("billions of parameters")
    return UNITS.get(row.kind, "")


def _cell(row: Row, value: Value) -> str:
    if value is None:
        return ""
    if row.kind in PRICES:
        return price_cell(int(Decimal(value).to_integral_value(ROUND_HALF_UP)))
    return f"{value.normalize():f}" if isinstance(value, Decimal) else str(value)
