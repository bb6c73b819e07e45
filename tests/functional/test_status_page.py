"""The status page tells what runs, and stands when the broker or the database is away."""

from datetime import timedelta
from unittest import mock

import pytest
from django.core.cache import cache
from django.db.utils import OperationalError
from redis.exceptions import ConnectionError as BrokerAway

from billing.models import StripeEvent
from catalog.models import GpuModel
from marketplace import heartbeats
from marketplace.accounts import clock
from marketplace.models import MarketState
from marketplace.operations.market_state import set_market_state
from marketplace.operations.matching import match_shard
from marketplace.queries import service
from marketplace.tasks import match_shards, sweep_rentals
from tests.exchange import open_market
from tests.factories import T0, UserFactory

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _nothing_is_kept():
    cache.clear()
    yield
    cache.clear()


@pytest.fixture
def everything_runs():
    now = clock.now()
    open_market(now=now)
    match_shard(now=now)
    for sweeps in service.SWEEPS.values():
        for task in sweeps:
            heartbeats.note_success(task=task)


def page(client, address="/en/status/", status=200):
    answer = client.get(address)
    assert answer.status_code == status
    assert "no-cache" in answer.headers["Cache-Control"]
    return " ".join(answer.content.decode().split())


def test_says_that_everything_runs(client, everything_runs, django_assert_max_num_queries):
    with django_assert_max_num_queries(12):
        text = page(client)

    assert "Everything runs" in text
    assert text.count('class="verdict ok"') == 9
    assert "1 model can be traded." in text


def test_names_a_sweep_that_does_not_run(client, everything_runs):
    long_ago = {"marketplace.tasks.charge_hours": 61}
    with mock.patch.object(
        service,
        "seconds_since_success",
        lambda tasks: heartbeats.seconds_since_success(tasks=tasks) | long_ago,
    ):
        text = page(client)

    assert "Some parts do not run as they should" in text
    row = text.split("Rentals and hourly charges")[1].split("</tr>")[0]
    assert "Does not run" in row
    assert "61 seconds ago" in row


def test_does_not_guess_about_workers_that_it_has_never_heard_of(client):
    open_market()

    text = page(client)

    assert text.count("Not known") == 5
    assert "None yet" in text
    assert "Everything runs" not in text


def test_says_when_payment_events_wait(client, everything_runs):
    came = clock.now() - timedelta(minutes=2)
    StripeEvent.objects.create(
        event_id="evt_1", type="x", payload={"secret": "sk_1"}, received_at=came, due_at=came
    )

    text = page(client)

    row = text.split('<th scope="row">Payments')[1].split("</tr>")[0]
    assert "Slow" in row
    assert "the oldest task came 2 minutes ago" in row
    assert "sk_1" not in text
    assert "evt_1" not in text


def test_names_a_halted_model_with_its_reason(client, everything_runs):
    staff = UserFactory.create(is_staff=True)
    state = MarketState.objects.get(gpu_model=None)
    card = GpuModel.objects.get()
    set_market_state(
        state=MarketState.State.HALTED,
        reason="Prices checked",
        staff_id=staff.pk,
        now=T0,
        gpu_model_id=card.pk,
    )

    text = page(client)

    assert state.state == MarketState.State.OPEN
    assert f'<th scope="row">{card.name}</th><td>Trading halted</td>' in text
    assert "Prices checked" in text
    assert staff.email not in text


def test_stands_without_the_broker(client, everything_runs):
    with mock.patch("django.core.cache.backends.redis.RedisCacheClient.get_client") as away:
        away.side_effect = BrokerAway("secret-host:6379")
        text = page(client)

    assert "Does not answer" in text
    assert "secret-host" not in text


def test_says_that_the_database_is_away_without_asking_it(client):
    with mock.patch("marketplace.views.status.market_now", side_effect=OperationalError("host=x")):
        text = page(client, status=503)

    assert "The site cannot reach its database" in text
    assert "host=x" not in text


def test_is_read_once_in_some_seconds(client, everything_runs, django_assert_max_num_queries):
    page(client)

    with mock.patch.object(service, "_read") as read:
        page(client)

    read.assert_not_called()


def test_speaks_french(client, everything_runs):
    text = page(client, "/fr/etat-du-service/")

    assert "Tout fonctionne" in text


def test_a_task_that_succeeded_is_noted_and_one_that_failed_is_not():
    answer = match_shards.apply()
    with mock.patch("marketplace.tasks.rentals.sweep_rentals", side_effect=RuntimeError):
        sweep_rentals.apply()

    assert answer.successful()
    ages = heartbeats.seconds_since_success(tasks=[match_shards.name, sweep_rentals.name])
    assert list(ages) == [match_shards.name]
    assert 0 <= ages[match_shards.name] <= 2
