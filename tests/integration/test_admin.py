"""The administration: who gets in, what it shows, what its buttons do."""

from datetime import timedelta

import pytest
from django.contrib import admin
from django.urls import reverse
from django.utils import translation

from marketplace.accounts import clock
from marketplace.accounts.models import AuditEntry, ClockOffset, User
from marketplace.accounts.operations.people import enrol_totp
from marketplace.models import Bid, Command, MarketState, Rental, Seller
from marketplace.operations.market_state import set_market_state
from marketplace.operations.matching import match_shard
from tests.exchange import SSH_KEY, buy, make_customer, make_offer
from tests.factories import GpuModelFactory, SellerFactory, UserFactory

pytestmark = pytest.mark.django_db

BACKEND = "allauth.account.auth_backends.AuthenticationBackend"
# Bytes without meaning, in the base 32 that one-time codes use.
SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"


@pytest.fixture
def staff() -> User:
    user = UserFactory.create(email="admin@example.com", is_staff=True, is_superuser=True)
    enrol_totp(user=user, secret=SECRET)
    return user


@pytest.fixture
def office(client, staff):
    client.force_login(staff, backend=BACKEND)
    with translation.override("en"):
        yield client


@pytest.fixture
def rental(staff) -> Rental:
    """A rental that the real exchange sold."""
    now = clock.now()
    hour = now.replace(minute=0, second=0, microsecond=0) + timedelta(hours=1)
    GpuModelFactory.create()
    set_market_state(state=MarketState.State.OPEN, reason="Test", staff_id=staff.pk, now=now)
    make_offer(windows=((hour, hour + timedelta(days=2)),), now=now)
    match_shard(now=now)
    buy(make_customer(), now=now, earliest_start=hour + timedelta(hours=1))
    match_shard(now=now)
    return Rental.objects.get()


class TestWhoGetsIn:
    def test_staff_with_a_second_factor(self, office):
        assert office.get(reverse("admin:index")).status_code == 200

    def test_not_staff_without_one(self, client):
        user = UserFactory.create(is_staff=True, is_superuser=True)
        client.force_login(user, backend=BACKEND)

        assert client.get("/en/admin/").status_code == 302

    def test_not_a_customer(self, client):
        client.force_login(UserFactory.create(), backend=BACKEND)

        assert client.get("/en/admin/").status_code in {302, 404}


class TestWhatItShows:
    @pytest.mark.parametrize("language", ["en", "fr"])
    def test_every_list_and_every_row_opens(self, office, rental, language):
        with translation.override(language):
            for model, model_admin in admin.site._registry.items():
                names = f"{model._meta.app_label}_{model._meta.model_name}"
                shown = office.get(reverse(f"admin:{names}_changelist"))
                assert shown.status_code == 200, names
                row = model._default_manager.first()
                if row is not None and model_admin.has_view_permission(shown.wsgi_request):
                    page = office.get(reverse(f"admin:{names}_change", args=[row.pk]))
                    assert page.status_code == 200, names

    def test_the_first_page_tells_money_queues_and_people(self, office, rental):
        page = office.get(reverse("admin:index")).content.decode()

        for sign in ("Ledger sums to zero in every currency", "Sellers to verify", "Waiting bids"):
            assert sign in page

    def test_no_public_key_of_a_customer_is_shown(self, office, rental):
        bid = Bid.objects.get()

        for name, pk in (("marketplace_bid", bid.pk), ("marketplace_rental", rental.pk)):
            page = office.get(reverse(f"admin:{name}_change", args=[pk])).content.decode()
            assert SSH_KEY.split()[1] not in page

    @pytest.mark.parametrize(
        "name",
        [
            "billing_journal",
            "billing_posting",
            "billing_account",
            "billing_hold",
            "marketplace_bid",
            "marketplace_fill",
            "accounts_auditentry",
        ],
    )
    def test_what_operations_write_cannot_be_added_here(self, office, name):
        if name in {f"{m._meta.app_label}_{m._meta.model_name}" for m in admin.site._registry}:
            assert office.get(reverse(f"admin:{name}_add")).status_code == 403


class TestSecrets:
    def test_no_page_shows_the_secret_of_a_second_factor(self):
        shown = {model._meta.label for model in admin.site._registry}

        assert "mfa.Authenticator" not in shown


class TestButtons:
    def test_verifying_a_seller_is_an_audited_act(self, office, staff):
        seller = SellerFactory.create(state=Seller.State.APPLIED, verified_at=None)

        office.post(
            reverse("admin:marketplace_seller_changelist"),
            {"action": "verify", "_selected_action": [seller.pk]},
        )

        seller.refresh_from_db()
        assert seller.state == Seller.State.VERIFIED
        assert AuditEntry.objects.filter(actor=staff, object_type="seller").count() == 1

    def test_a_refused_act_is_told_and_changes_nothing(self, office):
        seller = SellerFactory.create(state=Seller.State.APPLIED, verified_at=None)

        response = office.post(
            reverse("admin:marketplace_seller_changelist"),
            {"action": "suspend", "_selected_action": [seller.pk]},
            follow=True,
        )

        assert "Only a verified seller can be suspended" in response.content.decode()
        seller.refresh_from_db()
        assert seller.state == Seller.State.APPLIED

    def test_the_markets_state_changes_with_a_reason(self, office, staff):
        response = office.post(
            reverse("admin:marketplace_marketstate_set"), {"state": "open", "reason": "Launch day"}
        )

        row = MarketState.objects.get(gpu_model=None)
        assert response.status_code == 302
        assert (row.state, row.reason, row.changed_by) == ("open", "Launch day", staff)
        assert Command.objects.filter(kind="set_market_state").count() == 1

    def test_a_state_without_a_reason_is_refused(self, office):
        office.post(reverse("admin:marketplace_marketstate_set"), {"state": "open", "reason": " "})

        assert MarketState.objects.get(gpu_model=None).state == "prelaunch"

    @pytest.mark.parametrize(("step", "seconds"), [("slot", 900), ("hour", 3600)])
    def test_the_demos_clock_moves_forward(self, office, step, seconds):
        office.post(reverse("admin:advance", args=[step]))

        assert ClockOffset.objects.get().offset_seconds == seconds

    def test_a_real_markets_clock_does_not_move(self, office, settings):
        settings.IS_DEMO = False

        assert office.post(reverse("admin:advance", args=["hour"])).status_code == 404
        assert ClockOffset.objects.get().offset_seconds == 0
