"""Published market data: counted from the fills, buyable, and of nobody."""

from collections import defaultdict
from datetime import UTC, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal

import pytest
from django.core.management import call_command

from billing.money import Currency
from catalog.models import GpuModel, MarketFigures, PublishedOffer, TradedHour
from marketplace.models import Bid, Fill, MarketState, Server
from marketplace.operations.market_state import set_market_state
from marketplace.operations.quotes import rebuild_published_market
from marketplace.operations.servers import suspend_server
from tests.exchange import (
    DAY,
    HOUR,
    buy,
    make_customer,
    make_offer,
    match,
    member_of,
    open_market,
    place,
    withdraw,
)
from tests.factories import T0, GpuModelFactory, ServerFactory, UserFactory

pytestmark = pytest.mark.django_db


def figures(currency: str = "EUR", slug: str = "rtx-4090") -> MarketFigures:
    return MarketFigures.objects.get(gpu_model__slug=slug, currency=currency)


def offers(currency: str = "EUR", slug: str = "rtx-4090") -> list[PublishedOffer]:
    found = PublishedOffer.objects.filter(gpu_model__slug=slug, currency=currency)
    return list(found.order_by("rank"))


def halt(*, gpu_model_id: int | None) -> None:
    set_market_state(
        state=MarketState.State.HALTED,
        reason="Test",
        staff_id=UserFactory.create(is_staff=True).pk,
        now=T0,
        gpu_model_id=gpu_model_id,
    )


def sell(ask_micro: int, *, at: datetime = T0, gpus: int = 1, hours: int = 1, **facts) -> Fill:
    """Let somebody buy at this ask at this time; nothing stays on offer."""
    server = ServerFactory.create(gpu_count=8, **facts)
    offer = make_offer(server=server, ask_micro=ask_micro, now=at, windows=((at, at + 7 * DAY),))
    match(at)
    bid = buy(
        make_customer(),
        now=at,
        gpus=gpus,
        hours=hours,
        limit_price_micro=ask_micro,
        gpu_model_slug=server.gpu_model.slug,
    )
    withdraw(offer, now=at)
    match(at)
    return Fill.objects.get(bid=bid)


def everything_published() -> list[list[tuple[object, ...]]]:
    return [
        list(rows.order_by(*order).values_list(*fields))
        for rows, order, fields in (
            (
                TradedHour.objects.all(),
                ("gpu_model", "currency", "hour_starts_at"),
                (
                    "gpu_model__slug",
                    "currency",
                    "hour_starts_at",
                    "average_price_micro",
                    "last_price_micro",
                    "gpu_hours",
                    "fills",
                ),
            ),
            (
                PublishedOffer.objects.all(),
                ("gpu_model", "currency", "rank"),
                [field.name for field in PublishedOffer._meta.fields if field.name != "id"],
            ),
            (
                MarketFigures.objects.all(),
                ("gpu_model", "currency"),
                [field.name for field in MarketFigures._meta.fields if field.name != "id"],
            ),
        )
    ]


class TestATradedHour:
    def test_weighs_prices_by_gpu_hours_and_keeps_the_last(self):
        open_market()
        sell(400_000, gpus=1, hours=1)
        sell(500_000, at=T0 + timedelta(minutes=45), gpus=2, hours=3)

        hour = TradedHour.objects.get()

        assert (hour.gpu_hours, hour.fills) == (7, 2)
        # (400 000 + 6 * 500 000) / 7 = 485 714.28…
        assert (hour.average_price_micro, hour.last_price_micro) == (485_714, 500_000)
        assert hour.hour_starts_at == T0

    def test_has_no_row_without_a_fill(self):
        open_market()
        sell(400_000)
        match(T0 + 2 * HOUR)

        assert TradedHour.objects.count() == 1

    def test_is_in_the_customers_currency(self):
        open_market()
        make_offer(ask_micro=400_000, currency=Currency.USD)
        match()
        buy(make_customer(currency="USD"), currency=Currency.USD)
        match()

        assert TradedHour.objects.get().currency == "USD"

    def test_agrees_with_a_count_by_hand_over_many_fills(self):
        open_market()
        for number in range(12):
            sell(
                300_000 + number * 7_000,
                at=T0 + number * timedelta(minutes=45),
                gpus=1 + number % 3,
                hours=1 + number % 5,
            )

        assert published_by_hand() == {
            hour.hour_starts_at: (
                hour.average_price_micro,
                hour.last_price_micro,
                hour.gpu_hours,
                hour.fills,
            )
            for hour in TradedHour.objects.all()
        }


def published_by_hand() -> dict[datetime, tuple[int, int, int, int]]:
    """Count the fills of one model and currency in Python, by hour."""
    by_hour: dict[datetime, list[Fill]] = defaultdict(list)
    for fill in Fill.objects.order_by("occurred_at", "pk"):
        moment = fill.occurred_at.astimezone(UTC)
        by_hour[moment.replace(minute=0, second=0, microsecond=0)].append(fill)
    counted = {}
    for hour, fills in by_hour.items():
        sizes = [fill.gpus * fill.hours for fill in fills]
        value = sum(
            fill.customer_price_micro * size for fill, size in zip(fills, sizes, strict=True)
        )
        average = (Decimal(value) / sum(sizes)).quantize(Decimal(1), ROUND_HALF_UP)
        counted[hour] = (int(average), fills[-1].customer_price_micro, sum(sizes), len(fills))
    return counted


class TestPublishedOffers:
    def test_say_what_each_sells_without_its_seller(self):
        open_market()
        server = ServerFactory.create(
            gpu_count=4,
            region=Server.Region.UK,
            tier=Server.Tier.DATACENTRE,
            delivery=Server.Delivery.AGENT,
            setup_slots=1,
            disk_gb_per_gpu=500,
            ram_gb=256,
            has_nvlink=True,
        )
        make_offer(server=server, ask_micro=410_000, min_gpus=2, gpu_step=2, min_hours=3)

        match()

        (offer,) = offers()
        assert (offer.rank, offer.price_micro) == (1, 410_000)
        assert (offer.min_gpus, offer.max_gpus, offer.gpu_step) == (2, 4, 2)
        assert (offer.min_hours, offer.max_hours) == (3, 23)
        assert offer.starts_at == T0 + timedelta(minutes=15)
        assert (offer.region, offer.tier, offer.is_verified_by_agent) == ("uk", "datacentre", True)
        assert offer.included == {"disk_gb_per_gpu": 500, "ram_gb": 256, "has_nvlink": True}

    def test_are_the_ten_cheapest_and_all_are_counted(self):
        open_market()
        for number in range(12):
            make_offer(ask_micro=500_000 - number * 1_000)

        match()

        assert [offer.price_micro for offer in offers()] == [
            489_000 + number * 1_000 for number in range(10)
        ]
        assert figures().offers == 12

    def test_go_when_they_are_withdrawn(self):
        open_market()
        first, second = make_offer(ask_micro=400_000), make_offer(ask_micro=500_000)
        match()
        withdraw(first)

        match()

        assert [(offer.rank, offer.price_micro) for offer in offers()] == [(1, 500_000)]
        withdraw(second)
        match()
        assert offers() == []

    def test_never_show_a_suspended_server(self):
        open_market()
        offer = make_offer()
        match()
        assert figures().offered_gpu_hours == 48
        suspend_server(server_id=offer.server_id, actor_id=member_of(offer.organisation).pk, now=T0)

        match()

        assert offers() == []
        assert (figures().offers, figures().offered_gpu_hours) == (0, 0)

    @pytest.mark.parametrize("gpu_model", [None, "rtx-4090"])
    def test_are_empty_during_a_halt(self, gpu_model):
        open_market()
        make_offer()
        match()
        model = GpuModel.objects.filter(slug=gpu_model).first()
        halt(gpu_model_id=model.pk if model else None)

        match()

        assert offers() == []
        assert (figures().offers, figures().offered_gpu_hours) == (0, 0)

    def test_are_all_buyable_at_their_price_from_their_start(self):
        open_market()
        for number, gpu_count in enumerate((1, 2, 8, 8)):
            make_offer(
                server=ServerFactory.create(gpu_count=gpu_count),
                ask_micro=400_000 + number * 10_000,
                min_gpus=min(number + 1, gpu_count),
                min_hours=number + 1,
            )
        match()
        place(make_customer(), hours=4, gpus=1, limit_price_micro=400_000)
        match()
        shown = offers()
        # The first is free again once its rental has ended, with another set-up.
        assert [offer.starts_at - T0 for offer in shown] == [6 * HOUR, HOUR, HOUR, HOUR]

        for offer in shown:
            bid = place(
                make_customer(),
                kind=Bid.Kind.BUY_NOW,
                gpus=offer.min_gpus,
                hours=offer.max_hours,
                earliest_start=offer.starts_at,
                latest_start=offer.starts_at,
                limit_price_micro=offer.price_micro,
            )
            match()

            bid.refresh_from_db()
            assert bid.status == Bid.Status.FILLED
            assert bid.fill.customer_price_micro <= offer.price_micro


class TestFigures:
    def test_count_what_was_sold_in_the_last_24_hours(self):
        open_market()
        sell(400_000, gpus=2, hours=5)
        sell(420_000, at=T0 + HOUR, gpus=1, hours=3)

        match(T0 + DAY + timedelta(minutes=30))

        found = figures()
        assert (found.sold_gpu_hours_24h, found.fills_24h) == (3, 1)
        assert (found.last_price_micro, found.last_fill_at) == (420_000, T0 + HOUR)

    def test_compare_the_last_price_with_the_last_of_a_day_before(self):
        open_market()
        sell(400_000)
        sell(500_000, at=T0 + HOUR)
        sell(450_000, at=T0 + DAY + HOUR)

        # At this moment the price of 500 000 was paid exactly 24 hours ago.
        assert figures().change_share == Decimal("-0.1000")

    def test_name_no_change_when_nothing_was_sold_a_day_before(self):
        open_market()
        sell(400_000)
        sell(500_000, at=T0 + HOUR)

        assert figures().change_share is None

    def test_name_no_change_when_nothing_was_sold_since(self):
        open_market()
        sell(400_000)
        sell(500_000, at=T0 + DAY)
        match(T0 + 3 * DAY)

        found = figures()
        assert (found.change_share, found.sold_gpu_hours_24h) == (None, 0)
        assert (found.last_price_micro, found.last_fill_at) == (500_000, T0 + DAY)

    def test_are_empty_before_the_first_trade(self):
        open_market()

        match()

        found = figures()
        assert (found.last_price_micro, found.last_fill_at, found.change_share) == (None,) * 3
        assert (found.sold_gpu_hours_24h, found.fills_24h) == (0, 0)

    def test_count_the_free_hours_of_the_next_day(self):
        open_market()
        make_offer(windows=((T0, T0 + 7 * DAY),))
        match()
        buy(make_customer(), hours=3)

        match()

        # Two GPUs for a day, less the hour of set-up and three paid hours of one.
        assert figures().offered_gpu_hours == 48 - 4

    def test_are_of_their_own_model_and_currency(self):
        open_market()
        GpuModelFactory.create(slug="l4", name="L4")
        sell(400_000)

        match(T0 + timedelta(minutes=15))

        assert figures(slug="l4").last_price_micro is None
        assert figures(currency="USD").last_price_micro is None


class TestPublishingAnew:
    def test_gives_what_the_batches_published(self):
        open_market()
        GpuModelFactory.create(slug="l4", name="L4")
        make_offer(ask_micro=900_000)
        for number in range(5):
            sell(400_000 + number * 1_000, at=T0 + number * timedelta(hours=9))
        match(T0 + 4 * DAY)
        before = everything_published()

        rebuild_published_market()

        assert everything_published() == before
        assert len(before[0]) == 5

    def test_twice_is_once(self):
        open_market()
        make_offer()
        sell(400_000)
        rebuild_published_market()
        before = everything_published()

        rebuild_published_market()

        assert everything_published() == before

    def test_takes_out_hours_that_no_fill_stands_behind(self, capsys):
        open_market()
        sell(400_000)
        before = everything_published()
        TradedHour.objects.create(
            gpu_model=GpuModel.objects.get(),
            currency="GBP",
            hour_starts_at=T0,
            average_price_micro=1,
            last_price_micro=1,
            gpu_hours=1,
            fills=1,
        )

        call_command("publish_market")

        assert everything_published() == before
        assert capsys.readouterr().out == "published the market; 1 hours with a trade\n"
