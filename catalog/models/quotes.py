"""Published prices. The exchange writes them; pages read them."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from billing.money import Currency


class Quote(models.Model):
    """The best open offer of a model in a currency, for 1 or for 8 GPUs, for one hour.

    ``price_micro`` is null when nothing can be bought now: never an invented price.
    """

    gpu_model = models.ForeignKey(
        "catalog.GpuModel", on_delete=models.PROTECT, related_name="quotes"
    )
    currency = models.CharField(
        _("currency"), max_length=3, choices=[(c.value, c.value) for c in Currency]
    )
    gpus = models.PositiveSmallIntegerField(_("GPUs"))
    price_micro = models.BigIntegerField(_("price"), null=True, blank=True)
    starts_at = models.DateTimeField(_("earliest start"), null=True, blank=True)
    as_of = models.DateTimeField(_("as of"))

    class Meta:
        verbose_name = _("quote")
        verbose_name_plural = _("quotes")
        constraints = [
            models.UniqueConstraint(
                fields=["gpu_model", "currency", "gpus"], name="catalog_quote_once"
            ),
            models.CheckConstraint(condition=Q(gpus__in=[1, 8]), name="catalog_quote_gpus"),
        ]

    def __str__(self) -> str:
        return f"quote {self.pk}"
