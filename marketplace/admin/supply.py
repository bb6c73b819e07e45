"""Sellers, their servers and offers. A button calls one operation; rows are not edited by hand."""

from datetime import datetime
from typing import Protocol

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from marketplace.accounts.clock import now
from marketplace.accounts.readonly_admin import ReadOnlyAdmin, ReadOnlyInline, staff_id_of
from marketplace.models import Offer, OfferWindow, Seller, Server
from marketplace.operations.refusals import Refusal
from marketplace.operations.sellers import (
    allow_delivery_by_hand,
    suspend_seller,
    verify_seller,
)
from marketplace.operations.servers import resume_server, suspend_server


class SellerOperation(Protocol):
    def __call__(self, *, seller_id: int, staff_id: int, now: datetime) -> Seller: ...


@admin.register(Seller)
class SellerAdmin(ReadOnlyAdmin[Seller]):
    """Verification comes before the first sale."""

    list_display = ("organisation", "state", "delivers_by_hand", "applied_at", "verified_at")
    list_filter = ("state", "delivers_by_hand")
    list_select_related = ("organisation",)
    search_fields = ("organisation__name",)
    ordering = ("-applied_at", "id")
    actions = ("verify", "allow_by_hand", "suspend")

    @admin.action(description=_("Verify the selected sellers"), permissions=["operate"])
    def verify(self, request: HttpRequest, sellers: QuerySet[Seller]) -> None:
        self._act(request, sellers, verify_seller, done=_("The sellers are verified."))

    @admin.action(description=_("Allow delivery by hand"), permissions=["operate"])
    def allow_by_hand(self, request: HttpRequest, sellers: QuerySet[Seller]) -> None:
        self._act(
            request, sellers, allow_delivery_by_hand, done=_("The sellers may deliver by hand.")
        )

    @admin.action(description=_("Suspend the selected sellers"), permissions=["operate"])
    def suspend(self, request: HttpRequest, sellers: QuerySet[Seller]) -> None:
        done = _("The sellers are suspended; running rentals go on.")
        self._act(request, sellers, suspend_seller, done=done)

    @staticmethod
    def _act(
        request: HttpRequest,
        sellers: QuerySet[Seller],
        operation: SellerOperation,
        *,
        done: str | Promise,
    ) -> None:
        """Call ``operation`` for each seller; a refused one is named and the others go on."""
        for seller in sellers:
            try:
                operation(seller_id=seller.pk, staff_id=staff_id_of(request), now=now())
            except Refusal as refusal:
                messages.error(request, f"{seller.organisation.name}: {refusal.message}")
            else:
                messages.success(request, f"{seller.organisation.name}: {done}")


@admin.register(Server)
class ServerAdmin(ReadOnlyAdmin[Server]):
    list_display = (
        "name",
        "organisation",
        "gpu_model",
        "gpu_count",
        "region",
        "tier",
        "delivery",
        "is_suspended",
        "suspended_at",
        "suspension",
    )
    list_filter = ("is_suspended", "suspension", "region", "tier", "delivery", "gpu_model")
    list_select_related = ("organisation", "gpu_model")
    search_fields = ("name", "organisation__name")
    ordering = ("organisation__name", "name", "id")
    actions = ("suspend", "resume")

    @admin.action(description=_("Suspend the selected servers"), permissions=["operate"])
    def suspend(self, request: HttpRequest, servers: QuerySet[Server]) -> None:
        for server in servers:
            suspend_server(server_id=server.pk, actor_id=staff_id_of(request), now=now())
        messages.success(request, _("The servers take no new sales."))

    @admin.action(description=_("Let the selected servers sell again"), permissions=["operate"])
    def resume(self, request: HttpRequest, servers: QuerySet[Server]) -> None:
        for server in servers:
            resume_server(server_id=server.pk, actor_id=staff_id_of(request), now=now())
        messages.success(request, _("The servers may sell again."))


class WindowInline(ReadOnlyInline[OfferWindow]):
    model = OfferWindow
    ordering = ("starts_at",)


@admin.register(Offer)
class OfferAdmin(ReadOnlyAdmin[Offer]):
    list_display = (
        "id",
        "organisation",
        "server",
        "gpu_model",
        "ask_price_micro",
        "currency",
        "status",
        "sequence",
    )
    list_filter = ("status", "currency", "gpu_model")
    list_select_related = ("organisation", "server", "gpu_model")
    search_fields = ("id", "organisation__name", "server__name")
    ordering = ("-id",)
    inlines = (WindowInline,)
