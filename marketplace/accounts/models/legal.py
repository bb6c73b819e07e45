"""Legal texts, and who accepted which version."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from django.utils.translation import override

from marketplace.accounts.models.users import Language


class LegalKey(models.TextChoices):
    TERMS = "terms", _("Terms of use")
    SALE = "sale", _("Terms of sale")
    SELLERS = "sellers", _("Terms for sellers")
    PRIVACY = "privacy", _("Privacy")
    NOTICE = "notice", _("Legal notice")


# What a customer must have accepted before money moves.
ACCEPTED_BY_CUSTOMERS = frozenset({LegalKey.TERMS, LegalKey.SALE})


class LegalText(models.Model):
    """One version of a text in one language, in Markdown. The newest published one is in force."""

    class State(models.TextChoices):
        DRAFT = "draft", _("Draft")
        PUBLISHED = "published", _("Published")

    key = models.CharField(_("text"), max_length=8, choices=LegalKey.choices)
    language = models.CharField(_("language"), max_length=2, choices=Language.choices)
    version = models.DateField(
        _("version"), help_text=_("A later date asks every customer to accept the text again.")
    )
    title = models.CharField(_("title"), max_length=120)
    body = models.TextField(
        _("text"),
        help_text=_("Markdown. Names in double square brackets are filled in from the settings."),
    )
    state = models.CharField(_("state"), max_length=9, choices=State.choices, default=State.DRAFT)
    loaded_at = models.DateTimeField(_("loaded"), null=True, blank=True, editable=False)

    class Meta:
        verbose_name = _("legal text")
        verbose_name_plural = _("legal texts")
        constraints = [
            models.UniqueConstraint(
                fields=["key", "language", "version"],
                name="accounts_legal_version_once",
                violation_error_message=_("This text has a version of that date already."),
            ),
            models.CheckConstraint(
                condition=Q(key__in=["terms", "sale", "sellers", "privacy", "notice"]),
                name="accounts_legal_key_known",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.key} {self.language} {self.version} ({self.pk})"

    def get_absolute_url(self) -> str:
        with override(self.language):
            address = reverse("accounts:legal", kwargs={"key": self.key})
        return f"{address}?version={self.version.isoformat()}"


class TermsAcceptance(models.Model):
    """A person's consent to one version of one text. Written once; a trigger refuses changes."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="acceptances"
    )
    key = models.CharField(_("text"), max_length=8, choices=LegalKey.choices)
    version = models.DateField(_("version"))
    language = models.CharField(_("language"), max_length=2, choices=Language.choices)
    accepted_at = models.DateTimeField(_("accepted"))

    class Meta:
        verbose_name = _("acceptance of terms")
        verbose_name_plural = _("acceptances of terms")
        constraints = [
            models.UniqueConstraint(
                fields=["user", "key", "version"], name="accounts_acceptance_once"
            ),
        ]

    def __str__(self) -> str:
        return f"acceptance {self.pk}"
