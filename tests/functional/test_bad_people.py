"""What people type about themselves and others, and what staff may mistype."""

import pytest
from django.contrib import admin
from django.test import Client

from billing.models import BillingProfile
from marketplace.accounts.models import AuditEntry, Invitation, Mail, Organisation, User
from tests.functional.typed_forms import errors_of
from tests.functional.whole_market import WholeMarket, address_of, counted, make_whole_market

pytestmark = pytest.mark.django_db

PASSWORD = "four unrelated quiet words"


@pytest.fixture
def market() -> WholeMarket:
    return make_whole_market()


@pytest.fixture
def buyer(market) -> Client:
    return market.browser_of("buyer")


class TestSignUp:
    @pytest.mark.parametrize(
        ("field", "value"),
        [
            ("email", ""),
            ("email", "ada"),
            ("email", "ada@"),
            ("email", "@example.com"),
            ("email", "ada@example.com, eve@example.com"),
            ("email", "ada@example.com\nBcc: eve@example.com"),
            ("email", "a" * 300 + "@example.com"),
            ("email", "ada@exa mple.com"),
            ("email", "💩@💩"),
            ("accepts_terms", ""),
            ("password1", ""),
            ("password1", "short"),
            ("password1", "password12"),
            ("password1", "ada@example.com"),
        ],
    )
    def test_what_cannot_be_makes_no_account(self, client, field, value):
        form = {
            "email": "ada@example.com",
            "password1": PASSWORD,
            "accepts_terms": "on",
            field: value,
        }

        answer = client.post(address_of("account_signup"), form)

        assert (answer.status_code, list(errors_of(answer))) == (200, [field])
        assert (User.objects.count(), Mail.objects.count()) == (0, 0)

    def test_a_long_name_before_the_at_sign_names_the_organisation_shortly(self, client):
        address = "a" * 200 + "@example.com"

        answer = client.post(
            address_of("account_signup"),
            {"email": address, "password1": PASSWORD, "accepts_terms": "on"},
        )

        assert answer.status_code == 302
        assert Organisation.objects.get().name == "a" * 120

    def test_a_new_address_that_is_too_long_is_refused(self, market, buyer):
        form = {"email": "a" * 300 + "@example.com", "action_add": ""}

        answer = buyer.post(address_of("account_email"), form)

        assert "Ensure this value has at most 254 characters" in answer.content.decode()

    def test_an_address_in_use_is_not_told_to_strangers(self, market, client):
        rest = {"password1": PASSWORD, "accepts_terms": "on"}
        taken = {"email": "Zebra-Owner@Example.com"} | rest
        free = {"email": "new@example.com"} | rest

        answers = [Client().post(address_of("account_signup"), form) for form in (taken, free)]

        assert answers[0].status_code == answers[1].status_code == 302
        assert answers[0].url == answers[1].url
        assert User.objects.filter(email__iexact="zebra-owner@example.com").count() == 1

    def test_a_wrong_password_and_an_unknown_address_look_alike(self, market, client):
        pages = [
            Client().post(address_of("account_login"), {"login": login, "password": "wrong"})
            for login in ("zebra-owner@example.com", "nobody@example.com")
        ]

        assert errors_of(pages[0]) == errors_of(pages[1]) != {}


class TestProfile:
    @pytest.mark.parametrize(
        ("field", "value"),
        [
            ("name", "x" * 121),
            ("language", "de"),
            ("language", ""),
            ("time_zone", "Mars/Phobos"),
            ("time_zone", "../../etc/passwd"),
            ("time_zone", ""),
        ],
    )
    def test_what_cannot_be_is_refused_by_its_field(self, market, buyer, field, value):
        form = {"name": "Zebra", "language": "en", "time_zone": "UTC"} | {field: value}

        answer = buyer.post(address_of("accounts:profile"), form)

        assert list(errors_of(answer)) == [field]
        person = User.objects.get(pk=market.people["buyer"].pk)
        assert (person.name, person.language, person.time_zone) == ("Zebra", "en", "Europe/Paris")

    def test_a_zone_that_no_longer_exists_shows_utc(self, market):
        User.objects.update(time_zone="Nowhere/Gone")

        page = market.browser_of("buyer").get(address_of("marketplace:order", market.waiting.pk))

        assert page.status_code == 200
        assert "UTC" in page.content.decode()
        assert market.people["buyer"].zone.key == "Europe/Paris"
        assert User.objects.get(pk=market.people["buyer"].pk).zone.key == "UTC"

    def test_markup_in_a_name_is_text(self, market, buyer):
        form = {"name": "<b>Zebra</b>", "language": "en", "time_zone": "UTC"}

        page = buyer.post(address_of("accounts:profile"), form, follow=True).content.decode()

        assert "<b>Zebra</b>" not in page
        assert "&lt;b&gt;Zebra&lt;/b&gt;" in page


class TestMembers:
    @pytest.mark.parametrize(
        ("field", "value"),
        [
            ("email", ""),
            ("email", "ada"),
            ("email", "ada@example.com\nBcc: eve@example.com"),
            ("email", "a" * 300 + "@example.com"),
            ("email", "zebra-owner@example.com"),
            ("email", "ZEBRA-OWNER@example.com"),
            ("email", "invited@example.com"),
            ("role", "admin"),
            ("role", ""),
        ],
    )
    def test_what_cannot_be_invites_nobody(self, market, buyer, field, value):
        form = {"email": "new@example.com", "role": "viewer"} | {field: value}
        before, mails = counted(), Mail.objects.count()

        answer = buyer.post(address_of("accounts:members"), form)

        assert list(errors_of(answer)) == [field]
        assert (counted(), Mail.objects.count()) == (before, mails)

    @pytest.mark.parametrize("name", ["", "   ", "x" * 121])
    def test_a_company_without_a_name_is_none(self, market, buyer, name):
        before = counted()

        answer = buyer.post(address_of("accounts:organisations"), {"name": name})

        assert list(errors_of(answer)) == ["name"]
        assert counted() == before

    def test_a_name_with_markup_and_lines_stays_text_in_pages_and_mails(self, market, buyer):
        name = '<script>alert(1)</script>\r\nBcc: eve@example.com & "sons"'
        buyer.post(address_of("accounts:organisations"), {"name": name})
        buyer.post(address_of("accounts:members"), {"email": "new@example.com", "role": "viewer"})

        page = buyer.get(address_of("accounts:organisations")).content.decode()
        mail = Mail.objects.get(to_address="new@example.com")

        assert Organisation.objects.filter(name__contains="sons").count() == 1
        assert "<script>alert" not in page
        assert "<script>alert" not in mail.body_html
        assert '& "sons"' in mail.body_text
        assert "\n" not in mail.subject

    def test_the_last_owner_cannot_be_removed(self, market, buyer):
        own = market.people["buyer"].memberships.get(organisation=market.buyers)
        before = counted()

        page = buyer.post(address_of("accounts:member_remove", own.pk), follow=True)

        assert "The last owner cannot leave." in page.content.decode()
        assert counted() == before

    def test_an_invitation_is_nobody_elses(self, market):
        before = counted()

        for name in ("accounts:invitation_accept", "accounts:invitation_decline"):
            for person in ("stranger", "seller", "buyer", "admin"):
                answer = market.browser_of(person).post(address_of(name, market.invitation.pk))
                assert answer.status_code == 404

        assert counted() == before
        assert Invitation.objects.count() == 1


class TestBillingProfile:
    FORM = {
        "kind": "company",
        "legal_name": "Zebra Research",
        "country": "FR",
        "address": "1 rue",
        "postal_code": "75001",
        "city": "Paris",
        "vat_id": "",
    }

    @pytest.mark.parametrize(
        ("field", "value"),
        [
            ("kind", ""),
            ("kind", "ministry"),
            ("legal_name", ""),
            ("legal_name", "x" * 161),
            ("country", ""),
            ("country", "XX"),
            ("country", "fr"),
            ("country", "France"),
            ("address", "x" * 241),
            ("postal_code", "x" * 17),
            ("city", "x" * 81),
            ("vat_id", "DE123456789"),
            ("vat_id", "FR1"),
            ("vat_id", "'; DROP TABLE"),
            ("vat_id", "x" * 25),
        ],
    )
    def test_what_cannot_be_is_refused_by_its_field(self, market, buyer, field, value):
        before, acts = counted(), AuditEntry.objects.count()

        answer = buyer.post(address_of("billing:profile"), self.FORM | {field: value})

        assert (answer.status_code, list(errors_of(answer))) == (422, [field])
        assert (counted(), AuditEntry.objects.count()) == (before, acts)

    def test_a_person_has_no_vat_number(self, market, buyer):
        form = self.FORM | {"kind": "person", "vat_id": "FR12345678901"}

        answer = buyer.post(address_of("billing:profile"), form)

        assert list(errors_of(answer)) == ["vat_id"]
        assert BillingProfile.objects.get(organisation=market.buyers).vat_id == ""


class TestAdministration:
    """Staff mistype too."""

    QUERIES = (
        "q=%F0%9F%92%A9",
        "q=" + "x" * 3_000,
        "p=abc",
        "p=-1",
        "p=" + "9" * 30,
        "o=zzz",
        "o=99",
        "id__exact=abc",
        "zzz=1",
        "pk__in=" + "9" * 30,
    )

    def names(self) -> list[str]:
        return [
            f"admin:{model._meta.app_label}_{model._meta.model_name}"
            for model in admin.site._registry
        ]

    def test_lists_take_any_query(self, market):
        client = market.browser_of("admin")

        for name in self.names():
            for query in self.QUERIES:
                answer = client.get(f"{address_of(f'{name}_changelist')}?{query}")
                asked = (name, query)
                assert (asked, answer.status_code in {200, 302, 400}) == (asked, True)

    def test_rows_that_do_not_exist_lead_back(self, market):
        client = market.browser_of("admin")

        for name in self.names():
            for number in ("0", "9" * 20, "abc", "%F0%9F%92%A9"):
                url = address_of(f"{name}_changelist") + f"{number}/change/"
                assert (url, client.get(url).status_code in {302, 404}) == (url, True)

    def test_the_clock_takes_its_two_steps_only(self, market):
        client = market.browser_of("admin")

        for step in ("day", "slot-1", "x" * 300):
            assert client.post(address_of("admin:advance", step)).status_code == 404
        assert client.get(address_of("admin:advance", "slot")).status_code == 405
