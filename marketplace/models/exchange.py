"""The exchange's own state: its shard, its log, the market's states, its decisions."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

MAIN_SHARD = 1


class Shard(models.Model):
    """A set of order books that share one lock, one sequence and one log. Version 1 has one."""

    last_sequence = models.BigIntegerField(default=0)
    version = models.BigIntegerField(default=0)
    last_clock_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name = _("shard")
        verbose_name_plural = _("shards")

    def __str__(self) -> str:
        return f"shard {self.pk}"


class Command(models.Model):
    """A request to the exchange. Numbered by the matcher: the numbered rows are the log.

    A request inserts its row without a number and takes no lock of the exchange.
    """

    class Kind(models.TextChoices):
        CLOCK = "clock", _("Clock")
        PLACE_BID = "place_bid", _("Place a bid")
        CANCEL_BID = "cancel_bid", _("Cancel a bid")
        PLACE_OFFER = "place_offer", _("List an offer")
        WITHDRAW_OFFER = "withdraw_offer", _("Withdraw an offer")
        CHANGE_SERVER = "change_server", _("Change a server")
        RELEASE_HOURS = "release_hours", _("Give hours back")
        SET_MARKET_STATE = "set_market_state", _("Set the market's state")

    shard = models.ForeignKey(Shard, on_delete=models.PROTECT, related_name="commands")
    kind = models.CharField(_("kind"), max_length=20, choices=Kind.choices)
    organisation = models.ForeignKey(
        "accounts.Organisation", on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    bid = models.ForeignKey(
        "marketplace.Bid", on_delete=models.PROTECT, null=True, blank=True, related_name="commands"
    )
    offer = models.ForeignKey(
        "marketplace.Offer",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="commands",
    )
    server = models.ForeignKey(
        "marketplace.Server",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="commands",
    )
    payload = models.JSONField(_("payload"), default=dict)
    idempotency_key = models.CharField(max_length=64, null=True, blank=True)  # noqa: DJ001  unique when given
    fingerprint = models.CharField(max_length=64, blank=True)
    placed_at = models.DateTimeField(_("placed"))
    not_before = models.DateTimeField(
        _("not before"), null=True, blank=True, help_text=_("Waits for its number until then.")
    )
    recorded_at = models.DateTimeField(_("recorded"), db_default=Now(), editable=False)
    sequence = models.BigIntegerField(_("number"), null=True, blank=True)
    numbered_at = models.DateTimeField(_("numbered"), null=True, blank=True)
    outcome = models.CharField(_("outcome"), max_length=40, blank=True)

    class Meta:
        verbose_name = _("command")
        verbose_name_plural = _("commands")
        constraints = [
            models.UniqueConstraint(
                fields=["shard", "sequence"], name="marketplace_command_number_once"
            ),
            models.UniqueConstraint(
                fields=["organisation", "idempotency_key"],
                name="marketplace_command_key_once",
            ),
        ]
        indexes = [
            # The matcher's read of commands that have no number yet.
            models.Index(
                fields=["shard", "id"],
                name="marketplace_command_waiting",
                condition=Q(sequence__isnull=True),
            ),
            # The book at a restart: the last numbered change of each server.
            models.Index(
                fields=["server", "-sequence"],
                name="marketplace_command_server",
                condition=Q(kind="change_server", sequence__isnull=False),
            ),
            # The book at a restart: the numbered states of the market, in order.
            models.Index(
                fields=["sequence"],
                name="marketplace_command_state",
                condition=Q(kind="set_market_state", sequence__isnull=False),
            ),
            # The book at a restart: hours that failed rentals left, with their ceilings.
            models.Index(
                fields=["server"],
                name="marketplace_command_ceiling",
                condition=Q(
                    kind="release_hours", sequence__isnull=False, payload__has_key="ceiling_micro"
                ),
            ),
            # The daily sweep of keys that count no more.
            models.Index(
                fields=["placed_at"],
                name="marketplace_command_keyed",
                condition=Q(idempotency_key__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"command {self.pk}"


class MarketState(models.Model):
    """Whether the market, or one model's book, is before launch, open, halted or reopening.

    While it is reopening, orders can only be cancelled; the exchange opens it by itself.
    The row without a model is the whole market's; a model without a row of its own follows it.
    """

    class State(models.TextChoices):
        PRELAUNCH = "prelaunch", _("Before launch")
        OPEN = "open", _("Open")
        HALTED = "halted", _("Halted")
        REOPENING = "reopening", _("Reopening")

    gpu_model = models.ForeignKey(
        "catalog.GpuModel", on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    state = models.CharField(_("state"), max_length=10, choices=State.choices)
    reason = models.CharField(_("reason"), max_length=200, blank=True)
    changed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    changed_at = models.DateTimeField(_("changed"))

    class Meta:
        verbose_name = _("market state")
        verbose_name_plural = _("market states")
        constraints = [
            models.UniqueConstraint(
                fields=["gpu_model"],
                name="marketplace_state_one_each",
                nulls_distinct=False,
            ),
        ]

    def __str__(self) -> str:
        return f"{self.state} ({self.pk})"


class Decision(models.Model):
    """What the exchange looked at when it decided on a bid, and why it decided so."""

    bid = models.ForeignKey("marketplace.Bid", on_delete=models.PROTECT, related_name="decisions")
    sequence = models.BigIntegerField(_("number"))
    reason = models.CharField(_("reason"), max_length=40)
    chosen_offer = models.ForeignKey(
        "marketplace.Offer", on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    cheapest_fit = models.ForeignKey(
        "marketplace.Offer",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        help_text=_("The offer that would have served the bid, had its limit been high enough."),
    )
    candidates = models.JSONField(
        _("candidates"),
        default=list,
        help_text=_("Offers looked at, each with its first obstacle."),
    )
    more_candidates = models.PositiveIntegerField(_("further candidates"), default=0)
    decided_at = models.DateTimeField(_("decided"))

    class Meta:
        verbose_name = _("decision")
        verbose_name_plural = _("decisions")
        indexes = [
            # An order page's list of decisions, in order.
            models.Index(fields=["bid", "sequence"], name="marketplace_decision_of_bid"),
        ]

    def __str__(self) -> str:
        return f"decision {self.pk}"
