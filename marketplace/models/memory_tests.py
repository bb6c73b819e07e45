"""A prediction of memory beside what a real card said: a short rental as a test of the engine."""

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _


class MemoryTest(models.Model):
    """One job, what the engine expected of it on a card, and the measurement once it is uploaded.

    ``job`` is the job file of the script, ``terms`` the addends of the prediction in the order in
    which they are shown. ``measurement`` holds the further figures of the result.
    """

    class Outcome(models.TextChoices):
        MEASURED = "measured", _("Measured")
        OUT_OF_MEMORY = "out_of_memory", _("Ran out of memory")

    organisation = models.ForeignKey(
        "accounts.Organisation", on_delete=models.PROTECT, related_name="memory_tests"
    )
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )
    gpu_model = models.ForeignKey(
        "catalog.GpuModel", on_delete=models.PROTECT, related_name="+", verbose_name=_("GPU model")
    )
    job = models.JSONField(_("job"))
    terms = models.JSONField(_("terms"))
    predicted_low_bytes = models.BigIntegerField(_("at least"))
    predicted_peak_bytes = models.BigIntegerField(_("expected"))
    predicted_high_bytes = models.BigIntegerField(_("at most"))
    engine_version = models.CharField(_("engine"), max_length=20)
    key = models.CharField(max_length=64)
    created_at = models.DateTimeField(_("created"))
    rental = models.ForeignKey(
        "marketplace.Rental",
        on_delete=models.PROTECT,
        related_name="+",
        null=True,
        blank=True,
        verbose_name=_("rental"),
    )
    outcome = models.CharField(_("outcome"), max_length=14, choices=Outcome.choices, blank=True)
    measured_bytes = models.BigIntegerField(_("measured"), null=True, blank=True)
    measurement = models.JSONField(_("measurement"), default=dict, blank=True)
    uploaded_at = models.DateTimeField(_("uploaded"), null=True, blank=True)

    class Meta:
        verbose_name = _("memory test")
        verbose_name_plural = _("memory tests")
        constraints = [
            # Also the index of "my tests".
            models.UniqueConstraint(
                fields=["organisation", "key"], name="marketplace_memorytest_key_once"
            ),
            models.CheckConstraint(
                condition=Q(predicted_low_bytes__gt=0)
                & Q(predicted_low_bytes__lte=F("predicted_peak_bytes"))
                & Q(predicted_peak_bytes__lte=F("predicted_high_bytes")),
                name="marketplace_memorytest_interval",
            ),
            models.CheckConstraint(
                condition=Q(outcome="", uploaded_at=None, measured_bytes=None)
                | Q(outcome="out_of_memory", uploaded_at__isnull=False)
                | Q(outcome="measured", uploaded_at__isnull=False, measured_bytes__gt=0),
                name="marketplace_memorytest_measured_whole",
            ),
        ]

    def __str__(self) -> str:
        return f"memory test {self.pk}"

    @property
    def name(self) -> str:
        """The name by which its script's results are told apart."""
        return str(self.pk)
