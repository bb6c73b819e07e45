"""What sellers bring: servers, their calendar, and offers."""

from django.contrib.postgres.constraints import ExclusionConstraint
from django.contrib.postgres.fields import (
    ArrayField,
    DateTimeRangeField,
    RangeOperators,
)
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from billing.models import CURRENCIES
from billing.money import PRICE_MAX_MICRO, PRICE_MIN_MICRO
from catalog.models import market

SLOTS_PER_DAY = 96


class Seller(models.Model):
    """An organisation that sells hours, once staff have verified it."""

    class State(models.TextChoices):
        APPLIED = "applied", _("Applied")
        VERIFIED = "verified", _("Verified")
        SUSPENDED = "suspended", _("Suspended")
        REJECTED = "rejected", _("Rejected")

    organisation = models.OneToOneField(
        "accounts.Organisation", on_delete=models.PROTECT, related_name="seller"
    )
    state = models.CharField(
        _("state"), max_length=10, choices=State.choices, default=State.APPLIED
    )
    delivers_by_hand = models.BooleanField(
        _("delivers by hand"),
        default=False,
        help_text=_("Staff allow this seller to hand over machines without the agent."),
    )
    applied_at = models.DateTimeField(_("applied"))
    verified_at = models.DateTimeField(_("verified"), null=True, blank=True)
    note = models.CharField(_("note to the seller"), max_length=300, blank=True)

    class Meta:
        verbose_name = _("seller")
        verbose_name_plural = _("sellers")

    def __str__(self) -> str:
        return f"seller {self.pk}"


class Server(models.Model):
    """A seller's machine with identical GPUs of one model."""

    Region = market.Region
    Tier = market.Tier

    class Delivery(models.TextChoices):
        BY_HAND = "hand", _("By hand")
        AGENT = "agent", _("By the agent")

    class Suspension(models.TextChoices):
        """Why a server takes no new sales."""

        NOT_DELIVERED = "not_delivered", _("A sold machine was not delivered in time.")
        SELLER_FAILURE = "failure", _("A rental ended because its machine could not be used.")
        STAFF = "staff", _("Our staff suspended it.")

    organisation = models.ForeignKey(
        "accounts.Organisation", on_delete=models.PROTECT, related_name="servers"
    )
    gpu_model = models.ForeignKey(
        "catalog.GpuModel", on_delete=models.PROTECT, related_name="+", verbose_name=_("GPU model")
    )
    name = models.CharField(_("name"), max_length=60)
    gpu_count = models.PositiveSmallIntegerField(_("GPUs"))
    region = models.CharField(_("region"), max_length=12, choices=Region.choices)
    tier = models.CharField(_("tier"), max_length=12, choices=Tier.choices, default=Tier.STANDARD)
    delivery = models.CharField(
        _("delivery"), max_length=6, choices=Delivery.choices, default=Delivery.BY_HAND
    )
    setup_slots = models.PositiveSmallIntegerField(_("set-up slots"), default=4)
    ram_gb = models.PositiveIntegerField(_("RAM (GB)"), default=0)
    vcpus = models.PositiveSmallIntegerField(_("vCPUs"), default=0)
    disk_gb_per_gpu = models.PositiveIntegerField(_("disk per GPU (GB)"), default=0)
    has_nvlink = models.BooleanField(_("NVLink"), default=False)
    is_suspended = models.BooleanField(_("suspended"), default=False)
    suspended_at = models.DateTimeField(_("suspended since"), null=True, blank=True)
    suspension = models.CharField(
        _("suspension"), max_length=13, choices=Suspension.choices, blank=True
    )
    suspended_after = models.ForeignKey(
        "marketplace.Rental",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("suspended after"),
    )
    created_at = models.DateTimeField(_("created"))

    class Meta:
        verbose_name = _("server")
        verbose_name_plural = _("servers")
        constraints = [
            models.UniqueConstraint(
                fields=["organisation", "name"],
                name="marketplace_server_name_once",
                violation_error_message=_("You have a server with this name already."),
            ),
            models.CheckConstraint(
                condition=Q(gpu_count__gte=1, gpu_count__lte=16),
                name="marketplace_server_gpu_count",
            ),
            models.CheckConstraint(
                condition=Q(setup_slots__gte=1, setup_slots__lte=16),
                name="marketplace_server_setup_slots",
            ),
            models.CheckConstraint(
                condition=Q(is_suspended=False, suspended_at__isnull=True, suspension="")
                | (Q(is_suspended=True, suspended_at__isnull=False) & ~Q(suspension="")),
                name="marketplace_server_suspension_is_explained",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.pk})"


class ServerDay(models.Model):
    """How many GPUs are sold in each slot of a server's day (UTC).

    Written at the fill; the check refuses a slot sold beyond the server's GPUs, whatever the code
    believes. It is also the exchange's calendar at a restart.
    """

    server = models.ForeignKey(Server, on_delete=models.PROTECT, related_name="days")
    day = models.DateField()
    capacity = models.PositiveSmallIntegerField()
    used = ArrayField(models.SmallIntegerField(), size=SLOTS_PER_DAY)

    class Meta:
        verbose_name = _("server day")
        verbose_name_plural = _("server days")
        constraints = [
            models.UniqueConstraint(fields=["server", "day"], name="marketplace_server_day_once"),
        ]

    def __str__(self) -> str:
        return f"server day {self.pk}"


class Offer(models.Model):
    """A server's hours for sale. One open offer per server."""

    class Status(models.TextChoices):
        PENDING = "pending", _("Being listed")
        OPEN = "open", _("Open")
        WITHDRAWN = "withdrawn", _("Withdrawn")
        EXPIRED = "expired", _("Expired")

    server = models.ForeignKey(Server, on_delete=models.PROTECT, related_name="offers")
    organisation = models.ForeignKey(
        "accounts.Organisation", on_delete=models.PROTECT, related_name="offers"
    )
    gpu_model = models.ForeignKey("catalog.GpuModel", on_delete=models.PROTECT, related_name="+")
    group_id = models.BigIntegerField(
        help_text=_("The related group at placing: orders of one group never trade.")
    )
    ask_price_micro = models.BigIntegerField(_("ask"))
    currency = models.CharField(_("currency"), max_length=3, choices=CURRENCIES)
    min_gpus = models.PositiveSmallIntegerField(_("fewest GPUs"), default=1)
    gpu_step = models.PositiveSmallIntegerField(_("GPU step"), default=1)
    min_hours = models.PositiveSmallIntegerField(_("fewest hours"), default=1)
    status = models.CharField(
        _("status"), max_length=10, choices=Status.choices, default=Status.PENDING
    )
    sequence = models.BigIntegerField(_("number"), null=True, blank=True)
    created_at = models.DateTimeField(_("created"))
    closed_at = models.DateTimeField(_("closed"), null=True, blank=True)

    class Meta:
        verbose_name = _("offer")
        verbose_name_plural = _("offers")
        constraints = [
            models.UniqueConstraint(
                fields=["server"],
                condition=Q(status__in=["pending", "open"]),
                name="marketplace_offer_one_open_per_server",
                violation_error_message=_("This server has an open offer already."),
            ),
            models.CheckConstraint(
                condition=Q(
                    ask_price_micro__gte=PRICE_MIN_MICRO, ask_price_micro__lte=PRICE_MAX_MICRO
                ),
                name="marketplace_offer_ask_in_range",
            ),
            models.CheckConstraint(
                condition=Q(min_gpus__gte=1) & Q(gpu_step__gte=1) & Q(min_hours__gte=1),
                name="marketplace_offer_minimums_positive",
            ),
        ]
        indexes = [
            # The book at a restart, in priority order.
            models.Index(
                fields=["gpu_model", "ask_price_micro", "sequence"],
                name="marketplace_offer_book",
                condition=Q(status="open"),
            ),
        ]

    def __str__(self) -> str:
        return f"offer {self.pk}"


class OfferWindow(models.Model):
    """A period [from, to) in which an offer's hours may lie, on the grid of slots."""

    offer = models.ForeignKey(Offer, on_delete=models.PROTECT, related_name="windows")
    starts_at = models.DateTimeField(_("from"))
    ends_at = models.DateTimeField(_("to"))

    class Meta:
        verbose_name = _("window")
        verbose_name_plural = _("windows")
        constraints = [
            models.CheckConstraint(
                condition=Q(ends_at__gt=F("starts_at")), name="marketplace_window_not_empty"
            ),
        ]

    def __str__(self) -> str:
        return f"window {self.pk}"


class GpuBooking(models.Model):
    """One physical GPU bound to one rental, written when its set-up slot begins."""

    server = models.ForeignKey(Server, on_delete=models.PROTECT, related_name="bookings")
    gpu_number = models.PositiveSmallIntegerField(_("GPU"))
    rental = models.ForeignKey(
        "marketplace.Rental", on_delete=models.PROTECT, related_name="bookings"
    )
    period = DateTimeRangeField(_("period"))

    class Meta:
        verbose_name = _("GPU booking")
        verbose_name_plural = _("GPU bookings")
        constraints = [
            ExclusionConstraint(
                name="marketplace_booking_gpu_once",
                expressions=[
                    ("server", RangeOperators.EQUAL),
                    ("gpu_number", RangeOperators.EQUAL),
                    ("period", RangeOperators.OVERLAPS),
                ],
            ),
        ]

    def __str__(self) -> str:
        return f"GPU booking {self.pk}"
