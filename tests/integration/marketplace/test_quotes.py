"""Published prices: every one of them can be bought, at that price or better."""

from datetime import timedelta

import pytest

from billing.money import Currency
from catalog.models import Quote
from marketplace.models import Bid, MarketState
from tests.exchange import DAY, HOUR, buy, make_customer, make_offer, match, open_market, place
from tests.factories import T0, ServerFactory

pytestmark = pytest.mark.django_db


def quote_of(gpus: int = 1, currency: str = "EUR") -> Quote:
    return Quote.objects.get(gpu_model__slug="rtx-4090", gpus=gpus, currency=currency)


class TestAQuote:
    def test_is_the_cheapest_offer_and_its_next_start(self):
        open_market()
        make_offer(ask_micro=450_000)
        make_offer(ask_micro=400_000, currency=Currency.USD)
        make_offer(ask_micro=420_000)

        match(T0 + timedelta(minutes=1))

        quote = quote_of()
        assert (quote.price_micro, quote.starts_at) == (420_000, T0 + HOUR)
        assert quote.as_of == T0 + timedelta(minutes=1)
        assert quote_of(currency="USD").price_micro == 400_000

    def test_for_eight_gpus_needs_them_on_one_server(self):
        open_market()
        make_offer(ask_micro=400_000, server=ServerFactory.create(gpu_count=4))
        make_offer(ask_micro=500_000, server=ServerFactory.create(gpu_count=8))

        match()

        assert (quote_of().price_micro, quote_of(8).price_micro) == (400_000, 500_000)

    def test_is_empty_when_nothing_is_offered(self):
        open_market()

        match()

        assert quote_of().price_micro is None
        assert quote_of().starts_at is None

    def test_goes_with_the_offer_that_was_bought_out(self):
        open_market()
        make_offer(server=ServerFactory.create(gpu_count=1), windows=((T0, T0 + 2 * HOUR),))
        match()
        buy(make_customer(), hours=1)

        match()

        assert quote_of().price_micro is None

    def test_is_empty_during_a_halt(self):
        open_market()
        make_offer()
        match()
        open_market(state=MarketState.State.HALTED)

        match()

        assert quote_of().price_micro is None

    def test_moves_its_start_with_the_grid(self):
        open_market()
        make_offer()
        match()

        match(T0 + timedelta(minutes=15))

        assert quote_of().starts_at == T0 + HOUR + timedelta(minutes=15)


@pytest.mark.parametrize("minutes", [0, 9, 11, 14, 29, 44, 59])
@pytest.mark.parametrize("gpus", [1, 8])
def test_every_displayed_best_offer_can_be_bought_at_that_price_or_better(gpus, minutes):
    open_market()
    now = T0 + timedelta(minutes=minutes)
    for gpu_count, ask_micro, hours in ((1, 300_000, 2), (8, 400_000, 3), (8, 450_000, 24)):
        make_offer(
            server=ServerFactory.create(gpu_count=gpu_count),
            ask_micro=ask_micro,
            windows=((T0, T0 + hours * HOUR),),
        )
    make_offer(
        server=ServerFactory.create(gpu_count=8), ask_micro=350_000, windows=((T0, T0 + DAY),)
    )
    match()
    place(make_customer(), hours=20, gpus=1, limit_price_micro=350_000)
    match(now)
    quote = quote_of(gpus)
    assert quote.price_micro is not None

    bid = place(
        make_customer(),
        kind=Bid.Kind.BUY_NOW,
        gpus=gpus,
        hours=1,
        limit_price_micro=quote.price_micro,
        now=now,
    )
    match(now)

    bid.refresh_from_db()
    assert bid.status == Bid.Status.FILLED
    assert bid.fill.customer_price_micro <= quote.price_micro
