"""A person takes their data along, and closes their account: money first."""

import json
from io import BytesIO
from typing import Any
from zipfile import ZipFile

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.test import Client
from django.urls import reverse

from billing.models import Account, Posting
from marketplace.accounts.clock import now
from marketplace.accounts.models import (
    ApiToken,
    AuditEntry,
    ContactMessage,
    Mail,
    Membership,
    Organisation,
    SshKey,
    User,
)
from marketplace.accounts.operations.closing import CannotClose, close_account
from marketplace.accounts.operations.notifications import choose_mails
from marketplace.accounts.operations.people import create_verified_user, enrol_totp
from marketplace.models import Bid, Offer, Rental
from tests.factories import MembershipFactory, fund_wallet, post_correction
from tests.functional.whole_market import (
    BACKEND,
    WholeMarket,
    counted,
    make_whole_market,
)

pytestmark = pytest.mark.django_db

PASSWORD = "four unrelated quiet words"
SECRET = "JBSWY3DPEHPK3PXP"


@pytest.fixture
def market() -> WholeMarket:
    return make_whole_market()


def proven(user: User) -> Client:
    """Return a browser whose person has just proved who they are."""
    user.set_password(PASSWORD)
    user.save()
    client = Client()
    client.force_login(user, backend=BACKEND)
    client.post(reverse("account_reauthenticate"), {"password": PASSWORD})
    return client


def files_of(answer) -> dict[str, Any]:
    with ZipFile(BytesIO(answer.content)) as archive:
        return {
            name: json.loads(archive.read(name))
            for name in archive.namelist()
            if name.endswith(".json")
        }


class TestExport:
    def test_holds_what_the_person_may_see_and_nothing_of_others(self, market):
        answer = proven(market.people["buyer"]).post(reverse("accounts:export"))

        files = files_of(answer)
        assert answer["Content-Type"] == "application/zip"
        assert files["profile.json"][0]["email"] == "zebra-owner@example.com"
        assert [row["name"] for row in files["api_tokens.json"]] == ["zebra-job"]
        assert {row["id"] for row in files["orders.json"]} == {market.bought.pk, market.waiting.pk}
        assert [row["id"] for row in files["rentals.json"]] == [market.rental.pk]
        assert len(files["statement_lines.json"]) == files["counts.json"]["statement_lines"] > 0
        assert files["billing_profiles.json"][0]["legal_name"] == "Zebra Research"
        assert "quagga" not in json.dumps(files).lower()
        assert "stranger" not in json.dumps(files).lower()

    def test_holds_no_secret(self, market):
        user = market.people["buyer"]
        enrol_totp(user=user, secret=SECRET)
        client = proven(user)

        text = json.dumps(files_of(client.post(reverse("accounts:export"))))

        for secret in (market.token.digest, user.password, SECRET, client.session.session_key):
            assert secret
            assert secret not in text

    @pytest.mark.parametrize(("person", "sees_money"), [("billing", True), ("viewer", False)])
    def test_shows_the_money_to_who_may_see_it(self, market, person, sees_money):
        files = files_of(proven(market.people[person]).post(reverse("accounts:export")))

        assert bool(files["statement_lines.json"]) == sees_money
        assert bool(files["orders.json"]) is True

    def test_asks_first_who_it_is(self, market):
        user = market.people["buyer"]
        user.set_password(PASSWORD)
        user.save()
        client = Client()
        client.force_login(user, backend=BACKEND)

        asked = client.post(reverse("accounts:export"))
        confirm = client.get(asked["Location"])
        back = client.post(confirm["Location"], {"password": PASSWORD})

        assert asked["Location"] == reverse("accounts:export") + "?confirm=1"
        assert confirm["Location"].startswith(reverse("account_reauthenticate"))
        assert "Now press the button" in client.get(back["Location"]).content.decode()
        assert client.post(reverse("accounts:export"))["Content-Type"] == "application/zip"
        assert AuditEntry.objects.filter(action="data.exported", actor=user).count() == 1

    def test_is_given_five_times_a_day(self, market, settings, own_cache):
        settings.RATE_LIMITS_ARE_ON = True
        client = proven(market.people["stranger"])

        answers = [client.post(reverse("accounts:export")) for _copy in range(6)]

        assert [answer.status_code for answer in answers] == [200] * 5 + [429]


class TestObstacles:
    """Each refusal says why and where, and changes nothing."""

    def reasons(self, user: User) -> set[str]:
        before, people = counted(), list(User.objects.order_by("pk").values_list())
        mails, acts = Mail.objects.count(), AuditEntry.objects.count()

        with pytest.raises(CannotClose) as refused:
            close_account(user_id=user.pk, now=now())

        assert counted() == before
        assert list(User.objects.order_by("pk").values_list()) == people
        assert (Mail.objects.count(), AuditEntry.objects.count()) == (mails, acts)
        return {obstacle.reason for obstacle in refused.value.obstacles}

    def test_a_buyer_with_money_orders_rentals_and_colleagues(self, market):
        reasons = self.reasons(market.people["buyer"])

        assert {
            "1 order is open.",
            "1 rental is not over.",
            "It has other members, and you are its only owner: make one of them an owner.",
        } <= reasons
        assert any("The wallet holds €7,654.32, of which €" in reason for reason in reasons)

    def test_a_balance_alone(self, market):
        stranger = market.people["stranger"]
        fund_wallet(stranger.personal_organisation, amount_minor=5, currency="USD")

        reasons = self.reasons(stranger)

        assert reasons == {"The wallet holds $0.05: ask for its refund first."}

    def test_a_top_up_under_way(self, market):
        stranger = market.people["stranger"]
        row = market.top_up
        row.organisation, row.state = stranger.personal_organisation, "redirected"
        row.save()

        assert self.reasons(stranger) == {"A top-up of €1,234.56 is under way."}

    def test_a_seller_with_offers_and_sales(self, market):
        assert self.reasons(market.people["seller"]) == {
            "1 server is on offer.",
            "1 sale is to be delivered.",
        }

    def test_earnings_that_wait(self, market):
        seller = market.people["seller"]
        Offer.objects.update(status=Offer.Status.WITHDRAWN)
        Rental.objects.update(state=Rental.State.ENDED, end_reason="completed", ended_at=now())
        account = Account.objects.create(
            code=f"seller_pending:EUR:{market.sellers.pk}",
            kind=Account.Kind.SELLER_PENDING,
            currency="EUR",
            organisation=market.sellers,
            keeps_balance=True,
        )
        wallet = Account.objects.get(organisation=market.buyers, kind=Account.Kind.WALLET)
        post_correction((account, 900), (wallet, -900))

        assert self.reasons(seller) == {"Earnings of €9.00 are not paid out yet."}

    def test_a_member_of_the_staff(self, market):
        assert self.reasons(market.people["admin"]) == {
            "You are a member of the staff: an administrator has to end that first."
        }

    def test_the_page_names_them_and_takes_no_form(self, market):
        client = proven(market.people["buyer"])

        read = client.get(reverse("accounts:close")).content.decode()
        sent = client.post(reverse("accounts:close"), {"address": "zebra-owner@example.com"})

        for text in (read, sent.content.decode()):
            assert "1 order is open." in text
            assert reverse("marketplace:orders") in text
            assert "Close the account for good" not in text
        assert User.objects.get(pk=market.people["buyer"].pk).is_active


class TestClosing:
    @pytest.fixture
    def leaver(self) -> User:
        user = create_verified_user(
            email="lea@example.com",
            password=PASSWORD,
            name="Lea Quits",
            language="fr",
            now=now(),
            accepts_terms=True,
        )
        enrol_totp(user=user, secret=SECRET)
        choose_mails(
            user_id=user.pk,
            switched_off=[],
            low_balance_hours=3,
            low_balance_minor=0,
            now=now(),
        )
        ContactMessage.objects.create(
            topic="other",
            name="Lea Quits",
            email="lea@example.com",
            language="fr",
            message="Hello",
            user=user,
            created_at=now(),
        )
        return user

    def browser_of(self, user: User) -> Client:
        client = Client()
        client.force_login(user, backend=BACKEND)
        client.post(reverse("account_reauthenticate"), {"password": PASSWORD})
        return client

    @pytest.mark.parametrize("typed", ["", "lea", "other@example.com"])
    def test_wants_the_address_typed(self, leaver, typed):
        answer = self.browser_of(leaver).post(reverse("accounts:close"), {"address": typed})

        assert list(answer.context["form"].errors) == ["address"]
        assert User.objects.get(pk=leaver.pk).email == "lea@example.com"

    def test_asks_who_it_is_and_then_goes_on(self, leaver):
        client = Client()
        client.force_login(leaver, backend=BACKEND)

        asked = client.post(reverse("accounts:close"), {"address": leaver.email})
        assert User.objects.get(pk=leaver.pk).is_active
        client.post(asked["Location"], {"password": PASSWORD})

        assert not User.objects.get(pk=leaver.pk).is_active

    def test_removes_what_names_the_person_and_keeps_the_books(self, leaver):
        organisation = leaver.personal_organisation
        other = MembershipFactory.create(user=leaver, role="trader").organisation
        MembershipFactory.create(organisation=other, role="owner")
        postings = Posting.objects.count()
        elsewhere = self.browser_of(leaver)
        client = self.browser_of(leaver)

        answer = client.post(reverse("accounts:close"), {"address": "LEA@example.com"}, follow=True)

        assert "Your account is closed." in answer.content.decode()
        user = User.objects.get(pk=leaver.pk)
        assert (user.email, user.name) == (f"closed-{user.pk}@closed.invalid", "")
        assert (user.is_active, user.has_usable_password()) == (False, False)
        for model in (EmailAddress, Authenticator, UserSession, ApiToken, SshKey, Membership):
            assert not model.objects.filter(user=user).exists(), model
        organisation.refresh_from_db()
        assert organisation.is_frozen
        assert organisation.name == f"Closed account {user.pk}"
        assert not Organisation.objects.get(pk=other.pk).is_frozen
        assert ContactMessage.objects.get().email == user.email
        assert user.acceptances.count() == 2
        assert Posting.objects.count() == postings
        assert AuditEntry.objects.filter(action="account.closed", actor=user).count() == 1
        assert elsewhere.get(reverse("accounts:profile")).status_code == 302

    def test_sends_a_last_mail_and_removes_the_earlier_ones(self, leaver):
        Mail.objects.create(
            to_address="Lea@example.com", subject="Old", body_text="x", created_at=now()
        )

        close_account(user_id=leaver.pk, now=now())

        mail = Mail.objects.get()
        assert (mail.to_address, mail.subject) == ("lea@example.com", "Votre compte est fermé")

    def test_leaves_the_address_free_for_a_new_account(self, leaver, client):
        close_account(user_id=leaver.pk, now=now())

        refused = client.post(
            reverse("account_login"), {"login": "lea@example.com", "password": PASSWORD}
        )
        client.post(
            reverse("account_signup"),
            {"email": "lea@example.com", "password1": PASSWORD, "accepts_terms": "on"},
        )

        assert "_auth_user_id" not in client.session
        assert refused.status_code == 200
        assert User.objects.filter(email="lea@example.com").count() == 1

    def test_a_shared_organisation_goes_on_without_them(self, market, leaver):
        MembershipFactory.create(organisation=market.buyers, user=leaver, role="owner")
        waiting = Bid.objects.get(pk=market.waiting.pk).status

        close_account(user_id=leaver.pk, now=now())

        assert Bid.objects.get(pk=market.waiting.pk).status == waiting
        assert not Organisation.objects.get(pk=market.buyers.pk).is_frozen
