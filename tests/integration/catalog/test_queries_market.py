"""What pages read of the published market, with a fixed number of questions."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from billing.money import Currency
from catalog.models import GpuModel, TradedHour
from catalog.queries_market import by_day, market_rows, price_history, published_offers
from tests.exchange import DAY, HOUR, make_offer, match, open_market
from tests.factories import T0, GpuModelFactory, ServerFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def gpu() -> GpuModel:
    return GpuModelFactory.create()


def traded(gpu: GpuModel, *, hours_ago: int, price_micro: int = 400_000, currency: str = "EUR"):
    return TradedHour.objects.create(
        gpu_model=gpu,
        currency=currency,
        hour_starts_at=T0 - hours_ago * HOUR,
        average_price_micro=price_micro,
        last_price_micro=price_micro,
        gpu_hours=1,
        fills=1,
    )


def test_a_history_is_of_one_model_and_currency_since_a_time(gpu):
    traded(GpuModelFactory.create(slug="l4"), hours_ago=1)
    traded(gpu, hours_ago=1, currency="USD")
    old = traded(gpu, hours_ago=50)
    last, first = traded(gpu, hours_ago=1), traded(gpu, hours_ago=3)

    assert price_history(gpu=gpu, currency=Currency.EUR, since=T0 - DAY) == [first, last]
    assert price_history(gpu=gpu, currency=Currency.EUR) == [old, first, last]


def test_offers_come_best_first(gpu):
    open_market()
    make_offer(ask_micro=500_000)
    make_offer(ask_micro=400_000)
    match()

    offers = published_offers(gpu=gpu, currency=Currency.EUR)

    assert [offer.price_micro for offer in offers] == [400_000, 500_000]
    assert published_offers(gpu=gpu, currency=Currency.USD) == []


def test_a_row_has_both_quotes_the_day_and_the_hours_of_the_last_24(gpu):
    open_market()
    make_offer(ask_micro=400_000, server=ServerFactory.create(gpu_count=4))
    make_offer(ask_micro=500_000, server=ServerFactory.create(gpu_count=8))
    match()
    for hours_ago, price_micro in ((24, 300_000), (23, 310_000), (1, 320_000)):
        traded(gpu, hours_ago=hours_ago, price_micro=price_micro)
    traded(gpu, hours_ago=2, price_micro=1, currency="USD")

    (row,) = market_rows(gpus=[gpu], currency=Currency.EUR, now=T0 + timedelta(minutes=5))

    assert (row.price_micro, row.eight_price_micro) == (400_000, 500_000)
    assert row.is_offered
    assert row.figures is not None
    assert row.figures.offers == 2
    assert row.trend == (310_000, 320_000)


def test_a_model_that_sells_only_pairs_is_offered_without_a_price_for_one(gpu):
    open_market()
    make_offer(min_gpus=2)
    match()

    (row,) = market_rows(gpus=[gpu], currency=Currency.EUR, now=T0)

    assert (row.price_micro, row.is_offered) == (None, True)


def test_a_model_before_its_first_publication_is_an_empty_row(gpu):
    (row,) = market_rows(gpus=[gpu], currency=Currency.EUR, now=T0)

    assert (row.one, row.eight, row.figures, row.trend) == (None, None, None, ())
    assert not row.is_offered


@pytest.mark.parametrize("models", [1, 9])
def test_rows_ask_three_questions(models, django_assert_num_queries):
    gpus = [GpuModelFactory.create(slug=f"card-{number}") for number in range(models)]

    with django_assert_num_queries(3):
        rows = market_rows(gpus=gpus, currency=Currency.EUR, now=T0)

    assert [row.gpu for row in rows] == gpus


def test_days_are_those_of_the_reader_and_weigh_by_gpu_hours(gpu):
    paris = ZoneInfo("Europe/Paris")
    evening = datetime(2026, 11, 2, 22, tzinfo=UTC)
    hours = [
        TradedHour(
            gpu_model=gpu,
            currency="EUR",
            hour_starts_at=evening + number * HOUR,
            average_price_micro=price_micro,
            last_price_micro=price_micro + 1,
            gpu_hours=gpu_hours,
            fills=2,
        )
        for number, (price_micro, gpu_hours) in enumerate(
            [(300_000, 1), (400_000, 1), (500_000, 3)]
        )
    ]

    first, second = by_day(hours, zone=paris)

    assert first.hour_starts_at == datetime(2026, 11, 2, tzinfo=paris)
    assert (first.average_price_micro, first.gpu_hours, first.fills) == (300_000, 1, 2)
    # Eleven in the evening of Greenwich is the next day in Paris.
    assert second.hour_starts_at == datetime(2026, 11, 3, tzinfo=paris)
    assert (second.average_price_micro, second.last_price_micro) == (475_000, 500_001)
    assert (second.gpu_hours, second.fills) == (4, 4)
