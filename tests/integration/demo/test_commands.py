"""The demo's commands: when they refuse, what they print, what its sellers hand over."""

import base64
import hashlib
import hmac
import time
from datetime import timedelta

import asyncssh
import pytest
from django.core.management import CommandError, call_command
from pytest_django import Settings

from config.demo.cast import ADMIN_EMAIL, CAMILLE, SELLER_EMAIL, machines
from config.demo.delivery import USERNAME, deliver_waiting
from config.demo.keys import ssh_key_of, totp_secret
from marketplace.accounts import clock
from marketplace.accounts.models import Organisation
from marketplace.accounts.operations.people import create_verified_user, enrol_totp
from marketplace.models import Rental, Server
from tests.builders import FINGERPRINT, sell
from tests.factories import T0, MembershipFactory, OrganisationFactory, ServerFactory, UserFactory

pytestmark = pytest.mark.django_db

COMMANDS = ("load_demo", "demo_logins", "demo_code", "demo_ssh_key", "demo_seller")


@pytest.fixture
def _ssh_machine(settings: Settings) -> None:
    settings.DEMO_SSH_HOST, settings.DEMO_SSH_PORT = "127.0.0.1", 2222
    settings.DEMO_SSH_FINGERPRINT = FINGERPRINT


def server_of(email: str, *, name: str) -> Server:
    server = ServerFactory.create(name=name)
    MembershipFactory.create(organisation=server.organisation, user=UserFactory.create(email=email))
    return server


def app_code(secret: str) -> str:
    """Return what an authenticator app shows now (RFC 6238, SHA-1, 30 s, 6 digits)."""
    counter = int(time.time() // 30).to_bytes(8, "big")
    digest = hmac.digest(base64.b32decode(secret), counter, hashlib.sha1)
    place = digest[-1] & 0x0F
    number = int.from_bytes(digest[place : place + 4], "big") & 0x7FFFFFFF
    return f"{number % 10**6:06d}"


class TestCommands:
    @pytest.mark.parametrize("command", COMMANDS)
    def test_refuse_to_run_elsewhere_than_in_a_demo(self, command: str, settings: Settings):
        settings.IS_DEMO = False

        with pytest.raises(CommandError, match="This is not a demo"):
            call_command(command)

        assert not Organisation.objects.exists()


class TestLoadDemo:
    def test_does_nothing_where_there_is_data(self, capsys):
        OrganisationFactory.create()

        call_command("load_demo")

        assert capsys.readouterr().out == "there is data already\n"
        assert Organisation.objects.count() == 1

    def test_refuses_what_was_loaded_by_half(self):
        OrganisationFactory.create()
        clock.set_offset(offset_seconds=-3_600)

        with pytest.raises(CommandError, match="make demo-reset"):
            call_command("load_demo")

    def test_refuses_real_payment_keys_and_loads_nothing(self, settings: Settings):
        settings.STRIPE_API_BASE = None

        with pytest.raises(CommandError, match="unset STRIPE_SECRET_KEY"):
            call_command("load_demo")

        assert not Organisation.objects.exists()


class TestLogins:
    def test_names_a_customer_a_seller_and_an_admin(self, capsys):
        call_command("demo_logins")

        lines = capsys.readouterr().out.splitlines()
        assert [line.split()[:2] for line in lines] == [
            ["customer", CAMILLE.email],
            ["seller", SELLER_EMAIL],
            ["admin", ADMIN_EMAIL],
        ]

    def test_shows_the_code_that_the_admins_app_shows(self, capsys):
        admin = create_verified_user(
            email=ADMIN_EMAIL, password=None, name="", language="en", is_staff=True, now=T0
        )
        enrol_totp(user=admin, secret=totp_secret())

        before = app_code(totp_secret())
        call_command("demo_code")

        assert capsys.readouterr().out.split()[1] in {before, app_code(totp_secret())}

    def test_says_that_there_is_no_admin_yet(self):
        with pytest.raises(CommandError, match="no data yet"):
            call_command("demo_code")

    def test_prints_the_private_half_of_the_demo_customers_key(self, capsys):
        call_command("demo_ssh_key")

        printed = asyncssh.import_private_key(capsys.readouterr().out)
        assert printed.get_fingerprint() == ssh_key_of("camille").get_fingerprint()


@pytest.mark.usefixtures("_ssh_machine")
class TestDeliverWaiting:
    def test_hands_over_what_a_demo_machine_has_sold(self):
        server = server_of(SELLER_EMAIL, name=machines()[0].name)
        rental = sell(server=server)

        assert deliver_waiting(now=T0) == 1
        assert deliver_waiting(now=T0) == 0

        rental.refresh_from_db()
        assert (rental.host, rental.port, rental.username) == ("127.0.0.1", 2222, USERNAME)
        assert rental.host_key_fingerprint == FINGERPRINT
        assert rental.handed_over_at == T0

    @pytest.mark.parametrize(
        ("email", "name"),
        [(SELLER_EMAIL, "added-in-the-demo"), ("visitor@example.com", machines()[0].name)],
        ids=["a machine that a visitor added", "a visitor's own company"],
    )
    def test_leaves_to_visitors_what_is_theirs(self, email: str, name: str):
        rental = sell(server=server_of(email, name=name))

        assert deliver_waiting(now=T0) == 0

        rental.refresh_from_db()
        assert rental.handed_over_at is None

    def test_passes_by_what_is_too_late_to_deliver(self):
        server = server_of(SELLER_EMAIL, name=machines()[0].name)
        rental = sell(server=server)

        assert deliver_waiting(now=rental.starts_at + timedelta(minutes=16)) == 0

        rental.refresh_from_db()
        assert rental.state == Rental.State.SOLD
        assert rental.handed_over_at is None
