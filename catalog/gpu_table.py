"""The list of GPU models as a file: the columns of the page, with their units in the head."""

from django.http import HttpResponse
from django.utils.translation import gettext

from billing.money import Currency
from catalog.csv_files import csv_file, price_cell, time_cell
from catalog.fits import Wanted
from catalog.listing import Listing
from catalog.queries_listed import ListedGpu


def csv_answer(listing: Listing, *, currency: Currency) -> HttpResponse:
    """Return the rows of ``listing`` in their order, with the columns that the page shows."""
    wanted = listing.filters.wanted
    return csv_file(
        name=f"gpus-{currency.lower()}",
        head=_head(currency, wanted),
        rows=[_row(row, wanted) for row in listing.rows],
    )


def _head(currency: Currency, wanted: Wanted | None) -> list[str]:
    price = {"currency": currency.value}
    fit = [f"{wanted.model.name}, {wanted.label}"] if wanted else []
    return [
        gettext("GPU"),
        gettext("Architecture"),
        gettext("Best offer (%(currency)s per GPU and hour, excl. tax)") % price,
        *fit,
        gettext("Lowest hourly price paid, 24 h (%(currency)s)") % price,
        gettext("Highest hourly price paid, 24 h (%(currency)s)") % price,
        gettext("Memory (GB)"),
        gettext("Bandwidth (GB/s)"),
        gettext("BF16 tensor (TFLOPS)"),
        gettext("FP32 (TFLOPS)"),
        gettext("QLoRA (billions of parameters)"),
        gettext("16-bit LoRA (billions of parameters)"),
        gettext("Offers"),
        gettext("As of"),
    ]


def _row(row: ListedGpu, wanted: Wanted | None) -> list[str]:
    fit = [wanted.on(memory_gb=row.gpu.memory_gb).word] if wanted else []
    return [
        row.gpu.name,
        row.gpu.architecture,
        price_cell(row.price_micro),
        *fit,
        price_cell(min(row.trend, default=None)),
        price_cell(max(row.trend, default=None)),
        str(row.gpu.memory_gb),
        f"{row.gpu.bandwidth_gb_per_s.normalize():f}",
        row.gpu.figures.get("bf16_dense_tflops", ""),
        row.gpu.figures.get("fp32_tflops", ""),
        str(row.capacity.qlora_b),
        str(row.capacity.lora16_b),
        str(row.offers) if row.figures else "",
        time_cell(row.as_of),
    ]
