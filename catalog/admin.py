"""The catalogue in the administration: what is listed is edited, figures come from the table."""

from typing import TYPE_CHECKING

from django.contrib import admin
from django.http import HttpRequest

from catalog.models import GpuModel, Quote

if TYPE_CHECKING:
    GpuModelAdminBase = admin.ModelAdmin[GpuModel]
    QuoteAdminBase = admin.ModelAdmin[Quote]
else:  # Django's own class takes no type argument at run time.
    GpuModelAdminBase = QuoteAdminBase = admin.ModelAdmin


@admin.register(GpuModel)
class GpuModelAdmin(GpuModelAdminBase):
    """Staff choose what is listed and featured; ``load_catalog`` keeps the figures."""

    list_display = ("name", "slug", "architecture", "memory_gb", "is_listed", "is_featured")
    list_filter = ("is_listed", "is_featured", "vendor", "segment")
    search_fields = ("name", "slug")
    ordering = ("memory_gb", "slug")

    fields = (
        "slug",
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
        "is_listed",
        "is_featured",
    )
    readonly_fields = fields[:-2]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: GpuModel | None = None) -> bool:
        return False


@admin.register(Quote)
class QuoteAdmin(QuoteAdminBase):
    """Published prices; only the exchange writes them."""

    list_display = ("gpu_model", "currency", "gpus", "price_micro", "starts_at", "as_of")
    list_filter = ("currency", "gpus")
    list_select_related = ("gpu_model",)
    ordering = ("gpu_model__slug", "currency", "gpus")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Quote | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Quote | None = None) -> bool:
        return False
