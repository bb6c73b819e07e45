"""Who asks too often is told so, in their language, and when to come back."""

import re
from datetime import timedelta
from threading import Barrier, Thread
from typing import cast

import pytest
from django.core.cache import cache
from redis.exceptions import ConnectionError as RedisAway

from marketplace.accounts import clock, rate_limits
from marketplace.accounts.models import Invitation, Membership
from marketplace.accounts.rate_limits import DAY, HOUR, MINUTE, RATES, Limit, TooOften, count_act
from marketplace.models import Bid, Offer
from tests.exchange import SSH_KEY
from tests.functional.whole_market import (
    SLUG,
    WholeMarket,
    address_of,
    counted,
    make_whole_market,
)


@pytest.fixture(autouse=True)
def _limits_are_on(settings, own_cache):
    settings.RATE_LIMITS_ARE_ON = True


@pytest.fixture
def seconds(monkeypatch):
    """Return the clock of the counters, to be turned."""
    dial = [1_000_000]
    monkeypatch.setattr(rate_limits.time, "time", lambda: float(dial[0]))
    return dial


@pytest.fixture
def market() -> WholeMarket:
    return make_whole_market()


def use_up(limit: Limit, *, who: int) -> None:
    for _act in range(RATES[limit][0].times):
        count_act(limit=limit, who=who)


class TestCounting:
    @pytest.mark.parametrize(
        ("limit", "rates"),
        [
            (Limit.ORDER, [(30, MINUTE)]),
            (Limit.CANCEL, [(60, MINUTE)]),
            (Limit.PREVIEW, [(60, MINUTE)]),
            (Limit.OFFER, [(1, MINUTE), (60, DAY)]),
        ],
    )
    def test_the_published_limits_are_these(self, limit, rates):
        assert [(rate.times, rate.seconds) for rate in RATES[limit]] == rates

    def test_the_act_after_the_last_is_refused_until_the_window_closes(self, seconds):
        use_up(Limit.ORDER, who=7)
        seconds[0] += 40

        with pytest.raises(TooOften) as refused:
            count_act(limit=Limit.ORDER, who=7)
        seconds[0] += refused.value.retry_seconds
        cache.delete("rate:order:60:7:from")  # The cache of this test keeps real time.
        count_act(limit=Limit.ORDER, who=7)

        assert refused.value.retry_seconds == 20

    def test_one_organisations_haste_does_not_slow_another(self, seconds):
        use_up(Limit.ORDER, who=7)

        count_act(limit=Limit.ORDER, who=8)
        count_act(limit=Limit.CANCEL, who=7)

    def test_the_same_key_is_the_same_act(self, seconds):
        for _double_click in range(5):
            count_act(limit=Limit.OFFER, who=7, key="one form")

        with pytest.raises(TooOften):
            count_act(limit=Limit.OFFER, who=7, key="another form")

    def test_a_key_of_any_shape_is_taken(self, seconds):
        count_act(limit=Limit.OFFER, who=7, key="é \n💩" * 60)

    def test_the_longest_wait_of_several_windows_is_told(self, seconds, monkeypatch):
        monkeypatch.setitem(
            RATES, Limit.OFFER, (rate_limits.Rate(1, MINUTE), rate_limits.Rate(1, DAY))
        )
        count_act(limit=Limit.OFFER, who=7)

        with pytest.raises(TooOften) as refused:
            count_act(limit=Limit.OFFER, who=7)

        assert refused.value.retry_seconds == DAY

    def test_acts_of_one_moment_are_all_counted(self, seconds):
        barrier, refused = Barrier(8), []

        def act() -> None:
            barrier.wait()
            for _time in range(5):
                try:
                    count_act(limit=Limit.ORDER, who=7)
                except TooOften as too_often:
                    refused.append(too_often)

        threads = [Thread(target=act) for _one in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert len(refused) == 8 * 5 - 30

    def test_nothing_is_refused_while_the_cache_is_away(self, monkeypatch):
        class Away:
            def add(self, *_args: object) -> None:
                raise RedisAway

        monkeypatch.setattr(rate_limits, "cache", Away())

        use_up(Limit.OFFER, who=7)
        use_up(Limit.OFFER, who=7)

    def test_the_limits_are_on_outside_the_tests(self, project_root):
        from config.settings import base

        assert base.RATE_LIMITS_ARE_ON is True
        for name in ("dev", "prod"):
            source = (project_root / "config" / "settings" / f"{name}.py").read_text()
            assert "RATE_LIMITS" not in source


@pytest.mark.django_db
class TestPages:
    def refused(self, answer, *, seconds: int = MINUTE) -> None:
        assert answer.status_code == 429
        assert 1 <= int(answer["Retry-After"]) <= seconds

    def test_orders(self, market):
        use_up(Limit.ORDER, who=market.buyers.pk)
        client = market.browser_of("buyer")
        before = counted()

        self.refused(self.order(client))

        assert counted() == before

    def test_the_thirtieth_order_of_a_minute_is_the_last(self, market):
        for _order in range(29):
            count_act(limit=Limit.ORDER, who=market.buyers.pk)
        client = market.browser_of("buyer")

        answers = [self.order(client, key=str(number)).status_code for number in range(2)]

        assert answers == [302, 429]
        assert Bid.objects.count() == 3

    def test_an_order_that_is_sent_twice_counts_once(self, market):
        for _order in range(29):
            count_act(limit=Limit.ORDER, who=market.buyers.pk)
        client = market.browser_of("buyer")

        first, second = (self.order(client, key="same") for _click in range(2))

        assert first.url == second.url

    def test_previews(self, market):
        use_up(Limit.PREVIEW, who=market.buyers.pk)
        client = market.browser_of("trader")

        self.refused(client.get(self.review()))

    def test_the_colleagues_of_an_organisation_share_its_limit(self, market):
        use_up(Limit.CANCEL, who=market.buyers.pk)
        before = counted()

        for person in ("buyer", "trader"):
            url = address_of("marketplace:order_cancel", market.waiting.pk)
            self.refused(market.browser_of(person).post(url))

        assert counted() == before

    def test_a_server_is_offered_once_a_minute(self, market):
        count_act(limit=Limit.OFFER, who=market.free_server.pk)
        client = market.browser_of("seller")
        start = clock.now().replace(minute=0, second=0, microsecond=0) + timedelta(hours=2)
        form = {
            "key": "k",
            "ask_price": "1",
            "currency": "EUR",
            "starts_at": f"{start:%Y-%m-%dT%H:%M}",
            "ends_at": f"{start + timedelta(days=1):%Y-%m-%dT%H:%M}",
            "min_gpus": 1,
            "gpu_step": 1,
            "min_hours": 1,
        }
        url = address_of("marketplace:offer_add", market.free_server.pk)

        self.refused(client.post(url, form))

        assert Offer.objects.count() == 1

    def test_withdrawing_counts_as_cancelling(self, market):
        use_up(Limit.CANCEL, who=market.sellers.pk)
        url = address_of("marketplace:offer_withdraw", market.offer.pk)
        before = counted()

        self.refused(market.browser_of("seller").post(url))

        assert counted() == before

    def test_invitations(self, market):
        use_up(Limit.INVITATION, who=market.buyers.pk)
        form = {"email": "x@example.com", "role": Membership.Role.VIEWER}

        self.refused(
            market.browser_of("buyer").post(address_of("accounts:members"), form), seconds=HOUR
        )

        assert Invitation.objects.count() == 1

    def test_top_ups(self, market):
        use_up(Limit.TOP_UP, who=market.buyers.pk)
        before = counted()
        url = address_of("billing:top_up", "EUR")

        answer = market.browser_of("buyer").post(url, {"amount": "20", "key": "new", "next": ""})

        self.refused(answer, seconds=HOUR)
        assert counted() == before

    @pytest.mark.parametrize(
        ("limit", "language", "words"),
        [
            (Limit.CANCEL, "en", r"Nothing was changed. Try again in \d+ seconds?\."),
            (Limit.INVITATION, "en", r"Nothing was changed. Try again in \d+ minutes\."),
            (Limit.CANCEL, "fr", r"Rien n’a été modifié. Réessayez dans \d+ secondes?\."),
        ],
    )
    def test_the_page_says_when_to_try_again(self, market, limit, language, words):
        use_up(limit, who=market.buyers.pk)
        url, form = {
            Limit.CANCEL: (
                address_of("marketplace:order_cancel", market.waiting.pk, language=language),
                {},
            ),
            Limit.INVITATION: (
                address_of("accounts:members", language=language),
                {"email": "x@example.com", "role": "viewer"},
            ),
        }[limit]

        page = market.browser_of("buyer").post(url, form).content.decode()

        assert re.search(words, page)
        assert f'<html lang="{language}"' in page

    def review(self) -> str:
        ticket = "?kind=limit&gpus=1&hours=1&currency=EUR&limit_price=0.10"
        return address_of("marketplace:order_review", SLUG) + ticket

    def order(self, client, *, key: str = "k"):
        form = {
            "key": key,
            "accepted_price_micro": 100_000,
            "accepted_start": 1,
            "ssh_key": "new",
            "new_key": SSH_KEY,
            "label": "",
        }
        return client.post(self.review(), form)


@pytest.mark.django_db
class TestMarketData:
    """Reading the API without a key: 120 times a minute from one address."""

    URL = "/api/v1/gpus/"

    @pytest.fixture(autouse=True)
    def _real_rates(self, monkeypatch):
        from rest_framework.throttling import SimpleRateThrottle

        from config.settings.base import REST_FRAMEWORK

        rates = cast("dict[str, str]", REST_FRAMEWORK["DEFAULT_THROTTLE_RATES"])
        assert rates["anon"] == "120/min"
        monkeypatch.setattr(SimpleRateThrottle, "THROTTLE_RATES", rates | {"anon": "3/min"})

    def test_is_refused_with_a_problem_and_the_time_to_wait(self, client):
        answers = [client.get(self.URL) for _read in range(4)]

        assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
        assert answers[3]["Content-Type"] == "application/problem+json"
        assert answers[3].json()["code"] == "throttled"
        assert 1 <= int(answers[3]["Retry-After"]) <= MINUTE

    def test_counts_each_address_by_itself(self, client):
        for _read in range(4):
            client.get(self.URL, REMOTE_ADDR="192.0.2.1")

        assert client.get(self.URL, REMOTE_ADDR="192.0.2.2").status_code == 200

    def test_does_not_believe_an_address_that_the_client_wrote_itself(self, client):
        answers = [
            client.get(self.URL, headers={"x-forwarded-for": f"192.0.2.{number}"}).status_code
            for number in range(4)
        ]

        assert answers == [200, 200, 200, 429]
