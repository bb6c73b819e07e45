"""Short sweeps over rows. A message is only a bell: lost or repeated, it changes nothing."""

from celery import current_app, shared_task
from celery.signals import worker_ready

from marketplace.accounts.clock import now
from marketplace.bell import answer_bell
from marketplace.operations import commands, match_mails, rentals
from marketplace.operations.balance_mails import tell_of_low_balances
from marketplace.operations.charging import charge_due_hours
from marketplace.operations.matching import match_shard
from marketplace.operations.opening import tell_of_opening
from marketplace.operations.probes import probe_due
from marketplace.operations.rental_mails import tell_of_endings
from marketplace.operations.settlement import settle_due_hours

# Ten thousand commands in one task; what is left then waits for the next sweep, seconds later.
MAX_BATCHES = 20
SWEEPS_AT_START = (
    "marketplace.tasks.match_shards",
    "marketplace.tasks.sweep_rentals",
    "marketplace.tasks.charge_hours",
    "marketplace.tasks.probe_rentals",
    "marketplace.tasks.tell_of_matches",
    "marketplace.tasks.tell_of_times",
    "marketplace.tasks.forget_old_keys",
)


@worker_ready.connect
def sweep_at_start(**_facts: object) -> None:
    """Ask for every sweep when a worker becomes ready: what a dead one left must not wait."""
    for name in SWEEPS_AT_START:
        current_app.send_task(name)


@shared_task(
    name="marketplace.tasks.match_shards",
    acks_late=True,
    ignore_result=True,
    soft_time_limit=50,
    time_limit=60,
)
def match_shards(**_later_arguments: object) -> None:
    """Match what waits. Safe to run twice, at once and at any time."""
    answer_bell()
    for _batch in range(MAX_BATCHES):
        if not match_shard(now=now).has_more:
            return


@shared_task(
    name="marketplace.tasks.sweep_rentals",
    acks_late=True,
    ignore_result=True,
    soft_time_limit=50,
    time_limit=60,
)
def sweep_rentals(**_later_arguments: object) -> None:
    """Take rentals through the states that are due. Safe to run twice, at once and at any time."""
    rentals.sweep_rentals(now=now())


@shared_task(
    name="marketplace.tasks.charge_hours",
    acks_late=True,
    ignore_result=True,
    soft_time_limit=50,
    time_limit=60,
)
def charge_hours(**_later_arguments: object) -> None:
    """Charge the hours that have begun and settle those that are over. Safe to run twice."""
    charge_due_hours(now=now())
    settle_due_hours(now=now())


@shared_task(
    name="marketplace.tasks.probe_rentals",
    acks_late=True,
    ignore_result=True,
    soft_time_limit=25,
    time_limit=30,
)
def probe_rentals(**_later_arguments: object) -> None:
    """Check the machines that are due, on the queue that may wait for the network."""
    probe_due(now=now())


@shared_task(
    name="marketplace.tasks.tell_of_matches",
    acks_late=True,
    ignore_result=True,
    soft_time_limit=50,
    time_limit=60,
)
def tell_of_matches(**_later_arguments: object) -> None:
    """Write the mails about fills and expired bids. Safe to run twice, at once and at any time."""
    match_mails.tell_of_matches(now=now())


@shared_task(
    name="marketplace.tasks.tell_of_times",
    acks_late=True,
    ignore_result=True,
    soft_time_limit=50,
    time_limit=60,
)
def tell_of_times(**_later_arguments: object) -> None:
    """Write the mails about the opening, last hours and low balances. Safe to run twice."""
    moment = now()
    tell_of_opening(now=moment)
    tell_of_endings(now=moment)
    tell_of_low_balances(now=moment)


@shared_task(
    name="marketplace.tasks.forget_old_keys",
    acks_late=True,
    ignore_result=True,
    soft_time_limit=50,
    time_limit=60,
)
def forget_old_keys(**_later_arguments: object) -> None:
    """Forget the idempotency keys that count no more, once a day and at a worker's start."""
    commands.forget_old_keys(now=now())
