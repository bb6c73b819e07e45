"""What people write to the site, reports of abuse included."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from marketplace.accounts.models.users import EMAIL_LENGTH, NAME_LENGTH, Language

MESSAGE_LENGTH = 5_000


class ContactMessage(models.Model):
    """One message to the staff, with what was done about it."""

    class Topic(models.TextChoices):
        QUESTION = "question", _("A question before buying")
        ORDER = "order", _("An order or a rental")
        PAYMENT = "payment", _("A payment or an invoice")
        SELLING = "selling", _("Selling GPU hours")
        PRIVACY = "privacy", _("My personal data")
        ABUSE = "abuse", _("Report abuse")
        OTHER = "other", _("Something else")

    class State(models.TextChoices):
        NEW = "new", _("New")
        IN_HAND = "in_hand", _("In hand")
        ANSWERED = "answered", _("Answered")
        CLOSED = "closed", _("Closed without answer")

    topic = models.CharField(_("topic"), max_length=8, choices=Topic.choices)
    name = models.CharField(_("name"), max_length=NAME_LENGTH, blank=True)
    email = models.EmailField(_("e-mail address"), max_length=EMAIL_LENGTH)
    language = models.CharField(_("language"), max_length=2, choices=Language.choices)
    message = models.TextField(_("message"), max_length=MESSAGE_LENGTH)
    # What a report of abuse names.
    abuse_address = models.CharField(_("address complained of"), max_length=200, blank=True)
    evidence = models.TextField(_("evidence"), max_length=MESSAGE_LENGTH, blank=True)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("user"),
    )
    created_at = models.DateTimeField(_("received"))
    state = models.CharField(_("state"), max_length=8, choices=State.choices, default=State.NEW)
    note = models.TextField(_("note on the answer"), blank=True)

    class Meta:
        verbose_name = _("message")
        verbose_name_plural = _("messages")
        constraints = [
            models.CheckConstraint(
                condition=~Q(topic="abuse") | ~Q(abuse_address=""),
                name="accounts_contact_abuse_has_address",
                violation_error_message=_("Say what address the report is about."),
            ),
        ]

    def __str__(self) -> str:
        return f"message {self.pk}"
