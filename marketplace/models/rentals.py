"""What a customer owns after a fill: the rental, its hours and the time that was not delivered."""

from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _


class Rental(models.Model):
    """A fill's life from ``sold`` to ``ended``. Times are of paid time, on the grid of slots."""

    class State(models.TextChoices):
        SOLD = "sold", _("Sold")
        PREPARING = "preparing", _("Preparing")
        READY = "ready", _("Ready")
        RUNNING = "running", _("Running")
        INTERRUPTED = "interrupted", _("Interrupted")
        NOT_DELIVERED = "not_delivered", _("Not delivered")
        ENDED = "ended", _("Ended")

    class EndReason(models.TextChoices):
        COMPLETED = "completed", _("Completed")
        STOPPED_BY_CUSTOMER = "stopped_by_customer", _("Stopped by the customer")
        BALANCE = "balance", _("Balance used up")
        SELLER_FAILURE = "seller_failure", _("Seller's failure")
        NOT_DELIVERED = "not_delivered", _("Not delivered")
        ABUSE = "abuse", _("Abuse")
        ADMIN = "admin", _("Ended by staff")
        PLATFORM = "platform", _("Platform's failure")

    # How a rental ends whose hours its seller did not deliver.
    UNDELIVERED = (EndReason.NOT_DELIVERED, EndReason.SELLER_FAILURE)

    class ProbeError(models.TextChoices):
        """What the probe reports; the same words as in its gateway."""

        UNKNOWN_HOST = "unknown_host", _("The host name does not exist.")
        ADDRESS_REFUSED = (
            "address_refused",
            _("The address cannot be reached from the Internet."),
        )
        NO_ANSWER = "no_answer", _("The machine did not answer within 5 seconds.")
        CONNECTION_REFUSED = "connection_refused", _("Nothing listens at this port.")
        NOT_SSH = "not_ssh", _("What answers at this port is not an SSH server.")
        OTHER_HOST_KEY = "other_host_key", _("The machine shows another host key.")

    fill = models.OneToOneField("marketplace.Fill", on_delete=models.PROTECT, related_name="rental")
    organisation = models.ForeignKey(
        "accounts.Organisation", on_delete=models.PROTECT, related_name="rentals"
    )
    server = models.ForeignKey(
        "marketplace.Server", on_delete=models.PROTECT, related_name="rentals"
    )
    state = models.CharField(_("state"), max_length=14, choices=State.choices, default=State.SOLD)
    setup_starts_at = models.DateTimeField(_("set-up from"))
    starts_at = models.DateTimeField(_("paid from"))
    ends_at = models.DateTimeField(_("paid to"))
    ssh_public_key = models.TextField(_("SSH public key"))
    # What the seller typed: where the customer connects, and the key the machine must show.
    host = models.CharField(_("host"), max_length=255, blank=True)
    port = models.PositiveIntegerField(_("port"), null=True, blank=True)
    username = models.CharField(_("user"), max_length=32, blank=True)
    host_key_fingerprint = models.CharField(_("host key"), max_length=64, blank=True)
    handed_over_at = models.DateTimeField(_("handed over"), null=True, blank=True)
    # What the site itself verified.
    ready_at = models.DateTimeField(_("ready"), null=True, blank=True)
    access_opened_at = models.DateTimeField(_("access opened"), null=True, blank=True)
    last_verified_at = models.DateTimeField(_("last verified"), null=True, blank=True)
    next_probe_at = models.DateTimeField(_("next check"), null=True, blank=True)
    probe_misses = models.PositiveSmallIntegerField(_("missed checks"), default=0)
    probe_error = models.CharField(
        _("last check's error"), max_length=20, choices=ProbeError.choices, blank=True
    )
    hours_charged = models.PositiveSmallIntegerField(_("hours charged"), default=0)
    hours_settled = models.PositiveSmallIntegerField(_("hours settled"), default=0)
    # What an early end by the customer cost beside the due hours.
    break_fee_net_minor = models.BigIntegerField(_("early end's fee, net"), default=0)
    break_fee_vat_minor = models.BigIntegerField(_("VAT on the early end's fee"), default=0)
    break_fee_seller_minor = models.BigIntegerField(_("seller's share of the fee"), default=0)
    ended_at = models.DateTimeField(_("ended"), null=True, blank=True)
    end_reason = models.CharField(_("end"), max_length=20, choices=EndReason.choices, blank=True)
    ending_told_at = models.DateTimeField(
        _("ending told"),
        null=True,
        blank=True,
        help_text=_("When the mail about the last hour was written."),
    )

    class Meta:
        verbose_name = _("rental")
        verbose_name_plural = _("rentals")
        constraints = [
            models.CheckConstraint(
                condition=Q(ends_at__gt=F("starts_at")) & Q(setup_starts_at__lte=F("starts_at")),
                name="marketplace_rental_period",
            ),
            models.CheckConstraint(
                condition=(Q(ended_at__isnull=True) & Q(end_reason=""))
                | (Q(ended_at__isnull=False) & ~Q(end_reason="")),
                name="marketplace_rental_end_has_reason",
            ),
            models.CheckConstraint(
                condition=Q(hours_settled__lte=F("hours_charged")),
                name="marketplace_rental_settled_after_charged",
            ),
        ]
        indexes = [
            # The sweeps: every rental that is not over, by its next boundary.
            models.Index(
                fields=["setup_starts_at"],
                name="marketplace_rental_live",
                condition=Q(ended_at__isnull=True),
            ),
            # The probe's sweep.
            models.Index(
                fields=["next_probe_at"],
                name="marketplace_rental_probe",
                condition=Q(next_probe_at__isnull=False),
            ),
            # The settlement's sweep: hours that were charged and are not settled.
            models.Index(
                fields=["id"],
                name="marketplace_rental_unsettled",
                condition=Q(hours_settled__lt=F("hours_charged")),
            ),
            # The sweep that writes mails about rentals in their last hour.
            models.Index(
                fields=["ends_at"],
                name="marketplace_rental_ending",
                condition=Q(ended_at__isnull=True, ending_told_at__isnull=True),
            ),
            # "My rentals", newest first.
            models.Index(fields=["organisation", "-id"], name="marketplace_rental_of_owner"),
        ]

    def __str__(self) -> str:
        return f"rental {self.pk}"

    @property
    def is_live(self) -> bool:
        return self.ended_at is None


class RentalHour(models.Model):
    """One charged hour, and what was given back for its undelivered minutes."""

    rental = models.ForeignKey(Rental, on_delete=models.PROTECT, related_name="rental_hours")
    number = models.PositiveSmallIntegerField(_("hour"))
    starts_at = models.DateTimeField(_("from"))
    net_minor = models.BigIntegerField(_("net"))
    vat_minor = models.BigIntegerField(_("VAT"))
    seller_minor = models.BigIntegerField(_("seller's share"))
    journal = models.OneToOneField(
        "billing.Journal", on_delete=models.PROTECT, related_name="+", verbose_name=_("journal")
    )
    undelivered_minutes = models.PositiveSmallIntegerField(_("undelivered minutes"), default=0)
    credit_net_minor = models.BigIntegerField(_("net credit"), default=0)
    credit_vat_minor = models.BigIntegerField(_("VAT credit"), default=0)
    credit_seller_minor = models.BigIntegerField(_("seller's share given back"), default=0)
    credit_journal = models.OneToOneField(
        "billing.Journal", on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    settled_at = models.DateTimeField(_("settled"), null=True, blank=True)

    class Meta:
        verbose_name = _("rental hour")
        verbose_name_plural = _("rental hours")
        constraints = [
            models.UniqueConstraint(
                fields=["rental", "number"], name="marketplace_hour_charged_once"
            ),
            models.CheckConstraint(condition=Q(number__gte=1), name="marketplace_hour_number"),
        ]

    def __str__(self) -> str:
        return f"rental hour {self.pk}"


class DeliveryGap(models.Model):
    """A period after ready that the site could not verify. Open while ``ends_at`` is empty."""

    class Cause(models.TextChoices):
        SELLER = "seller", _("Seller")
        WORKLOAD = "workload", _("Workload")
        UNKNOWN = "unknown", _("Unknown")

    rental = models.ForeignKey(Rental, on_delete=models.PROTECT, related_name="gaps")
    starts_at = models.DateTimeField(_("from"))
    ends_at = models.DateTimeField(_("to"), null=True, blank=True)
    noticed_at = models.DateTimeField(
        _("noticed"),
        help_text=_("When the site knew: the delays before an end run from here."),
    )
    cause = models.CharField(_("cause"), max_length=10, choices=Cause.choices)
    customer_waits = models.BooleanField(
        _("customer waits"),
        default=False,
        help_text=_("The customer keeps the rental: the gap does not end it by itself."),
    )

    class Meta:
        verbose_name = _("delivery gap")
        verbose_name_plural = _("delivery gaps")
        constraints = [
            models.UniqueConstraint(
                fields=["rental"],
                condition=Q(ends_at__isnull=True),
                name="marketplace_gap_one_open",
            ),
            models.CheckConstraint(
                condition=Q(ends_at__isnull=True) | Q(ends_at__gt=F("starts_at")),
                name="marketplace_gap_not_empty",
            ),
        ]

    def __str__(self) -> str:
        return f"delivery gap {self.pk}"
