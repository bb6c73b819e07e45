"""The bell: one message after commit for many commands, and no harm without a broker."""

from collections.abc import Iterator

import pytest
from celery import current_app
from django.core.cache import cache
from django.db import transaction
from redis.exceptions import RedisError

from marketplace import bell, tasks

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def sent(monkeypatch) -> Iterator[list[str]]:
    names: list[str] = []
    monkeypatch.setattr(current_app, "send_task", names.append)
    bell.answer_bell()
    yield names
    bell.answer_bell()


def test_rings_once_for_many_commands(sent):
    for _ in range(5):
        bell.ring_matcher()

    assert sent == ["marketplace.tasks.match_shards"]


def test_rings_again_once_the_matcher_has_begun(sent):
    bell.ring_matcher()
    tasks.match_shards()

    bell.ring_matcher()

    assert len(sent) == 2


def test_is_silent_until_the_command_is_committed(sent):
    with transaction.atomic():
        bell.ring_matcher()
        assert sent == []

    assert len(sent) == 1


def test_is_silent_when_the_command_is_rolled_back(sent):
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        bell.ring_matcher()
        raise ZeroDivisionError

    assert sent == []


def test_without_a_broker_leaves_the_command_to_the_sweep(sent, monkeypatch):
    def away(*_arguments: object) -> bool:
        raise RedisError

    monkeypatch.setattr(cache, "add", away)

    bell.ring_matcher()

    assert sent == []


def test_a_ready_worker_asks_for_every_sweep(sent):
    tasks.sweep_at_start()

    assert sent == [
        "marketplace.tasks.match_shards",
        "marketplace.tasks.sweep_rentals",
        "marketplace.tasks.charge_hours",
        "marketplace.tasks.probe_rentals",
        "marketplace.tasks.tell_of_matches",
        "marketplace.tasks.tell_of_times",
        "marketplace.tasks.forget_old_keys",
    ]
