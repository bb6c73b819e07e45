"""The whole demo, as `make demo` loads it into an empty database."""

from collections import Counter
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db.models import Count
from pytest_django import Settings

from catalog.models import Quote
from config.demo.cast import CAMILLE, FEATURED
from marketplace.accounts import clock
from marketplace.accounts.models import ClockOffset
from marketplace.models import Bid, Fill, Offer, OfferWindow, Rental, RentalHour, Server
from tests.integration.demo.worlds import load_catalog, servers

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]


def test_is_large_consistent_and_alive(settings: Settings, tmp_path: Path):
    load_catalog()
    with servers(settings, folder=tmp_path):
        call_command("load_demo")

    now = clock.now()
    assert ClockOffset.objects.get().offset_seconds == 0
    call_command("check_money")
    assert Server.objects.count() == 40
    assert Offer.objects.count() == 120
    assert 380 <= Fill.objects.count() <= 420
    check_prices()
    check_week(since=now - timedelta(days=7))
    check_camille()
    windows = OfferWindow.objects.filter(offer__status=Offer.Status.OPEN)
    assert min(windows.values_list("ends_at", flat=True)) >= now + timedelta(days=14)
    assert Rental.objects.filter(state=Rental.State.RUNNING).count() >= 8
    assert Bid.objects.filter(status=Bid.Status.RESTING).count() >= 30


def check_prices() -> None:
    quotes = Quote.objects.filter(gpus=1, currency="USD", gpu_model__slug__in=slugs())
    prices = {quote.gpu_model.slug: quote.price_micro for quote in quotes}
    assert prices == {card.slug: card.usd_cents * 10_000 for card in FEATURED}
    for_eight = Quote.objects.filter(gpus=8, price_micro__isnull=False)
    sold_by_eight = set(for_eight.values_list("gpu_model__slug", flat=True))
    assert {"h200-sxm", "h100-sxm", "a100-sxm-80", "l40s"} <= sold_by_eight


def check_week(*, since) -> None:
    hours = RentalHour.objects.filter(starts_at__gte=since)
    week = hours.values("rental__server__gpu_model__slug").annotate(
        fills=Count("rental", distinct=True),
        sellers=Count("rental__fill__seller", distinct=True),
        customers=Count("rental__organisation", distinct=True),
    )
    found = {row["rental__server__gpu_model__slug"]: row for row in week}
    for slug in slugs():
        assert found[slug]["fills"] >= 8
        assert found[slug]["sellers"] >= 3
        assert found[slug]["customers"] >= 3


def check_camille() -> None:
    rentals = Rental.objects.filter(fill__bid__placed_by__email=CAMILLE.email)
    states = Counter(rentals.values_list("state", flat=True))
    assert states[Rental.State.SOLD] == 1
    assert states[Rental.State.RUNNING] >= 2
    assert states[Rental.State.NOT_DELIVERED] == 1
    assert rentals.filter(end_reason=Rental.EndReason.STOPPED_BY_CUSTOMER).exists()
    assert rentals.filter(rental_hours__undelivered_minutes__gt=0).exists()


def slugs() -> list[str]:
    return [card.slug for card in FEATURED]
