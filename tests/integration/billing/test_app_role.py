"""The role that the site runs as can charge an hour, and cannot touch what was written."""

from collections.abc import Iterator
from contextlib import contextmanager
from uuid import uuid4

import pytest
from django.core.management import CommandError, call_command
from django.db import ProgrammingError, connection, transaction

from billing.models import Account, Posting
from billing.money import Tally
from billing.operations.charges import HourCharge, charge_hours
from billing.operations.holds import place_hold, release_holds
from marketplace.accounts.models import AuditEntry
from marketplace.accounts.operations.audit import record_act
from tests.factories import T0, OrganisationFactory, fund_wallet

pytestmark = pytest.mark.django_db


@pytest.fixture
def role() -> str:
    """A new role with the site's rights; it goes with the test's transaction."""
    name = f"site_{uuid4().hex[:12]}"
    run(f"CREATE ROLE {name}")
    call_command("grant_app_role", role=name)
    return name


@contextmanager
def acting_as(role: str) -> Iterator[None]:
    """Be that role, as if it had connected."""
    run(f"SET LOCAL SESSION AUTHORIZATION {role}")
    yield
    run("SET LOCAL SESSION AUTHORIZATION DEFAULT")


def run(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)


@pytest.fixture
def wallet():
    buyer = OrganisationFactory.create()
    wallet = fund_wallet(buyer, amount_minor=5_000)
    place_hold(
        organisation_id=buyer.pk, currency="EUR", amount_minor=2_400, purpose="bid:1", now=T0
    )
    return wallet


def test_charges_an_hour_and_frees_the_rest(role, wallet):
    seller = OrganisationFactory.create()
    charge = HourCharge(
        key="charge:1:1",
        hold_purpose="bid:1",
        seller_id=seller.pk,
        vat_country="FR",
        tally=Tally(net_minor=1_000, vat_minor=200, seller_minor=900),
        source_id=1,
        occurred_at=T0,
    )

    with acting_as(role):
        charge_hours(charges=[charge])
        release_holds(purposes=["bid:1"], now=T0)
        run("SET CONSTRAINTS ALL IMMEDIATE")

    wallet.refresh_from_db()
    assert (wallet.posted_minor, wallet.held_minor) == (3_800, 0)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE billing_account SET posted_minor = posted_minor + 1",
        "UPDATE billing_account SET kind = 'bank'",
        "DELETE FROM billing_account",
        "UPDATE billing_posting SET amount_minor = 1",
        "DELETE FROM billing_posting",
        "TRUNCATE billing_posting CASCADE",
        "UPDATE billing_journal SET kind = 'payout'",
        "DELETE FROM billing_journal",
        "DELETE FROM billing_holdmove",
        "UPDATE accounts_auditentry SET action = 'x'",
        "DELETE FROM accounts_auditentry",
        "DELETE FROM django_migrations",
        "ALTER TABLE billing_posting DISABLE TRIGGER ALL",
        "DROP TABLE billing_hold",
        "SET session_replication_role = replica",
    ],
)
def test_is_refused_to_change_what_was_written(role, wallet, statement):
    with acting_as(role):
        with pytest.raises(ProgrammingError, match=r"permission denied|must be owner"):
            with transaction.atomic():
                run(statement)

    wallet.refresh_from_db()
    assert (wallet.posted_minor, Posting.objects.count()) == (5_000, 2)
    assert Account.objects.filter(kind="wallet").count() == 1


def test_writes_the_audit_log(role):
    with acting_as(role):
        record_act(
            actor_id=None,
            organisation_id=None,
            action="test",
            object_type="test",
            object_id=1,
            now=T0,
        )

    assert AuditEntry.objects.filter(action="test", object_id="1").count() == 1


def test_is_not_granted_to_who_owns_the_tables():
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_user")
        (owner,) = cursor.fetchone()

    with pytest.raises(CommandError, match="owns the tables"):
        call_command("grant_app_role", role=owner)


def test_says_when_the_role_does_not_exist():
    with pytest.raises(CommandError, match="There is no role nobody_here"):
        call_command("grant_app_role", role="nobody_here")
