import contextlib
import signal
import threading
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import OperationalError, connection

from config.demo.delivery import NoDemoMachine, deliver_waiting, demo_access
from marketplace.accounts.clock import now

POLL_SECONDS = 1.0


class Command(BaseCommand):
    """Hand over what the demo's sellers have sold, until somebody stops it."""

    help = "Hand over the machines that the demo's sellers have sold, until it is stopped."

    def handle(self, *_arguments: Any, **_options: Any) -> None:
        if not settings.IS_DEMO:
            raise CommandError("This is not a demo: sellers hand their machines over themselves.")
        try:
            demo_access()
        except NoDemoMachine as error:
            raise CommandError(
                "Set DEMO_SSH_PORT and DEMO_SSH_FINGERPRINT: the sellers have no machine."
            ) from error
        stopped = _stop_event()
        while not stopped.is_set():
            self._deliver()
            stopped.wait(POLL_SECONDS)

    def _deliver(self) -> None:
        try:
            handed_over = deliver_waiting(now=now())
        except OperationalError as error:
            # The database is being restarted: the sales wait there.
            self.stderr.write(f"the database does not answer: {error}")
            with contextlib.suppress(OperationalError):
                connection.close()
            return
        if handed_over:
            self.stdout.write(f"handed over: {handed_over}")


def _stop_event() -> threading.Event:
    stopped = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda _number, _frame: stopped.set())
    return stopped
