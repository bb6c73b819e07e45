"""Memory tests: read only."""

from django.contrib import admin

from marketplace.accounts.readonly_admin import ReadOnlyAdmin
from marketplace.models import MemoryTest


@admin.register(MemoryTest)
class MemoryTestAdmin(ReadOnlyAdmin[MemoryTest]):
    """What the engine expected of a job on a card, and what the card said."""

    list_display = (
        "id",
        "organisation",
        "gpu_model",
        "predicted_peak_bytes",
        "measured_bytes",
        "outcome",
        "engine_version",
        "created_at",
    )
    list_filter = ("outcome", "gpu_model")
    list_select_related = ("organisation", "gpu_model")
    search_fields = ("id", "organisation__name")
    date_hierarchy = "created_at"
    ordering = ("-id",)
