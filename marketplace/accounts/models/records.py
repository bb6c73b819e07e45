"""Rows that the whole project writes: the audit log, mails to send, the clock of demo and tests."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _


class AuditEntry(models.Model):
    """One act that touched money, the market or access. Written once; a trigger refuses changes."""

    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("actor"),
    )
    organisation = models.ForeignKey(
        "accounts.Organisation",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("organisation"),
    )
    action = models.CharField(_("action"), max_length=60)
    object_type = models.CharField(_("object"), max_length=40)
    object_id = models.CharField(_("object number"), max_length=64)
    details = models.JSONField(_("details"), default=dict)
    occurred_at = models.DateTimeField(_("occurred"))
    recorded_at = models.DateTimeField(_("recorded"), db_default=Now(), editable=False)

    class Meta:
        verbose_name = _("audit entry")
        verbose_name_plural = _("audit log")
        indexes = [
            # The admin's search of one object's history.
            models.Index(fields=["object_type", "object_id"], name="accounts_audit_object"),
        ]

    def __str__(self) -> str:
        return f"{self.action} ({self.pk})"


class Mail(models.Model):
    """A mail to send. The row is the job: a task sends it once and stamps ``sent_at``.

    ``next_attempt_at`` is set when a task claims the row: no other task takes it before then.
    """

    to_address = models.EmailField(_("to"), max_length=254)
    subject = models.CharField(_("subject"), max_length=255)
    body_text = models.TextField(_("text"))
    body_html = models.TextField(_("HTML"), blank=True)
    unsubscribe_url = models.CharField(
        _("unsubscribe address"),
        max_length=300,
        blank=True,
        default="",
        help_text=_("Where a mail program switches such mails off."),
    )
    created_at = models.DateTimeField(_("created"))
    sent_at = models.DateTimeField(_("sent"), null=True, blank=True)
    attempts = models.PositiveSmallIntegerField(_("attempts"), default=0)
    next_attempt_at = models.DateTimeField(_("next attempt"), null=True, blank=True)
    error = models.CharField(_("error"), max_length=200, blank=True)

    class Meta:
        verbose_name = _("mail")
        verbose_name_plural = _("mails")
        indexes = [
            # The sender's sweep of unsent mails.
            models.Index(
                fields=["id"], name="accounts_mail_unsent", condition=Q(sent_at__isnull=True)
            ),
        ]

    def __str__(self) -> str:
        return f"mail {self.pk}"


class ClockOffset(models.Model):
    """Seconds added to the database's time. One row, zero except in demo and tests."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    offset_seconds = models.BigIntegerField(default=0)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(id=1), name="accounts_clock_offset_one_row"),
        ]

    def __str__(self) -> str:
        return f"{self.offset_seconds} s"
