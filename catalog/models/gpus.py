"""GPU models: the catalogue's entries, and the exchange's instruments."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _


class GpuModel(models.Model):
    """A GPU model with the maker's figures, per GPU, tensor rates without sparsity.

    Loaded from the sizing table by ``load_catalog``. ``figures`` holds the further rates as
    decimal strings; a key is absent when no source was read.
    """

    slug = models.SlugField(_("slug"), max_length=60, unique=True)
    name = models.CharField(_("name"), max_length=80)
    vendor = models.CharField(_("vendor"), max_length=40)
    architecture = models.CharField(_("architecture"), max_length=40)
    segment = models.CharField(_("segment"), max_length=40)
    memory_gb = models.PositiveIntegerField(_("memory (GB)"))
    memory_type = models.CharField(_("memory type"), max_length=20, blank=True)
    bandwidth_gb_per_s = models.DecimalField(_("bandwidth (GB/s)"), max_digits=7, decimal_places=1)
    figures = models.JSONField(
        _("further figures"), default=dict, help_text=_("Rates, power and links, as in the table.")
    )
    form_factor = models.CharField(_("form factor"), max_length=40, blank=True)
    release_year = models.PositiveSmallIntegerField(_("year"), null=True, blank=True)
    has_nvlink = models.BooleanField(_("NVLink"), default=False)
    is_featured = models.BooleanField(
        _("featured"), default=False, help_text=_("Shown in the fine-tuning table.")
    )
    is_listed = models.BooleanField(_("listed"), default=True)
    source_base = models.CharField(_("source"), max_length=240, blank=True)
    source_tensor = models.CharField(_("source of tensor rates"), max_length=240, blank=True)
    source_nvlink = models.CharField(_("source of NVLink"), max_length=240, blank=True)
    note = models.TextField(_("note"), blank=True)

    class Meta:
        verbose_name = _("GPU model")
        verbose_name_plural = _("GPU models")
        constraints = [
            models.CheckConstraint(
                condition=Q(memory_gb__gte=1, bandwidth_gb_per_s__gte=1),
                name="catalog_gpu_figures_positive",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.slug})"
