"""The bell: tell a worker that rows wait. It may be lost or ring twice; the sweeps find the rows."""

from celery import current_app
from django.core.cache import cache
from django.db import transaction
from kombu.exceptions import OperationalError as BrokerUnavailable
from redis.exceptions import RedisError

MATCH_TASK = "marketplace.tasks.match_shards"
BELL_KEY = "bell:match"
# One message is enough for all the commands of a moment; past this the key must not block a ring.
BELL_SECONDS = 5


def ring_matcher() -> None:
    """Ring after commit, once for all who ring before the matcher answers."""
    transaction.on_commit(_ring)


def answer_bell() -> None:
    """Let the next ring through; called by the matcher before it reads."""
    cache.delete(BELL_KEY)


def _ring() -> None:
    try:
        if cache.add(BELL_KEY, 1, BELL_SECONDS):
            current_app.send_task(MATCH_TASK)
    except (RedisError, BrokerUnavailable):
        # The broker is away: the sweep finds the command.
        return
