"""Public keys that a person's rentals accept."""

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _


class SshKey(models.Model):
    """An OpenSSH public key of a user, one line, without options."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="ssh_keys"
    )
    name = models.CharField(_("name"), max_length=60)
    public_key = models.TextField(_("public key"))
    fingerprint = models.CharField(_("fingerprint"), max_length=64)
    created_at = models.DateTimeField(_("created"))

    class Meta:
        verbose_name = _("SSH key")
        verbose_name_plural = _("SSH keys")
        constraints = [
            models.UniqueConstraint(
                fields=["user", "fingerprint"],
                name="accounts_ssh_key_once",
                violation_error_message=_("You have added this key already."),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.pk})"
