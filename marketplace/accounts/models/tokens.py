"""Keys of programs that act for an organisation."""

from datetime import datetime

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _
from knox.models import AbstractAuthToken
from knox.settings import CONSTANTS


class Scope(models.TextChoices):
    """What a program may do with a token."""

    READ = "read", _("Read your data")
    TRADE = "trade", _("Order and stop rentals")
    SELL = "sell", _("List servers and offers")


class ApiToken(AbstractAuthToken):
    """A token of one person for one organisation. Its text is shown once; the row holds a hash.

    ``token_key`` is the text's beginning, by which the row is found and its owner knows it.
    """

    id = models.BigAutoField(primary_key=True)
    digest = models.CharField(max_length=CONSTANTS.DIGEST_LENGTH, unique=True, editable=False)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="api_tokens"
    )
    organisation = models.ForeignKey(
        "accounts.Organisation",
        on_delete=models.PROTECT,
        related_name="+",
        verbose_name=_("organisation"),
    )
    name = models.CharField(_("name"), max_length=60)
    scopes = ArrayField(
        models.CharField(max_length=8, choices=Scope.choices), verbose_name=_("scopes")
    )
    created = models.DateTimeField(_("created"))
    expiry = models.DateTimeField(_("expires"), null=True, blank=True)
    last_used_at = models.DateTimeField(_("last used"), null=True, blank=True)

    class Meta:
        verbose_name = _("API token")
        verbose_name_plural = _("API tokens")
        constraints = [
            models.CheckConstraint(
                condition=Q(scopes__contained_by=["read", "trade", "sell"], scopes__len__gt=0),
                name="accounts_token_scopes_known",
            ),
        ]

    def __str__(self) -> str:
        return f"token {self.pk}"

    @property
    def scope_labels(self) -> list[str]:
        return [str(Scope(scope).label) for scope in self.scopes]

    def has_expired(self, now: datetime) -> bool:
        return self.expiry is not None and self.expiry <= now
