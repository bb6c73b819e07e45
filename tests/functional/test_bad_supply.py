"""What clumsy and hostile sellers type about their servers and offers."""

from datetime import timedelta

import pytest
from django.test import Client

from marketplace.accounts import clock
from marketplace.models import Offer
from marketplace.operations.matching import match_shard
from tests.functional.typed_forms import NO_NUMBERS, errors_of, next_hour, offer_form, typed
from tests.functional.whole_market import (
    SLUG,
    WholeMarket,
    address_of,
    counted,
    make_whole_market,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def market() -> WholeMarket:
    return make_whole_market()


@pytest.fixture
def seller(market) -> Client:
    return market.browser_of("seller")


class TestOffers:
    @pytest.mark.parametrize("field", ["min_gpus", "gpu_step", "min_hours"])
    def test_no_number_is_refused_by_its_field(self, market, seller, field):
        before = counted()

        for text in (*NO_NUMBERS, "3" if field != "min_hours" else "169"):
            answer = seller.post(self.page(market), offer_form(**{field: text}))
            assert (text, list(errors_of(answer))) == (text, [field])

        assert counted() == before

    def test_no_period_lists_nothing(self, market, seller):
        start = next_hour() + timedelta(hours=1)
        before = counted()

        for first, last in (
            ("2020-01-01T00:00", typed(start)),
            (typed(start), typed(start)),
            (typed(start), typed(start - timedelta(hours=1))),
            (typed(start), typed(start + timedelta(days=29))),
            (typed(start), typed(start + timedelta(minutes=15))),
            (typed(start + timedelta(minutes=1)), typed(start + timedelta(days=1))),
            ("0001-01-01T00:00", "9999-12-31T23:45"),
            ("", ""),
            ("2027-03-28T02:30", "2027-10-31T02:30"),
        ):
            answer = seller.post(self.page(market), offer_form(starts_at=first, ends_at=last))
            assert {"starts_at", "ends_at"} & set(errors_of(answer))

        assert counted() == before

    @pytest.mark.parametrize("changes", [{"key": ""}, {"key": "k" * 65}])
    def test_without_a_fitting_key_nothing_is_listed(self, market, seller, changes):
        before = counted()

        answer = seller.post(self.page(market), offer_form(**changes))

        assert list(errors_of(answer)) == ["__all__"]
        assert counted() == before

    def test_sent_twice_is_one_offer(self, market, seller):
        first, second = (seller.post(self.page(market), offer_form()) for _click in range(2))

        assert (first.status_code, first.url) == (302, second.url)
        assert Offer.objects.count() == 2

    def test_withdrawn_twice_is_withdrawn_once(self, market, seller):
        url = address_of("marketplace:offer_withdraw", market.offer.pk)
        seller.post(url)
        match_shard(now=clock.now())
        before = counted()

        page = seller.post(url, follow=True).content.decode()

        assert "This offer is closed already: list a new one." in page
        assert counted() == before

    def page(self, market) -> str:
        return address_of("marketplace:offer_add", market.free_server.pk)


class TestServers:
    def form(self, **changes: object) -> dict[str, object]:
        return {
            "name": "third",
            "gpu_model_slug": SLUG,
            "gpu_count": 2,
            "region": "eu-west",
            "tier": "standard",
            "ram_gb": 64,
            "vcpus": 8,
            "disk_gb_per_gpu": 100,
        } | changes

    @pytest.mark.parametrize("field", ["gpu_count", "ram_gb", "vcpus", "disk_gb_per_gpu"])
    def test_no_number_is_refused_by_its_field(self, market, seller, field):
        before = counted()

        for text in ("", "-1", "1.5", "1e5", "NaN", "💩", "99999999999999999999", "9" * 5_000):
            answer = seller.post(address_of("marketplace:server_add"), self.form(**{field: text}))
            assert (text, list(errors_of(answer))) == (text, [field])

        assert counted() == before

    @pytest.mark.parametrize(
        ("field", "value"),
        [
            ("name", ""),
            ("name", "   "),
            ("name", "x" * 61),
            ("name", "quagga-rack-7"),
            ("gpu_model_slug", "no-such-card"),
            ("region", "mars"),
            ("tier", "gold"),
        ],
    )
    def test_what_cannot_be_is_refused_by_its_field(self, market, seller, field, value):
        before = counted()

        answer = seller.post(address_of("marketplace:server_add"), self.form(**{field: value}))

        assert list(errors_of(answer)) == [field]
        assert counted() == before

    def test_who_is_no_seller_adds_none(self, market):
        before = counted()

        answer = market.browser_of("buyer").post(address_of("marketplace:server_add"), self.form())

        assert errors_of(answer) == {"__all__": ["Apply as a seller first."]}
        assert counted() == before
