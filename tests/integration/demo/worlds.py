"""A small demo world for tests: its own payment double, its own SSH server."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path

from django.core.management import call_command
from pytest_django import Settings

from billing.money import Currency
from config.demo.cast import FEATURED
from config.demo.loading import live_through
from config.demo.plan import Plan, Scale
from config.stack.ssh_keys import ensure_host_key
from config.stack.ssh_server import Guest, serve
from tests.stripe_double_fixture import running_double

ENDS_AT = datetime(2026, 11, 2, 9, 0, tzinfo=UTC)
CARDS = tuple(card for card in FEATURED if card.slug in {"rtx-4090", "rtx-a6000"})
SMALL = Scale(
    days=3,
    cards=CARDS,
    orders={Currency.USD: 4, Currency.EUR: 3, Currency.GBP: 2},
    bursts_per_day=3,
    has_camilles_story=False,
)


async def _nobody(_fingerprint: str) -> Guest | None:
    return None


@contextmanager
def ssh_machine(settings: Settings, *, folder: Path) -> Iterator[None]:
    """Run the demo's SSH server in a thread, with the settings pointing at it."""
    key = folder / "ssh_host_key"
    settings.DEMO_SSH_FINGERPRINT = ensure_host_key(key)
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="ssh machine")
    thread.start()
    acceptor = asyncio.run_coroutine_threadsafe(
        serve(port=0, host_key=key, find_guest=_nobody), loop
    ).result(timeout=10)
    settings.DEMO_SSH_HOST, settings.DEMO_SSH_PORT = "127.0.0.1", acceptor.get_port()
    try:
        yield
    finally:
        loop.call_soon_threadsafe(acceptor.close)
        asyncio.run_coroutine_threadsafe(acceptor.wait_closed(), loop).result(timeout=10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(timeout=10)
        loop.close()


@contextmanager
def servers(settings: Settings, *, folder: Path) -> Iterator[None]:
    """Run what the demo's people need: where they pay, and where their machines are."""
    with running_double() as double, ssh_machine(settings, folder=folder):
        settings.STRIPE_API_BASE = double.url
        settings.STRIPE_SECRET_KEY = double.api_key
        settings.STRIPE_WEBHOOK_SECRET = double.webhook_secret
        yield


def live(plan: Plan, settings: Settings, *, folder: Path) -> int:
    """Live through a plan in an empty database; return the number of fills."""
    load_catalog()
    with servers(settings, folder=folder):
        return live_through(plan, ends_at=ENDS_AT, tell=lambda line: None)


def load_catalog() -> None:
    call_command("load_catalog", stdout=StringIO())
