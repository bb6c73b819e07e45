"""Short sweeps over rows; a lost or repeated message changes nothing."""

from celery import shared_task

from marketplace.accounts.clock import now
from marketplace.accounts.operations.contact import forget_old_messages
from marketplace.accounts.operations.devices import forget_old_devices
from marketplace.accounts.operations.mails import send_due_mails


@shared_task(name="marketplace.accounts.tasks.send_mails", ignore_result=True)
def send_mails() -> None:
    """Send the mails that are due."""
    send_due_mails(now=now())


@shared_task(name="marketplace.accounts.tasks.forget_old_sessions", ignore_result=True)
def forget_old_sessions() -> None:
    """Remove sessions that have expired with what was known of their browsers, and old messages."""
    moment = now()
    forget_old_devices(now=moment)
    forget_old_messages(now=moment)
