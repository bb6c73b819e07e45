"""Tax identity of an organisation."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _


class BillingProfile(models.Model):
    """Who is invoiced, and where: asked before the first top-up."""

    organisation = models.OneToOneField(
        "accounts.Organisation", on_delete=models.PROTECT, related_name="billing_profile"
    )
    legal_name = models.CharField(_("legal name"), max_length=160)
    address = models.CharField(_("address"), max_length=240, blank=True)
    postal_code = models.CharField(_("postal code"), max_length=16, blank=True)
    city = models.CharField(_("city"), max_length=80, blank=True)
    country = models.CharField(_("country"), max_length=2)
    vat_id = models.CharField(_("VAT number"), max_length=20, blank=True)
    vat_id_checked_at = models.DateTimeField(_("VAT number checked"), null=True, blank=True)
    updated_at = models.DateTimeField(_("updated"))

    class Meta:
        verbose_name = _("billing profile")
        verbose_name_plural = _("billing profiles")
        constraints = [
            models.CheckConstraint(
                condition=Q(country__regex=r"^[A-Z]{2}$"), name="billing_profile_country_code"
            ),
        ]

    def __str__(self) -> str:
        return f"billing profile {self.pk}"
