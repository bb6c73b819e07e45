"""Orders, their decisions, fills and rentals: read only."""

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from marketplace.accounts.readonly_admin import ReadOnlyAdmin, ReadOnlyInline
from marketplace.models import (
    Bid,
    Command,
    Decision,
    DeliveryGap,
    Fill,
    GpuBooking,
    Rental,
    RentalHour,
)


class DecisionInline(ReadOnlyInline[Decision]):
    model = Decision
    fields = ("sequence", "decided_at", "reason", "chosen_offer", "candidates", "more_candidates")


class FillInline(ReadOnlyInline[Fill]):
    model = Fill
    fields = ("sequence", "offer", "server", "starts_at", "hours", "customer_price_micro")
    fk_name = "bid"


class CommandOfBidInline(ReadOnlyInline[Command]):
    model = Command
    fields = ("kind", "actor", "placed_at", "sequence", "numbered_at", "outcome")
    fk_name = "bid"


@admin.register(Bid)
class BidAdmin(ReadOnlyAdmin[Bid]):
    """An order with everything the exchange looked at when it decided."""

    list_display = (
        "id",
        "organisation",
        "gpu_model",
        "kind",
        "gpus",
        "hours",
        "limit_price_micro",
        "currency",
        "status",
        "refusal",
        "placed_at",
    )
    list_filter = ("status", "kind", "currency", "gpu_model")
    list_select_related = ("organisation", "gpu_model")
    search_fields = ("id", "organisation__name", "placed_by__email")
    date_hierarchy = "placed_at"
    ordering = ("-id",)
    inlines = (CommandOfBidInline, DecisionInline, FillInline)
    exclude = ("ssh_public_key",)


@admin.register(Fill)
class FillAdmin(ReadOnlyAdmin[Fill]):
    list_display = (
        "id",
        "bid",
        "seller",
        "server",
        "starts_at",
        "hours",
        "gpus",
        "customer_price_micro",
        "seller_price_micro",
        "customer_currency",
    )
    list_filter = ("customer_currency", "server__gpu_model")
    list_select_related = ("bid", "seller", "server")
    search_fields = ("id", "seller__name", "bid__organisation__name")
    ordering = ("-id",)


class HourInline(ReadOnlyInline[RentalHour]):
    model = RentalHour
    ordering = ("number",)


class GapInline(ReadOnlyInline[DeliveryGap]):
    model = DeliveryGap
    ordering = ("starts_at",)


class BookingInline(ReadOnlyInline[GpuBooking]):
    model = GpuBooking
    fields = ("server", "gpu_number", "period")


@admin.register(Rental)
class RentalAdmin(ReadOnlyAdmin[Rental]):
    """A rental with its hours and gaps. Keys and addresses of machines stay out of the list."""

    list_display = (
        "id",
        "organisation",
        "server",
        "state",
        "end_reason",
        "starts_at",
        "ends_at",
        "hours_charged",
        "probe_misses",
    )
    list_filter = ("state", "end_reason", "server__gpu_model")
    list_select_related = ("organisation", "server")
    search_fields = ("id", "organisation__name", "server__name")
    ordering = ("-id",)
    inlines = (HourInline, GapInline, BookingInline)
    exclude = ("ssh_public_key",)


@admin.register(Command)
class CommandAdmin(ReadOnlyAdmin[Command]):
    """The exchange's log: what was asked, in the order in which it was numbered."""

    list_display = ("id", "sequence", "kind", "organisation", "placed_at", "numbered_at", "outcome")
    list_filter = ("kind", "outcome")
    list_select_related = ("organisation",)
    search_fields = ("id", "sequence")
    ordering = ("-id",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Command]:
        return super().get_queryset(request).exclude(kind=Command.Kind.CLOCK)
