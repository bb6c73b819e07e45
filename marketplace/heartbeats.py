"""When each sweep last succeeded, noted in the cache by the worker that ran it.

Only the status page reads this: a note that is lost or late changes nothing. Real time, not the
market's, since a demo's clock that jumps says nothing about its workers.
"""

import time
from collections.abc import Iterable

from celery.signals import task_success
from django.core.cache import cache
from redis.exceptions import RedisError

PREFIX = "heartbeat:"
# A worker that has been away for longer is simply away.
KEPT_SECONDS = 7 * 24 * 3600


@task_success.connect
def note_sweep(sender: object = None, **_facts: object) -> None:
    """Note each task that a worker of ours has done."""
    name = getattr(sender, "name", "")
    if name:
        note_success(task=name)


def note_success(*, task: str) -> None:
    """Note that a task has just succeeded; do nothing while the cache is away."""
    try:
        cache.set(f"{PREFIX}{task}", int(time.time()), KEPT_SECONDS)
    except RedisError:
        return


def seconds_since_success(*, tasks: Iterable[str]) -> dict[str, int]:
    """Return the age of each task's last success; a task that is not known has none.

    Raises
    ------
    RedisError
        The cache is away: nothing is known.
    """
    now_seconds = int(time.time())
    noted = cache.get_many([f"{PREFIX}{task}" for task in tasks])
    return {
        name.removeprefix(PREFIX): max(0, now_seconds - seconds) for name, seconds in noted.items()
    }
