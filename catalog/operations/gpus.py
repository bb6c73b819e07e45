"""Bring the sizing table's cards into the catalogue."""

from django.db import transaction

from catalog.content.use_cases import cards_of
from catalog.models import GpuModel
from marketplace.accounts.public_pages import pages_changed
from sizing.cards import Card, all_cards

FIGURES = (
    "fp16_dense_tflops",
    "bf16_dense_tflops",
    "fp8_dense_tflops",
    "fp4_dense_tflops",
    "tf32_dense_tflops",
    "fp32_tflops",
    "fp64_tflops",
    "tdp_w",
    "nvlink_gb_per_s",
    "pcie_gen",
)
# What staff decide stays as it is: whether a model is listed or featured.
REFRESHED = (
    "name",
    "vendor",
    "architecture",
    "segment",
    "memory_gb",
    "memory_type",
    "bandwidth_gb_per_s",
    "figures",
    "form_factor",
    "release_year",
    "has_nvlink",
    "source_base",
    "source_tensor",
    "source_nvlink",
    "note",
)


@transaction.atomic
def load_gpu_models() -> int:
    """Create or refresh a GPU model for every card of the table; return how many there are.

    Safe to repeat. Nothing is deleted: a model that left the table may still be rented.
    """
    featured = frozenset(cards_of("fine-tuning"))
    models = [_gpu_model(card, is_featured=card.slug in featured) for card in all_cards().values()]
    GpuModel.objects.bulk_create(
        models, update_conflicts=True, unique_fields=["slug"], update_fields=REFRESHED
    )
    pages_changed()
    return len(models)


def _gpu_model(card: Card, *, is_featured: bool) -> GpuModel:
    return GpuModel(
        slug=card.slug,
        name=card.name,
        vendor=card.vendor,
        architecture=card.architecture,
        segment=card.segment,
        memory_gb=card.memory_gb,
        memory_type=card.memory_type,
        bandwidth_gb_per_s=card.bandwidth_gb_per_s,
        figures=_figures(card),
        form_factor=card.form_factor,
        release_year=card.release_year,
        has_nvlink=card.nvlink_gb_per_s is not None,
        is_featured=is_featured,
        source_base=card.source_base,
        source_tensor=card.source_tensor,
        source_nvlink=card.source_nvlink,
        note=card.note,
    )


def _figures(card: Card) -> dict[str, str]:
    values = {name: getattr(card, name) for name in FIGURES}
    return {name: str(value) for name, value in values.items() if value is not None}
