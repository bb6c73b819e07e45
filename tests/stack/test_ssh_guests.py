"""Whom the demo's SSH server lets in, by the rentals in the database."""

import asyncssh
import pytest

from config.stack.ssh_guests import find_guest
from config.stack.ssh_server import Guest
from marketplace.models import Rental
from tests.builders import sell
from tests.factories import T0

pytestmark = pytest.mark.django_db

PORT = 2222
KEY = asyncssh.generate_private_key("ssh-ed25519")


def handed_over(**changes: object) -> Rental:
    rental = sell(gpus=2)
    fields = {
        "host": "127.0.0.1",
        "port": PORT,
        "ssh_public_key": KEY.export_public_key().decode().strip(),
        "access_opened_at": T0,
        **changes,
    }
    Rental.objects.filter(pk=rental.pk).update(**fields)
    return rental


class TestFindGuest:
    def test_knows_the_customer_of_an_open_rental_by_the_key(self):
        handed_over()

        guest = find_guest(fingerprint=KEY.get_fingerprint(), port=PORT)

        assert guest == Guest(card="RTX 4090", gpus=2, memory_gb=24)

    @pytest.mark.parametrize(
        "changes",
        [
            {"access_opened_at": None},
            {"ended_at": T0, "end_reason": "completed"},
            {"port": PORT + 1},
            {"host": "203.0.113.5"},
            {"ssh_public_key": "ssh-ed25519 AAAA"},
        ],
        ids=["not opened", "ended", "another port", "another host", "no key"],
    )
    def test_knows_nobody_otherwise(self, changes: dict[str, object]):
        handed_over(**changes)

        assert find_guest(fingerprint=KEY.get_fingerprint(), port=PORT) is None
