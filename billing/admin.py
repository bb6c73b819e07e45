"""The ledger, payments and profiles: read only. A correction is a new journal, never an edit."""

from decimal import Decimal

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from billing.models import (
    Account,
    BillingProfile,
    Hold,
    HoldMove,
    Journal,
    Posting,
    StripeEvent,
    TopUp,
    TopUpGate,
)
from billing.money import MINOR_PER_UNIT
from billing.operations.profiles import confirm_vat_ids
from marketplace.accounts.clock import now
from marketplace.accounts.readonly_admin import ReadOnlyAdmin, ReadOnlyInline, staff_id_of


def amount(minor: int, currency: str) -> str:
    return f"{Decimal(minor) / MINOR_PER_UNIT:,.2f} {currency}"


class PostingInline(ReadOnlyInline[Posting]):
    model = Posting
    fields = ("account", "shown_amount")
    readonly_fields = fields

    @admin.display(description=_("amount"))
    def shown_amount(self, posting: Posting) -> str:
        return amount(posting.amount_minor, posting.currency)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Posting]:
        return super().get_queryset(request).select_related("account")


@admin.register(Account)
class AccountAdmin(ReadOnlyAdmin[Account]):
    list_display = ("code", "kind", "organisation", "shown_posted", "shown_held", "keeps_balance")
    list_filter = ("kind", "currency", "keeps_balance")
    list_select_related = ("organisation",)
    search_fields = ("code", "organisation__name")
    ordering = ("code",)

    @admin.display(description=_("posted"), ordering="posted_minor")
    def shown_posted(self, account: Account) -> str:
        return amount(account.posted_minor, account.currency) if account.keeps_balance else "–"

    @admin.display(description=_("held"), ordering="held_minor")
    def shown_held(self, account: Account) -> str:
        return amount(account.held_minor, account.currency)


@admin.register(Journal)
class JournalAdmin(ReadOnlyAdmin[Journal]):
    list_display = ("id", "kind", "idem_key", "source_type", "source_id", "occurred_at", "actor")
    list_filter = ("kind",)
    list_select_related = ("actor",)
    search_fields = ("idem_key",)
    date_hierarchy = "occurred_at"
    ordering = ("-id",)
    inlines = (PostingInline,)


class HoldMoveInline(ReadOnlyInline[HoldMove]):
    model = HoldMove
    fields = ("kind", "amount_minor", "journal", "occurred_at")
    ordering = ("id",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[HoldMove]:
        return super().get_queryset(request).select_related("journal")


@admin.register(Hold)
class HoldAdmin(ReadOnlyAdmin[Hold]):
    list_display = ("purpose", "account", "shown_amount", "shown_captured", "state", "placed_at")
    list_filter = ("state", "account__currency")
    list_select_related = ("account",)
    search_fields = ("purpose", "account__code", "account__organisation__name")
    date_hierarchy = "placed_at"
    ordering = ("-id",)
    inlines = (HoldMoveInline,)

    @admin.display(description=_("amount"), ordering="amount_minor")
    def shown_amount(self, hold: Hold) -> str:
        return amount(hold.amount_minor, hold.account.currency)

    @admin.display(description=_("captured"), ordering="captured_minor")
    def shown_captured(self, hold: Hold) -> str:
        return amount(hold.captured_minor, hold.account.currency)


@admin.register(TopUp)
class TopUpAdmin(ReadOnlyAdmin[TopUp]):
    list_display = ("id", "organisation", "shown_amount", "state", "created_at", "settled_at")
    list_filter = ("state", "currency")
    list_select_related = ("organisation",)
    search_fields = (
        "id",
        "organisation__name",
        "user__email",
        "checkout_session_id",
        "payment_intent_id",
    )
    date_hierarchy = "created_at"
    ordering = ("-id",)

    @admin.display(description=_("amount"), ordering="amount_minor")
    def shown_amount(self, top_up: TopUp) -> str:
        return amount(top_up.amount_minor, top_up.currency)


@admin.register(StripeEvent)
class StripeEventAdmin(ReadOnlyAdmin[StripeEvent]):
    list_display = ("event_id", "type", "received_at", "processed_at", "attempts", "error")
    list_filter = (("processed_at", admin.EmptyFieldListFilter), "type")
    search_fields = ("event_id", "object_id")
    date_hierarchy = "received_at"
    ordering = ("-received_at", "event_id")


@admin.register(TopUpGate)
class TopUpGateAdmin(ReadOnlyAdmin[TopUpGate]):
    list_display = ("is_open", "reason", "changed_at")
    ordering = ("id",)


@admin.register(BillingProfile)
class BillingProfileAdmin(ReadOnlyAdmin[BillingProfile]):
    list_display = ("organisation", "legal_name", "country", "vat_id", "vat_id_checked_at")
    list_filter = ("country", ("vat_id_checked_at", admin.EmptyFieldListFilter))
    list_select_related = ("organisation",)
    search_fields = ("legal_name", "vat_id", "organisation__name")
    ordering = ("-id",)
    actions = ("confirm_numbers",)

    @admin.action(
        description=_("The VAT numbers are confirmed by the authorities"), permissions=["operate"]
    )
    def confirm_numbers(self, request: HttpRequest, profiles: QuerySet[BillingProfile]) -> None:
        """From now on these companies owe the tax themselves, where the rule says so."""
        confirmed = confirm_vat_ids(
            profile_ids=list(profiles.values_list("pk", flat=True)),
            staff_id=staff_id_of(request),
            now=now(),
        )
        self.message_user(request, _("%(n)s numbers confirmed.") % {"n": confirmed})
