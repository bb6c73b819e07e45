"""Payments by card: top-ups and the provider's events."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from billing.models.ledger import CURRENCIES, Journal


class TopUp(models.Model):
    """A customer's payment into a wallet, through the provider's hosted page."""

    class State(models.TextChoices):
        CREATED = "created", _("Created")
        REDIRECTED = "redirected", _("Awaiting payment")
        PROCESSING = "processing", _("Processing")
        PAID = "paid", _("Paid")
        FAILED = "failed", _("Failed")
        EXPIRED = "expired", _("Expired")

    organisation = models.ForeignKey(
        "accounts.Organisation", on_delete=models.PROTECT, related_name="+"
    )
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    currency = models.CharField(_("currency"), max_length=3, choices=CURRENCIES)
    amount_minor = models.BigIntegerField(_("amount"))
    state = models.CharField(
        _("state"), max_length=10, choices=State.choices, default=State.CREATED
    )
    idempotency_key = models.CharField(_("idempotency key"), max_length=64)
    checkout_session_id = models.CharField(max_length=120, null=True, blank=True, unique=True)
    payment_intent_id = models.CharField(max_length=120, null=True, blank=True, unique=True)
    checkout_url = models.TextField(blank=True)
    failure = models.CharField(_("failure"), max_length=200, blank=True)
    journal = models.OneToOneField(
        Journal, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(_("created"))
    checked_at = models.DateTimeField(_("last checked"), null=True, blank=True)
    settled_at = models.DateTimeField(_("settled"), null=True, blank=True)

    class Meta:
        verbose_name = _("top-up")
        verbose_name_plural = _("top-ups")
        constraints = [
            models.UniqueConstraint(
                fields=["organisation", "idempotency_key"], name="billing_topup_key_once"
            ),
            models.CheckConstraint(
                condition=Q(amount_minor__gt=0), name="billing_topup_amount_positive"
            ),
            models.CheckConstraint(
                condition=~Q(state="paid") | Q(journal__isnull=False),
                name="billing_topup_paid_has_journal",
            ),
        ]
        indexes = [
            # The sweep of payments whose webhook was missed.
            models.Index(
                fields=["created_at"],
                name="billing_topup_unsettled",
                condition=Q(state__in=["created", "redirected", "processing"]),
            ),
        ]

    def __str__(self) -> str:
        return f"top-up {self.pk}"


class StripeEvent(models.Model):
    """A webhook as it came. Stored first, applied later from the object read again."""

    event_id = models.CharField(_("event"), max_length=120, primary_key=True)
    type = models.CharField(_("type"), max_length=80)
    object_id = models.CharField(_("object"), max_length=120, blank=True)
    payload = models.JSONField(_("payload"))
    received_at = models.DateTimeField(_("received"))
    processed_at = models.DateTimeField(_("processed"), null=True, blank=True)
    attempts = models.PositiveIntegerField(_("attempts"), default=0)
    error = models.CharField(_("error"), max_length=300, blank=True)
    # Who works on it keeps the others away until then; after a failure, the next try.
    due_at = models.DateTimeField(_("due"))

    class Meta:
        verbose_name = _("Stripe event")
        verbose_name_plural = _("Stripe events")
        indexes = [
            # The sweep of events that are not applied yet.
            models.Index(
                fields=["due_at"],
                name="billing_event_unprocessed",
                condition=Q(processed_at__isnull=True),
            ),
        ]

    def __str__(self) -> str:
        return self.event_id


class TopUpGate(models.Model):
    """Whether wallets take money now. One row; the market's state sets it."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    is_open = models.BooleanField(_("open"), default=False)
    reason = models.CharField(_("reason"), max_length=200, blank=True)
    changed_at = models.DateTimeField(_("changed"))

    class Meta:
        verbose_name = _("gate of top-ups")
        verbose_name_plural = _("gate of top-ups")
        constraints = [
            models.CheckConstraint(condition=Q(id=1), name="billing_top_up_gate_one_row"),
        ]

    def __str__(self) -> str:
        return "open" if self.is_open else "closed"


class StripeCursor(models.Model):
    """Up to where Stripe's list of events was read, in Stripe's own time. One row."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    seen_until = models.DateTimeField(_("read up to"))

    class Meta:
        verbose_name = _("cursor of Stripe events")
        verbose_name_plural = _("cursor of Stripe events")
        constraints = [
            models.CheckConstraint(condition=Q(id=1), name="billing_stripe_cursor_one_row"),
        ]

    def __str__(self) -> str:
        return self.seen_until.isoformat()
