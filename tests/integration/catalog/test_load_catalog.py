"""The sizing table becomes catalogue rows, again and again without harm."""

from decimal import Decimal

import pytest

from catalog.content.use_cases import cards_of
from catalog.models import GpuModel
from catalog.operations.gpus import load_gpu_models
from catalog.queries import listed_gpus

pytestmark = pytest.mark.django_db


def test_loads_every_card_with_its_figures_and_sources() -> None:
    GpuModel.objects.all().delete()

    count = load_gpu_models()

    h100 = GpuModel.objects.get(slug="h100-sxm")
    assert (count, GpuModel.objects.count()) == (53, 53)
    assert (h100.name, h100.memory_gb, h100.bandwidth_gb_per_s) == ("H100 SXM", 80, Decimal(3350))
    assert h100.figures["bf16_dense_tflops"] == "989"
    assert h100.has_nvlink is True
    assert h100.source_base.startswith("https://")


def test_features_the_nine_cards_of_the_fine_tuning_page() -> None:
    GpuModel.objects.all().delete()

    load_gpu_models()

    featured = GpuModel.objects.filter(is_featured=True).values_list("slug", flat=True)
    assert set(featured) == set(cards_of("fine-tuning"))
    assert len(featured) == 9


def test_loading_again_refreshes_figures_and_keeps_what_staff_decided() -> None:
    load_gpu_models()
    GpuModel.objects.filter(slug="l40s").update(
        is_listed=False, is_featured=False, name="wrong", memory_gb=1
    )

    load_gpu_models()

    l40s = GpuModel.objects.get(slug="l40s")
    assert (l40s.name, l40s.memory_gb) == ("L40S", 48)
    assert (l40s.is_listed, l40s.is_featured) == (False, False)
    assert GpuModel.objects.count() == 53


def test_a_figure_without_a_source_is_absent() -> None:
    load_gpu_models()

    assert "bf16_dense_tflops" not in GpuModel.objects.get(slug="a10").figures


def test_lists_models_by_memory_then_bandwidth_and_leaves_out_delisted_ones() -> None:
    load_gpu_models()
    GpuModel.objects.filter(slug="l40s").update(is_listed=False)

    slugs = [gpu.slug for gpu in listed_gpus() if gpu.is_featured]

    assert slugs == [
        "rtx-4090",
        "rtx-5090",
        "rtx-a6000",
        "rtx-6000-ada",
        "a100-sxm-80",
        "h100-sxm",
        "rtx-pro-6000-blackwell",
        "h200-sxm",
    ]
