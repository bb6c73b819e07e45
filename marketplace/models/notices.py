"""Mails that are due or were written once: the row is the job, or the memory of it."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from billing.models import CURRENCIES


class OpeningNotice(models.Model):
    """One person to be told that the market has opened. ``told_at`` is set whether they wanted it."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+", verbose_name=_("user")
    )
    created_at = models.DateTimeField(_("created"))
    told_at = models.DateTimeField(_("told"), null=True, blank=True)

    class Meta:
        verbose_name = _("opening notice")
        verbose_name_plural = _("opening notices")
        indexes = [
            # The sweep that writes the mails.
            models.Index(
                fields=["id"],
                name="marketplace_opening_untold",
                condition=Q(told_at__isnull=True),
            ),
        ]

    def __str__(self) -> str:
        return f"opening notice {self.pk}"


class LowBalanceNotice(models.Model):
    """A person was told that this wallet is low; kept until it lasts long enough again."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    organisation = models.ForeignKey(
        "accounts.Organisation", on_delete=models.PROTECT, related_name="+"
    )
    currency = models.CharField(_("currency"), max_length=3, choices=CURRENCIES)
    told_at = models.DateTimeField(_("told"))

    class Meta:
        verbose_name = _("low balance notice")
        verbose_name_plural = _("low balance notices")
        constraints = [
            models.UniqueConstraint(
                fields=["organisation", "currency", "user"],
                name="marketplace_low_balance_once",
            ),
        ]

    def __str__(self) -> str:
        return f"low balance notice {self.pk}"
