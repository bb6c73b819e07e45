"""One GPU model."""

from decimal import Decimal

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.translation import gettext
from django.views.decorators.http import require_safe

from catalog.forms import chosen_currency, prefilled_hours
from catalog.models import GpuModel
from catalog.queries import (
    STALE_AFTER,
    GpuRow,
    gpu_rows,
    listed_gpus,
    quotes_by_currency,
)
from marketplace.accounts import clock

NEIGHBOURS = 3  # Enough to choose from, short enough for the side of the page.
# The exchange's own form when it is installed, else a plain notice.
TICKET_TEMPLATES = ["marketplace/ticket.html", "catalog/no_ticket.html"]


@require_safe
def gpu(request: HttpRequest, slug: str) -> HttpResponse:
    """Show one model: prices in every currency, what fits, the maker's figures, the order ticket."""
    model = get_object_or_404(GpuModel, slug=slug)
    choice = chosen_currency(request.GET)
    rows = gpu_rows(gpus=listed_gpus(), currency=choice.currency)
    row = next((r for r in rows if r.gpu.pk == model.pk), None)
    row = row or gpu_rows(gpus=[model], currency=choice.currency)[0]
    quotes = quotes_by_currency(gpu=model)
    now = clock.now()
    context = {
        "choice": choice,
        "gpu": model,
        "row": row,
        "quotes": quotes,
        "chosen": next(q for q in quotes if q.currency == choice.currency),
        "is_stale": row.as_of is not None and now - row.as_of > STALE_AFTER,
        "specs": _specs(model),
        "sources": _sources(model),
        "neighbours": _neighbours(row, rows),
        "ticket_templates": TICKET_TEMPLATES,
        "hours": prefilled_hours(request.GET),
        "now": now,
    }
    return render(request, "catalog/gpu.html", context, status=400 if choice.refused else 200)


def _neighbours(row: GpuRow, rows: list[GpuRow]) -> list[GpuRow]:
    """Return the offered models nearest in memory; at equal distance, the cheaper first."""
    others = [r for r in rows if r.price_micro is not None and r.gpu.pk != row.gpu.pk]
    others.sort(
        key=lambda r: (
            abs(r.gpu.memory_gb - row.gpu.memory_gb),
            r.price_micro or 0,
            r.gpu.slug,
        )
    )
    return others[:NEIGHBOURS]


def _specs(model: GpuModel) -> list[tuple[str, Decimal, str]]:
    """Return the further figures that were read: label, value, unit."""
    rows = [
        ("fp16_dense_tflops", gettext("FP16 tensor"), "TFLOPS"),
        ("bf16_dense_tflops", gettext("BF16 tensor"), "TFLOPS"),
        ("fp8_dense_tflops", gettext("FP8 tensor"), "TFLOPS"),
        ("fp4_dense_tflops", gettext("FP4 tensor"), "TFLOPS"),
        ("tf32_dense_tflops", gettext("TF32 tensor"), "TFLOPS"),
        ("fp32_tflops", "FP32", "TFLOPS"),
        ("fp64_tflops", "FP64", "TFLOPS"),
        ("tdp_w", gettext("Power"), "W"),
    ]
    figures = model.figures
    return [(label, Decimal(figures[key]), unit) for key, label, unit in rows if key in figures]


def _sources(model: GpuModel) -> list[tuple[str, str]]:
    """Return where each group of figures was read."""
    rows = [
        (gettext("Memory, bandwidth, power"), model.source_base),
        (gettext("Tensor rates"), model.source_tensor),
        ("NVLink", model.source_nvlink),
    ]
    return [(label, source) for label, source in rows if source]
