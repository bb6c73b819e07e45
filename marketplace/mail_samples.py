"""Every mail of the market with invented facts, to be looked at and tested. Nothing is stored."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from django.conf import settings
from django.core.mail import EmailMultiAlternatives
from django.urls import reverse

from catalog.models import GpuModel
from marketplace.accounts.mail import compose_mail
from marketplace.models import Bid, Fill, Rental, Server

START = datetime(2026, 11, 8, 13, 0, tzinfo=UTC)
CARD = GpuModel(slug="rtx-4090", name="RTX 4090")
SERVER = Server(pk=7, name="rack 3", gpu_model=CARD)
BID = Bid(
    pk=1042,
    gpu_model=CARD,
    gpus=2,
    hours=12,
    currency="EUR",
    limit_price_micro=350_000,
    latest_start=START,
)
FILL = Fill(
    bid=BID,
    server=SERVER,
    gpus=2,
    hours=12,
    customer_currency="EUR",
    customer_price_micro=330_000,
    seller_currency="EUR",
    seller_price_micro=330_000,
)
RENTAL = Rental(
    pk=388,
    fill=FILL,
    server=SERVER,
    setup_starts_at=START - timedelta(hours=1),
    starts_at=START,
    ends_at=START + timedelta(hours=12),
    ended_at=START + timedelta(hours=12),
    end_reason=Rental.EndReason.COMPLETED,
    hours_charged=12,
    host="203.0.113.7",
    port=2222,
    username="gpu",
    host_key_fingerprint="SHA256:ofKfhwTi5fHdMVRmgnKnjDkh3XUlTc4XnJMzWPAX4mk",
)
OF_RENTAL = {"rental": RENTAL, "gpus": 2, "gpu_model": CARD.name}
OF_FILL = {"fill": FILL, **OF_RENTAL}

# The facts of each mail, and the page that it leads to.
SAMPLES: Mapping[str, tuple[Mapping[str, object], str]] = {
    "market_opened": ({"intentions": 2}, "marketplace:intentions"),
    "order_filled": ({**OF_FILL, "held_minor": 9_50}, "marketplace:rentals"),
    "bid_expired": ({"bid": BID, "gpu_model": CARD.name}, "marketplace:orders"),
    "rental_ready": (OF_RENTAL, "marketplace:rentals"),
    "rental_ending": (OF_RENTAL, "marketplace:rentals"),
    "rental_ended": (OF_RENTAL, "marketplace:rentals"),
    "rental_not_delivered": (OF_RENTAL, "marketplace:rentals"),
    "low_balance": (
        {
            "organisation": "Atelier Nord",
            "currency": "EUR",
            "free_minor": 3_59,
            "hourly_minor": 79,
            "hours": 4,
        },
        "billing:wallets",
    ),
    "hours_sold": (
        {**OF_FILL, "deadline": START + timedelta(minutes=15)},
        "marketplace:sales",
    ),
    "server_suspended": (
        {"rental": RENTAL, "server": SERVER, "reason": Server.Suspension.NOT_DELIVERED.label},
        "marketplace:servers",
    ),
    "payout_sent": (
        {
            "organisation": "Atelier Nord",
            "number": "P-2026-0007",
            "currency": "EUR",
            "sales_until": START,
            "net_minor": 1_284_40,
            "reserved_minor": 128_44,
            "amount_minor": 1_155_96,
            "account_end": "4321",
        },
        "marketplace:sales",
    ),
}


def sample_mail(name: str) -> EmailMultiAlternatives:
    """Return this mail with its invented facts, in the language and zone in use."""
    facts, page = SAMPLES[name]
    context = {**facts, "page_url": settings.PUBLIC_URL + reverse(page)}
    return compose_mail(to="reader@example.com", template=f"emails/{name}", context=context)
