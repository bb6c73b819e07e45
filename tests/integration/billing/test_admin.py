"""Staff read the ledger and change nothing; they confirm VAT numbers."""

import pytest
from django.contrib import admin
from django.urls import reverse

from billing.models import (
    Account,
    BillingProfile,
    Hold,
    Journal,
    StripeEvent,
    TopUp,
    TopUpGate,
)
from billing.operations.holds import place_hold
from billing.operations.topups import set_gate
from marketplace.accounts.models import AuditEntry
from marketplace.accounts.operations.people import enrol_totp
from tests.factories import T0, OrganisationFactory, UserFactory, fund_wallet

pytestmark = pytest.mark.django_db

MODELS = (Account, Journal, Hold, TopUp, StripeEvent, TopUpGate, BillingProfile)


@pytest.fixture
def staff(client):
    staff = UserFactory.create(is_staff=True, is_superuser=True)
    enrol_totp(user=staff, secret="JBSWY3DPEHPK3PXP")
    client.force_login(staff)
    return staff


@pytest.fixture
def buyer():
    """One row of each kind."""
    buyer = OrganisationFactory.create(name="Buyers")
    fund_wallet(buyer, amount_minor=123_456)
    place_hold(
        organisation_id=buyer.pk, currency="EUR", amount_minor=1_000, purpose="bid:1", now=T0
    )
    TopUp.objects.create(
        organisation=buyer,
        user=UserFactory.create(),
        currency="EUR",
        amount_minor=5_000,
        idempotency_key="k",
        created_at=T0,
    )
    StripeEvent.objects.create(event_id="evt_1", type="t", payload={}, received_at=T0, due_at=T0)
    set_gate(is_open=True, now=T0)
    BillingProfile.objects.create(
        organisation=buyer, legal_name="B", country="DE", vat_id="DE123456789", updated_at=T0
    )
    return buyer


def address(model, page: str, *args) -> str:
    return reverse(f"admin:billing_{model._meta.model_name}_{page}", args=args)


@pytest.mark.parametrize("model", MODELS)
def test_lists_and_single_rows_can_be_read(client, staff, buyer, model):
    row = model.objects.first()

    assert client.get(address(model, "changelist")).status_code == 200
    assert client.get(address(model, "change", row.pk)).status_code == 200


@pytest.mark.parametrize("model", MODELS)
def test_no_row_can_be_added_changed_or_deleted(client, staff, buyer, model):
    row = model.objects.first()

    assert client.get(address(model, "add")).status_code == 403
    assert client.post(address(model, "change", row.pk), {}).status_code == 403
    assert client.post(address(model, "delete", row.pk), {"post": "yes"}).status_code == 403
    assert model.objects.filter(pk=row.pk).exists()


def test_a_journal_shows_its_postings_with_their_amounts(client, staff, buyer):
    journal = Journal.objects.get()

    page = client.get(address(Journal, "change", journal.pk)).content.decode()

    assert "1,234.56 EUR" in page
    assert "-1,234.56 EUR" in page


def test_confirming_a_vat_number_is_logged_and_done_once(client, staff, buyer):
    profile = BillingProfile.objects.get()
    data = {"action": "confirm_numbers", "_selected_action": [profile.pk]}

    for _ in range(2):
        client.post(address(BillingProfile, "changelist"), data)

    profile.refresh_from_db()
    assert profile.vat_id_checked_at is not None
    entry = AuditEntry.objects.get(action="billing.vat_id_confirmed")
    assert (entry.actor, entry.organisation) == (staff, buyer)


def test_a_customer_finds_no_administration(client, buyer):
    client.force_login(UserFactory.create())

    assert client.get(address(Account, "changelist")).status_code in {302, 404}


def test_each_list_asks_the_same_few_questions(client, staff, buyer, django_assert_max_num_queries):
    for number in range(20):
        other = OrganisationFactory.create()
        fund_wallet(other, amount_minor=1_000)
        place_hold(
            organisation_id=other.pk,
            currency="EUR",
            amount_minor=10,
            purpose=f"bid:{number + 10}",
            now=T0,
        )

    for model in (Account, Journal, Hold):
        client.get(address(model, "changelist"))
        with django_assert_max_num_queries(14):
            client.get(address(model, "changelist"))


def test_every_model_of_billing_that_staff_need_is_registered():
    assert all(admin.site.is_registered(model) for model in MODELS)
