"""Which customers the demo's SSH server lets in: those with an open rental at its address."""

import asyncssh
import django
from asgiref.sync import sync_to_async
from django.db import connection

from config.stack.ssh_server import FindGuest, Guest

# The demo's seller types one of these.
OWN_HOSTS = ("127.0.0.1", "localhost", "::1")


def guest_finder(port: int) -> FindGuest:
    """Return a search for the open rental on ``port`` whose customer's key has a fingerprint."""
    django.setup()

    def find_and_hang_up(fingerprint: str) -> Guest | None:
        try:
            return find_guest(fingerprint=fingerprint, port=port)
        finally:
            # Logins are rare: an idle connection would only be in the way of a restart.
            connection.close()

    async def find(fingerprint: str) -> Guest | None:
        return await sync_to_async(find_and_hang_up)(fingerprint)

    return find


def find_guest(*, fingerprint: str, port: int) -> Guest | None:
    """Return what the newest open rental on ``port`` with this key shows, or None."""
    # Imported late: models exist only after `django.setup`.
    from marketplace.models import Rental  # noqa: PLC0415 -- see above

    open_here = Rental.objects.filter(
        host__in=OWN_HOSTS, port=port, access_opened_at__isnull=False, ended_at__isnull=True
    ).select_related("server__gpu_model", "fill")
    for rental in open_here.order_by("-pk").iterator():
        if _fingerprint(rental.ssh_public_key) == fingerprint:
            model = rental.server.gpu_model
            return Guest(card=model.name, gpus=rental.fill.gpus, memory_gb=model.memory_gb)
    return None


def _fingerprint(public_key: str) -> str | None:
    try:
        return asyncssh.import_public_key(public_key).get_fingerprint()
    except asyncssh.KeyImportError:
        return None
