"""Load the demo's history into an empty site."""

from collections.abc import Callable
from datetime import datetime, timedelta

from django.conf import settings
from django.db import connection

from config.demo.acts import DAY
from config.demo.cast import CAMILLE
from config.demo.checkout import silence_webhooks
from config.demo.founding import found_world
from config.demo.history import History, catch_up, set_clock
from config.demo.memory_test import keep_camilles_memory_test
from config.demo.plan import FULL, Plan, Scale, build_plan
from marketplace.accounts import clock
from marketplace.accounts.models import ClockOffset, Organisation
from marketplace.operations.quotes import rebuild_published_market
from marketplace.operations.slots import slot_at, time_of


class CutShort(Exception):
    """An earlier loading was stopped in the middle: its clock still stands in the past."""


class NoPaymentDouble(Exception):
    """Real payment keys are set, and nobody can pay by them here."""


def is_loaded() -> bool:
    """Say whether the site has data already.

    Raises
    ------
    CutShort
        Some of it, from a loading that did not reach its end.
    """
    if ClockOffset.objects.filter(offset_seconds__lt=0).exists():
        raise CutShort
    return Organisation.objects.exists()


def load(*, tell: Callable[[str], None], scale: Scale = FULL) -> None:
    """Live through the whole history, and leave the clock at real time.

    Raises
    ------
    NoPaymentDouble
        Nothing was loaded.
    """
    if not settings.STRIPE_API_BASE:
        raise NoPaymentDouble
    plan = build_plan(scale=scale)
    _hurry()
    silence_webhooks(are_silent=True)
    fills = live_through(plan, ends_at=time_of(slot_at(clock.now())), tell=tell)
    clock.set_offset(offset_seconds=0)
    catch_up(now=clock.now())
    rebuild_published_market()
    silence_webhooks(are_silent=False)
    tell(f"{fills} fills")


def _hurry() -> None:
    """Let this connection's commits not wait for the disk: a crash would mean a new start anyway."""
    with connection.cursor() as cursor:
        cursor.execute("SET synchronous_commit TO off")


def live_through(plan: Plan, *, ends_at: datetime, tell: Callable[[str], None]) -> int:
    """Found the world and run the plan up to ``ends_at``; return the number of fills."""
    begins_at = ends_at - timedelta(days=plan.days)
    set_clock(begins_at)
    world = found_world(plan, now=begins_at)
    tell(
        f"{len(world.sellers)} sellers, {len(world.customers)} customers, {len(world.servers)} servers"
    )
    history = History(plan=plan, world=world, ends_at=ends_at)
    days_left = plan.days

    def told(moment: datetime) -> None:
        nonlocal days_left
        left = (ends_at - moment) // timedelta(minutes=DAY)
        if left < days_left:
            days_left = left
            tell(f"{left + 1:>2} days ago: {history.fills} fills so far")

    history.run(told=told)
    keep_camilles_memory_test(world.customers[CAMILLE.key], now=ends_at)
    return history.fills
