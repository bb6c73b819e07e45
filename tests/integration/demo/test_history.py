"""The demo's history, lived through in small by the real operations."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from django.core.management import call_command
from pytest_django import Settings

from billing.models import Journal, TopUp
from catalog.models import Quote
from config.demo.acts import Fate, Order
from config.demo.plan import Plan, Scale, build_plan
from marketplace.models import Bid, Fill, Offer, Rental, RentalHour, Server
from tests.integration.demo.worlds import CARDS, ENDS_AT, SMALL, live

pytestmark = pytest.mark.django_db(transaction=True)


def fills() -> list[tuple[object, ...]]:
    """Return who bought what, when, where and for how much, in order."""
    return list(
        Fill.objects.order_by("sequence").values_list(
            "sequence",
            "bid__placed_by__email",
            "server__name",
            "starts_at",
            "hours",
            "gpus",
            "customer_currency",
            "customer_price_micro",
        )
    )


def with_fates(plan: Plan, *fates: Fate) -> Plan:
    """Return the plan with the first orders that buy at once given other fates."""
    left = list(fates)
    acts = [
        replace(act, fate=left.pop(0))
        if left and isinstance(act, Order) and act.hours >= 3 and act.waits is None
        else act
        for act in plan.acts
    ]
    assert not left
    return Plan(days=plan.days, machines=plan.machines, customers=plan.customers, acts=tuple(acts))


class TestLiveThrough:
    def test_leaves_a_market_whose_books_and_money_agree(self, settings: Settings, tmp_path: Path):
        plan = with_fates(build_plan(scale=SMALL), Fate.LATE, Fate.STOPPED, Fate.NEVER_DELIVERED)

        count = live(plan, settings, folder=tmp_path)

        assert count == Fill.objects.count() >= 18
        call_command("check_money")
        self._check_prices()
        self._check_rentals()
        self._check_orders()

    def _check_prices(self) -> None:
        quotes = Quote.objects.filter(gpus=1, price_micro__isnull=False)
        assert {
            (quote.gpu_model.slug, quote.currency): quote.price_micro
            for quote in quotes.select_related("gpu_model")
        } == {
            ("rtx-4090", "USD"): 330_000,
            ("rtx-4090", "EUR"): 310_000,
            ("rtx-4090", "GBP"): 270_000,
            ("rtx-a6000", "USD"): 330_000,
            ("rtx-a6000", "EUR"): 310_000,
        }
        statuses = Counter(Offer.objects.values_list("status", flat=True))
        assert statuses == {Offer.Status.OPEN: 8, Offer.Status.WITHDRAWN: 16}

    def _check_rentals(self) -> None:
        reason = Rental.EndReason
        ends = Counter(Rental.objects.values_list("end_reason", flat=True))
        assert ends[reason.NOT_DELIVERED] == 1
        assert not Server.objects.filter(is_suspended=True).exists()
        assert ends[reason.STOPPED_BY_CUSTOMER] >= 1
        assert ends[reason.COMPLETED] >= 10
        assert ends[reason.SELLER_FAILURE] == ends[reason.BALANCE] == 0
        late = RentalHour.objects.get(undelivered_minutes=7)
        assert late.number == 1
        assert late.credit_journal is not None
        assert late.credit_journal.kind == Journal.Kind.HOUR_CREDIT
        assert not Rental.objects.filter(ended_at__isnull=True, ends_at__lt=ENDS_AT).exists()

    def _check_orders(self) -> None:
        statuses = Counter(Bid.objects.values_list("status", flat=True))
        assert statuses[Bid.Status.RESTING] >= 5
        assert statuses[Bid.Status.CANCELLED] >= 1
        assert statuses[Bid.Status.PENDING] == 0
        assert set(TopUp.objects.values_list("state", flat=True)) == {TopUp.State.PAID}

    @pytest.mark.long
    def test_makes_the_same_fills_each_time(self, settings: Settings, tmp_path: Path):
        tiny = Scale(
            days=1,
            cards=CARDS[:1],
            orders=dict.fromkeys(SMALL.orders, 2),
            bursts_per_day=2,
            has_camilles_story=False,
        )

        live(build_plan(scale=tiny), settings, folder=tmp_path)
        first = fills()
        call_command("flush", interactive=False, verbosity=0)
        live(build_plan(scale=tiny), settings, folder=tmp_path)

        assert fills() == first
        assert len(first) >= 6
