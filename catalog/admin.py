"""The catalogue in the administration: what is listed and the guides are edited, figures are not."""

from collections.abc import Sequence
from typing import Any, TypeVar
from urllib.parse import urlencode

from django.contrib import admin
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _

from catalog.forms_guides import GuideTextForm
from catalog.models import GpuModel, Guide, GuideText, Quote
from marketplace.accounts.public_pages import pages_changed

M = TypeVar("M", bound=Model)


class PageContentAdmin(admin.ModelAdmin[M]):
    """What is edited here stands on public pages: those that are kept are forgotten."""

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:  # noqa: FBT001  Django's call
        super().save_related(request, form, formsets, change)
        pages_changed()


@admin.register(GpuModel)
class GpuModelAdmin(PageContentAdmin[GpuModel]):
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
class QuoteAdmin(admin.ModelAdmin[Quote]):
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


@admin.register(Guide)
class GuideAdmin(PageContentAdmin[Guide]):
    """Subjects: which texts they have, which cards they speak of, where they stand."""

    list_display = ("key", "position", "english", "french")
    search_fields = ("key", "texts__title")
    ordering = ("position", "key")
    fields = ("key", "position", "use_case", "cards")
    filter_horizontal = ("cards",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Guide]:
        return super().get_queryset(request).prefetch_related("texts")

    @admin.display(description=_("English"))
    def english(self, guide: Guide) -> str:
        return self._text(guide, "en")

    @admin.display(description=_("French"))
    def french(self, guide: Guide) -> str:
        return self._text(guide, "fr")

    def _text(self, guide: Guide, language: str) -> str:
        """Return a link to the text with its state, or to the form that adds it."""
        text = next((text for text in guide.texts.all() if text.language == language), None)
        if text is not None:
            url = reverse("admin:catalog_guidetext_change", args=[text.pk])
            return format_html('<a href="{}">{}</a>', url, text.get_state_display())
        url = reverse("admin:catalog_guidetext_add")
        query = urlencode({"guide": guide.pk, "language": language})
        return format_html('<a href="{}?{}">{}</a>', url, query, _("Missing; add it"))

    def has_delete_permission(self, request: HttpRequest, obj: Guide | None = None) -> bool:
        """Keep what readers may have linked to: a guide is taken back by its texts' state."""
        return False


@admin.register(GuideText)
class GuideTextAdmin(PageContentAdmin[GuideText]):
    """Texts: written here in Markdown, looked at in the preview, then published."""

    form = GuideTextForm
    list_display = ("title", "language", "state", "reviewed_on", "look")
    list_filter = ("language", "state")
    list_select_related = ("guide",)
    search_fields = ("title", "slug", "body")
    ordering = ("guide__position", "guide__key", "language")
    readonly_fields = ("look",)
    prepopulated_fields = {"slug": ("title",)}

    def get_prepopulated_fields(
        self, request: HttpRequest, obj: GuideText | None = None
    ) -> dict[str, Sequence[str]]:
        """Suggest a slug for a new text only: a changed one breaks the links of readers."""
        return {} if obj else {"slug": ("title",)}

    def get_fields(self, request: HttpRequest, obj: GuideText | None = None) -> tuple[str, ...]:
        return ("look", *GuideTextForm.Meta.fields) if obj else GuideTextForm.Meta.fields

    def view_on_site(self, text: GuideText) -> str:
        return reverse("catalog:guide_preview", args=[text.pk])

    @admin.display(description=_("preview"))
    def look(self, text: GuideText) -> str:
        """Return a link to the text as readers will see it."""
        return format_html('<a href="{}">{}</a>', self.view_on_site(text), _("Preview"))

    def has_delete_permission(self, request: HttpRequest, obj: GuideText | None = None) -> bool:
        """Keep what readers may have linked to; a text goes back to draft instead."""
        return False
