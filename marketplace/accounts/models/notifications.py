"""Which mails a person wants."""

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.core.validators import MaxValueValidator
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

KIND_LENGTH = 20
# As long as the longest rental: a warning earlier than that would come with every order.
LOW_BALANCE_HOURS_MAX = 168
# The largest top-up; whoever wants to be told above it would always be told.
LOW_BALANCE_MINOR_MAX = 5_000_00


class MailKind(models.TextChoices):
    """Mails that tell of what happened; codes and changes of access are no matter of choice."""

    ORDER_FILLED = "order_filled", _("Order filled")
    BID_EXPIRED = "bid_expired", _("Order expired")
    RENTAL_READY = "rental_ready", _("Rental ready")
    RENTAL_ENDING = "rental_ending", _("Rental about to end")
    LOW_BALANCE = "low_balance", _("Low balance")
    HOURS_SOLD = "hours_sold", _("Hours sold")
    PAYOUT = "payout", _("Payout")
    OPENING = "opening", _("Opening of the market")


# They tell of money spent, running out or paid, and one who missed them would lose by it.
ALWAYS_SENT = frozenset({MailKind.ORDER_FILLED, MailKind.LOW_BALANCE, MailKind.PAYOUT})


class NotificationSettings(models.Model):
    """A person's choice of mails. Without a row everything is sent, at the default thresholds."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="notification_settings"
    )
    switched_off = ArrayField(models.CharField(max_length=KIND_LENGTH), default=list, blank=True)
    low_balance_hours = models.PositiveSmallIntegerField(
        _("hours left"), default=6, validators=[MaxValueValidator(LOW_BALANCE_HOURS_MAX)]
    )
    # In the currency of each wallet; zero asks for hours alone.
    low_balance_minor = models.PositiveIntegerField(
        _("amount left"), default=0, validators=[MaxValueValidator(LOW_BALANCE_MINOR_MAX)]
    )
    updated_at = models.DateTimeField(_("changed"))

    class Meta:
        verbose_name = _("notification settings")
        verbose_name_plural = _("notification settings")
        constraints = [
            models.CheckConstraint(
                condition=~Q(switched_off__overlap=sorted(ALWAYS_SENT)),
                name="accounts_notifications_always_sent",
                violation_error_message=_("Mails about money cannot be switched off."),
            ),
        ]

    def __str__(self) -> str:
        return f"notification settings {self.pk}"
