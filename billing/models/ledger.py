"""The ledger: accounts, journals and their postings. Written once; PostgreSQL holds the rules.

A positive amount is what we owe or earned (a wallet, revenue, tax to hand on, a seller's share); a
negative one is what we own or spent (the bank, the cost of an hour). Every statement that inserts
postings must sum to zero per journal and currency.
"""

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from billing.money import Currency

CURRENCIES = [(currency.value, currency.value) for currency in Currency]


class Account(models.Model):
    """Where amounts of one currency are kept.

    ``keeps_balance``: the postings' trigger keeps ``posted_minor`` of wallets and sellers, whose
    balance decides what may happen. The others are only summed, so that no busy row slows a charge.
    """

    class Kind(models.TextChoices):
        WALLET = "wallet", _("Wallet")
        SELLER_PENDING = "seller_pending", _("Seller, pending")
        SELLER_AVAILABLE = "seller_available", _("Seller, available")
        RECEIVABLE = "receivable", _("Receivable")
        STRIPE_CLEARING = "stripe_clearing", _("Stripe, clearing")
        STRIPE_FEES = "stripe_fees", _("Stripe, fees")
        BANK = "bank", _("Bank")
        REVENUE = "revenue", _("Revenue")
        HOUR_COST = "hour_cost", _("Cost of hours")
        VAT_OUT = "vat_out", _("VAT collected")
        VAT_IN = "vat_in", _("VAT paid")
        VAT_ROUNDING = "vat_rounding", _("VAT rounding")
        FX_POSITION = "fx_position", _("Currency position")
        REFUND_CLEARING = "refund_clearing", _("Refunds, clearing")
        PAYOUT_CLEARING = "payout_clearing", _("Payouts, clearing")
        BAD_DEBT = "bad_debt", _("Bad debt")

    code = models.CharField(_("code"), max_length=60, unique=True)
    kind = models.CharField(_("kind"), max_length=20, choices=Kind.choices)
    currency = models.CharField(_("currency"), max_length=3, choices=CURRENCIES)
    organisation = models.ForeignKey(
        "accounts.Organisation",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("organisation"),
    )
    keeps_balance = models.BooleanField(_("keeps a balance"), default=False)
    posted_minor = models.BigIntegerField(_("posted"), default=0)
    held_minor = models.BigIntegerField(_("held"), default=0)

    class Meta:
        verbose_name = _("account")
        verbose_name_plural = _("accounts")
        constraints = [
            models.UniqueConstraint(fields=["id", "currency"], name="billing_account_currency_key"),
            models.UniqueConstraint(
                fields=["organisation", "kind", "currency"],
                condition=Q(organisation__isnull=False),
                name="billing_account_one_per_owner_kind_currency",
            ),
            models.CheckConstraint(
                condition=~Q(kind="wallet") | Q(posted_minor__gte=F("held_minor")),
                name="billing_account_wallet_covers_holds",
                violation_error_message=_("The balance does not cover this amount."),
            ),
            models.CheckConstraint(
                condition=Q(held_minor__gte=0), name="billing_account_held_not_negative"
            ),
            models.CheckConstraint(
                condition=Q(held_minor=0) | Q(kind="wallet"),
                name="billing_account_only_wallets_hold",
            ),
            models.CheckConstraint(
                condition=Q(keeps_balance=True) | Q(posted_minor=0),
                name="billing_account_rollup_keeps_no_balance",
            ),
            models.CheckConstraint(
                condition=Q(currency__in=[c.value for c in Currency]),
                name="billing_account_currency_known",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.code} ({self.pk})"

    @property
    def free_minor(self) -> int:
        return self.posted_minor - self.held_minor


class Journal(models.Model):
    """One business act in the ledger. ``idem_key`` makes a repeated act the same act."""

    class Kind(models.TextChoices):
        TOP_UP = "top_up", _("Top-up")
        HOUR_CHARGE = "hour_charge", _("Hour")
        HOUR_CREDIT = "hour_credit", _("Undelivered time")
        BREAK_FEE = "break_fee", _("Early end")
        FAILURE_CREDIT = "failure_credit", _("Failure credit")
        REFUND = "refund", _("Refund")
        DISPUTE = "dispute", _("Dispute")
        PAYOUT = "payout", _("Payout")
        CORRECTION = "correction", _("Correction")

    kind = models.CharField(_("kind"), max_length=20, choices=Kind.choices)
    idem_key = models.CharField(_("key"), max_length=120, unique=True)
    fingerprint = models.CharField(_("fingerprint"), max_length=64)
    source_type = models.CharField(_("source"), max_length=40)
    source_id = models.BigIntegerField(_("source number"))
    occurred_at = models.DateTimeField(_("occurred"))
    recorded_at = models.DateTimeField(_("recorded"), db_default=Now(), editable=False)
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("actor"),
    )
    reverses = models.OneToOneField(
        "self",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="reversed_by",
        verbose_name=_("reverses"),
    )

    class Meta:
        verbose_name = _("journal")
        verbose_name_plural = _("journals")
        indexes = [
            # The statement's link from a rental or a top-up to its journals.
            models.Index(fields=["source_type", "source_id"], name="billing_journal_source"),
        ]

    def __str__(self) -> str:
        return f"{self.idem_key} ({self.pk})"


class Posting(models.Model):
    """A signed amount on one account. (account, currency) is a composite foreign key."""

    journal = models.ForeignKey(Journal, on_delete=models.PROTECT, related_name="postings")
    account = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="postings")
    currency = models.CharField(_("currency"), max_length=3, choices=CURRENCIES)
    amount_minor = models.BigIntegerField(_("amount"))

    class Meta:
        verbose_name = _("posting")
        verbose_name_plural = _("postings")
        constraints = [
            models.CheckConstraint(
                condition=~Q(amount_minor=0), name="billing_posting_amount_not_zero"
            ),
        ]
        indexes = [
            # A wallet's statement, newest first.
            models.Index(fields=["account", "-id"], name="billing_posting_statement"),
        ]

    def __str__(self) -> str:
        return f"posting {self.pk}"


class Hold(models.Model):
    """Money of a wallet set aside for one bid or rental.

    ``amount_minor`` is the whole of it, ``captured_minor`` what charges have taken; while open, the
    difference is part of the wallet's ``held_minor``.
    """

    class State(models.TextChoices):
        OPEN = "open", _("Open")
        CLOSED = "closed", _("Closed")

    account = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="holds")
    purpose = models.CharField(_("purpose"), max_length=60, unique=True)
    amount_minor = models.BigIntegerField(_("amount"))
    captured_minor = models.BigIntegerField(_("captured"), default=0)
    state = models.CharField(_("state"), max_length=8, choices=State.choices, default=State.OPEN)
    placed_at = models.DateTimeField(_("placed"))
    closed_at = models.DateTimeField(_("closed"), null=True, blank=True)

    class Meta:
        verbose_name = _("hold")
        verbose_name_plural = _("holds")
        constraints = [
            models.CheckConstraint(
                condition=Q(captured_minor__gte=0) & Q(amount_minor__gte=F("captured_minor")),
                name="billing_hold_captured_within_amount",
            ),
            models.CheckConstraint(
                condition=Q(state="open", closed_at__isnull=True)
                | Q(state="closed", closed_at__isnull=False),
                name="billing_hold_closed_has_time",
            ),
        ]
        indexes = [
            # The proof that a wallet's held amount is the sum of its open holds.
            models.Index(fields=["account"], name="billing_hold_open", condition=Q(state="open")),
        ]

    def __str__(self) -> str:
        return f"{self.purpose} ({self.pk})"

    @property
    def remaining_minor(self) -> int:
        return self.amount_minor - self.captured_minor


class HoldMove(models.Model):
    """One change of a wallet's held amount; their sum is what the wallet holds now.

    Its numbers come from the postings' own sequence and are drawn under the wallet's lock, so that
    one order tells a statement's lines of both kinds.
    """

    class Kind(models.TextChoices):
        PLACED = "placed", _("Held")
        REPRICED = "repriced", _("Held less")
        CAPTURED = "captured", _("Taken")
        RELEASED = "released", _("Freed")

    hold = models.ForeignKey(Hold, on_delete=models.PROTECT, related_name="moves")
    account = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="hold_moves")
    journal = models.OneToOneField(
        Journal, on_delete=models.PROTECT, null=True, blank=True, related_name="hold_move"
    )
    kind = models.CharField(_("kind"), max_length=8, choices=Kind.choices)
    amount_minor = models.BigIntegerField(_("amount"))
    occurred_at = models.DateTimeField(_("occurred"))

    class Meta:
        verbose_name = _("change of a hold")
        verbose_name_plural = _("changes of holds")
        constraints = [
            models.CheckConstraint(
                condition=~Q(amount_minor=0), name="billing_hold_move_amount_not_zero"
            ),
            models.CheckConstraint(
                condition=Q(kind="captured", journal__isnull=False)
                | (~Q(kind="captured") & Q(journal__isnull=True)),
                name="billing_hold_move_capture_has_journal",
            ),
        ]
        indexes = [
            # A wallet's statement, newest first.
            models.Index(fields=["account", "-id"], name="billing_hold_move_statement"),
        ]

    def __str__(self) -> str:
        return f"hold move {self.pk}"
