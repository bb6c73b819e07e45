"""What customers order, and what the exchange matched."""

from datetime import datetime, timedelta

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from billing.models import CURRENCIES
from billing.money import PRICE_MAX_MICRO, PRICE_MIN_MICRO

MAX_HOURS = 168
SLOT_LENGTH = timedelta(minutes=15)


def hold_purpose(*, bid_id: int) -> str:
    """Return the name under which the ledger holds a bid's money."""
    return f"bid:{bid_id}"


class Bid(models.Model):
    """A customer's order. Its hold stands in the ledger under ``hold_purpose``."""

    class Kind(models.TextChoices):
        BUY_NOW = "buy_now", _("Buy now")
        LIMIT = "limit", _("Bid")

    class Status(models.TextChoices):
        PENDING = "pending", _("Being placed")
        RESTING = "resting", _("Waiting")
        FILLED = "filled", _("Filled")
        REFUSED = "refused", _("Refused")
        CANCELLED = "cancelled", _("Cancelled")
        EXPIRED = "expired", _("Expired")

    organisation = models.ForeignKey(
        "accounts.Organisation", on_delete=models.PROTECT, related_name="bids"
    )
    placed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )
    gpu_model = models.ForeignKey(
        "catalog.GpuModel", on_delete=models.PROTECT, related_name="+", verbose_name=_("GPU model")
    )
    group_id = models.BigIntegerField(
        help_text=_("The related group at placing: orders of one group never trade.")
    )
    kind = models.CharField(_("kind"), max_length=8, choices=Kind.choices)
    gpus = models.PositiveSmallIntegerField(_("GPUs"))
    hours = models.PositiveSmallIntegerField(_("hours"))
    currency = models.CharField(_("currency"), max_length=3, choices=CURRENCIES)
    limit_price_micro = models.BigIntegerField(_("limit"))
    earliest_start = models.DateTimeField(_("earliest start"))
    latest_start = models.DateTimeField(_("latest start"))
    regions = ArrayField(models.CharField(max_length=12), default=list, blank=True)
    tiers = ArrayField(models.CharField(max_length=12), default=list, blank=True)
    ssh_public_key = models.TextField(_("SSH public key"))
    label = models.CharField(_("label"), max_length=60, blank=True)
    vat_bps = models.PositiveSmallIntegerField(_("VAT rate"))
    vat_country = models.CharField(_("VAT country"), max_length=2)
    vat_rule = models.CharField(_("VAT rule"), max_length=40)
    status = models.CharField(
        _("status"), max_length=10, choices=Status.choices, default=Status.PENDING
    )
    refusal = models.CharField(_("reason"), max_length=40, blank=True)
    sequence = models.BigIntegerField(_("number"), null=True, blank=True)
    placed_at = models.DateTimeField(_("placed"))
    closed_at = models.DateTimeField(_("closed"), null=True, blank=True)
    expiry_told_at = models.DateTimeField(
        _("expiry told"), null=True, blank=True, help_text=_("When the mail was written.")
    )

    class Meta:
        verbose_name = _("bid")
        verbose_name_plural = _("bids")
        constraints = [
            models.CheckConstraint(
                condition=Q(
                    limit_price_micro__gte=PRICE_MIN_MICRO, limit_price_micro__lte=PRICE_MAX_MICRO
                ),
                name="marketplace_bid_limit_in_range",
            ),
            models.CheckConstraint(
                condition=Q(hours__gte=1, hours__lte=MAX_HOURS), name="marketplace_bid_hours"
            ),
            models.CheckConstraint(condition=Q(gpus__gte=1), name="marketplace_bid_gpus"),
            models.CheckConstraint(
                condition=Q(latest_start__gte=F("earliest_start")),
                name="marketplace_bid_window",
            ),
        ]
        indexes = [
            # The book at a restart, and each organisation's count of open bids.
            models.Index(
                fields=["gpu_model", "-limit_price_micro", "sequence"],
                name="marketplace_bid_book",
                condition=Q(status="resting"),
            ),
            # The sweep that writes mails about expired bids.
            models.Index(
                fields=["id"],
                name="marketplace_bid_untold",
                condition=Q(status="expired", expiry_told_at__isnull=True),
            ),
            # "My orders", newest first.
            models.Index(fields=["organisation", "-id"], name="marketplace_bid_of_owner"),
        ]

    def __str__(self) -> str:
        return f"bid {self.pk}"

    @property
    def hold_purpose(self) -> str:
        return hold_purpose(bid_id=self.pk)

    @property
    def is_open(self) -> bool:
        return self.status in {self.Status.PENDING, self.Status.RESTING}


class Fill(models.Model):
    """One bid matched with one offer. Terms are copied: a later edit changes no sold hour."""

    bid = models.OneToOneField(Bid, on_delete=models.PROTECT, related_name="fill")
    offer = models.ForeignKey("marketplace.Offer", on_delete=models.PROTECT, related_name="fills")
    server = models.ForeignKey("marketplace.Server", on_delete=models.PROTECT, related_name="fills")
    seller = models.ForeignKey(
        "accounts.Organisation", on_delete=models.PROTECT, related_name="sales"
    )
    sequence = models.BigIntegerField(_("number"))
    starts_at = models.DateTimeField(_("paid from"))
    hours = models.PositiveSmallIntegerField(_("hours"))
    gpus = models.PositiveSmallIntegerField(_("GPUs"))
    setup_slots = models.PositiveSmallIntegerField(_("set-up slots"))
    min_hours = models.PositiveSmallIntegerField(_("fewest hours"))
    customer_currency = models.CharField(max_length=3, choices=CURRENCIES)
    customer_price_micro = models.BigIntegerField(_("customer's price"))
    seller_currency = models.CharField(max_length=3, choices=CURRENCIES)
    seller_price_micro = models.BigIntegerField(_("seller's price"))
    rate_epoch = models.PositiveIntegerField(_("rate epoch"), default=0)
    fee_bps = models.PositiveSmallIntegerField(_("platform fee"))
    occurred_at = models.DateTimeField(_("matched"))
    told_at = models.DateTimeField(
        _("told"), null=True, blank=True, help_text=_("When the mails were written.")
    )

    class Meta:
        verbose_name = _("fill")
        verbose_name_plural = _("fills")
        constraints = [
            models.CheckConstraint(
                condition=Q(customer_price_micro__gt=0, seller_price_micro__gt=0),
                name="marketplace_fill_prices_positive",
            ),
            models.CheckConstraint(
                condition=~Q(customer_currency=F("seller_currency"))
                | Q(customer_price_micro=F("seller_price_micro")),
                name="marketplace_fill_same_currency_same_price",
            ),
        ]
        indexes = [
            # A model's last fills, through its offers, newest first.
            models.Index(fields=["-occurred_at"], name="marketplace_fill_recent"),
            # The sweep that writes mails about fills.
            models.Index(
                fields=["id"], name="marketplace_fill_untold", condition=Q(told_at__isnull=True)
            ),
        ]

    def __str__(self) -> str:
        return f"fill {self.pk}"

    @property
    def setup_starts_at(self) -> datetime:
        return self.starts_at - self.setup_slots * SLOT_LENGTH

    @property
    def ends_at(self) -> datetime:
        return self.starts_at + timedelta(hours=self.hours)
