"""What customers say before the market opens: what they would order then. It binds nobody."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from billing.models import CURRENCIES
from billing.money import PRICE_MAX_MICRO, PRICE_MIN_MICRO
from marketplace.models.demand import MAX_HOURS


class Intention(models.Model):
    """An order that its organisation would place. Nothing is held or matched for it.

    Without a limit it would buy at the best offer. The key keeps a form that is sent twice from
    being saved twice.
    """

    organisation = models.ForeignKey(
        "accounts.Organisation", on_delete=models.PROTECT, related_name="intentions"
    )
    saved_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )
    gpu_model = models.ForeignKey(
        "catalog.GpuModel", on_delete=models.PROTECT, related_name="+", verbose_name=_("GPU model")
    )
    gpus = models.PositiveSmallIntegerField(_("GPUs"))
    hours = models.PositiveSmallIntegerField(_("hours"))
    currency = models.CharField(_("currency"), max_length=3, choices=CURRENCIES)
    limit_price_micro = models.BigIntegerField(_("limit"), null=True, blank=True)
    wanted_start = models.DateTimeField(_("wanted start"), null=True, blank=True)
    label = models.CharField(_("label"), max_length=60, blank=True)
    key = models.CharField(max_length=64)
    saved_at = models.DateTimeField(_("saved"))

    class Meta:
        verbose_name = _("intention")
        verbose_name_plural = _("intentions")
        constraints = [
            # Also the index of "my intentions".
            models.UniqueConstraint(
                fields=["organisation", "key"], name="marketplace_intention_key_once"
            ),
            models.CheckConstraint(
                condition=Q(limit_price_micro__isnull=True)
                | Q(limit_price_micro__gte=PRICE_MIN_MICRO, limit_price_micro__lte=PRICE_MAX_MICRO),
                name="marketplace_intention_limit_in_range",
            ),
            models.CheckConstraint(
                condition=Q(hours__gte=1, hours__lte=MAX_HOURS), name="marketplace_intention_hours"
            ),
            models.CheckConstraint(condition=Q(gpus__gte=1), name="marketplace_intention_gpus"),
        ]
        indexes = [
            # What sellers see: the demand for each model and currency.
            models.Index(fields=["gpu_model", "currency"], name="marketplace_intention_demand"),
        ]

    def __str__(self) -> str:
        return f"intention {self.pk}"
