"""What a seller's pages show: servers with their offer, offers, sales."""

from datetime import datetime

from django.db.models import Prefetch, QuerySet

from marketplace.models import Offer, OfferWindow, Rental, Seller, Server

OPEN_STATUSES = (Offer.Status.PENDING, Offer.Status.OPEN)


def seller_of(*, organisation_id: int) -> Seller | None:
    return Seller.objects.filter(organisation_id=organisation_id).first()


def servers_of(*, organisation_id: int) -> QuerySet[Server]:
    """Return the organisation's servers, each with its open offer in ``open_offers``."""
    return (
        Server.objects.filter(organisation_id=organisation_id)
        .select_related("gpu_model")
        .prefetch_related(_open_offers())
        .order_by("name", "id")
    )


def suspended_servers_of(*, organisation_id: int) -> QuerySet[Server]:
    """Return the organisation's servers that take no new sales, the longest suspended first."""
    suspended = Server.objects.filter(organisation_id=organisation_id, is_suspended=True)
    return suspended.order_by("suspended_at", "id")


def undelivered_sales_of(*, server_id: int, now: datetime) -> QuerySet[Rental]:
    """Return the failed rentals whose price is still a ceiling for the hours that they left."""
    return (
        Rental.objects.filter(
            server_id=server_id, end_reason__in=Rental.UNDELIVERED, ends_at__gt=now
        )
        .select_related("fill")
        .order_by("ends_at", "id")
    )


def offers_of(*, organisation_id: int) -> QuerySet[Offer]:
    """Return the organisation's offers, newest first, with their windows."""
    return (
        Offer.objects.filter(organisation_id=organisation_id)
        .select_related("server", "gpu_model")
        .prefetch_related(Prefetch("windows", OfferWindow.objects.order_by("starts_at", "id")))
        .order_by("-id")
    )


def sales_of(*, organisation_id: int) -> QuerySet[Rental]:
    """Return the rentals of the organisation's servers, newest first."""
    return (
        Rental.objects.filter(server__organisation_id=organisation_id)
        .select_related("fill", "server__gpu_model")
        .order_by("-id")
    )


def sales_to_hand_over(*, organisation_id: int) -> QuerySet[Rental]:
    """Return the sales that wait for the machine's address, the most urgent first."""
    return (
        sales_of(organisation_id=organisation_id)
        .filter(
            state__in=[Rental.State.SOLD, Rental.State.PREPARING],
            ready_at__isnull=True,
            ended_at__isnull=True,
        )
        .order_by("starts_at", "id")
    )


def _open_offers() -> "Prefetch[str]":
    windows = Prefetch("windows", OfferWindow.objects.order_by("starts_at", "id"))
    offers = Offer.objects.filter(status__in=OPEN_STATUSES).prefetch_related(windows)
    return Prefetch("offers", offers.order_by("id"), to_attr="open_offers")
