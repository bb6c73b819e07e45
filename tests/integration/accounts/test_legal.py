"""Legal texts: what is shown, what is accepted, and what waits for consent."""

import csv
import re
from datetime import date
from hashlib import sha256

import pytest
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import resolve, reverse
from django.utils.translation import override

from billing.models import BillingProfile
from billing.operations.topups import set_gate
from marketplace.accounts import clock
from marketplace.accounts.legal_files import FOLDER, legal_files
from marketplace.accounts.models import LegalKey, LegalText, TermsAcceptance, User
from marketplace.accounts.operations.legal import TermsChanged, accept_terms, load_legal_texts
from marketplace.accounts.operations.people import create_verified_user
from marketplace.accounts.queries import terms_to_accept
from tests.factories import T0, MembershipFactory, OrganisationFactory, UserFactory
from tests.personas import make_personas

pytestmark = pytest.mark.django_db

NEXT_YEAR = date(2027, 1, 1)
VERSION = date(2026, 11, 1)
with (FOLDER / "versions.csv").open(encoding="utf-8", newline="") as versions:
    WRITTEN = {
        (row["key"], row["language"]): (row["version"], row["sha256"])
        for row in csv.DictReader(versions)
    }


def page(key: str, *, language: str = "en", query: str = "") -> str:
    with override(language):
        return reverse("accounts:legal", kwargs={"key": key}) + query


def publish(key: str = "terms", *, version: date = NEXT_YEAR, **fields: object) -> LegalText:
    given = {"language": "en", "title": "New terms", "body": "Be kind.", "state": "published"}
    return LegalText.objects.create(key=key, version=version, **(given | fields))


class TestTexts:
    def test_has_an_address_in_the_readers_language(self, client):
        assert page("privacy") == "/en/legal/privacy/"
        assert page("privacy", language="fr") == "/fr/juridique/confidentialite/"
        html = client.get(page("privacy")).content.decode()
        assert re.search(r'hreflang="fr" href="[^"]*/fr/juridique/confidentialite/"', html)

    @pytest.mark.parametrize("language", ["en", "fr"])
    @pytest.mark.parametrize("key", LegalKey.values)
    def test_each_is_read_by_everybody_with_its_version(self, client, key, language):
        answer = client.get(page(key, language=language))

        text = answer.content.decode()
        assert answer.status_code == 200
        assert ("1 Nov 2026" if language == "en" else "1er nov. 2026") in text
        assert text.count("<h1") == 1
        assert "[[" not in text

    @pytest.mark.parametrize("file", legal_files(), ids=lambda file: f"{file.key}-{file.language}")
    def test_each_leads_to_pages_that_exist(self, file):
        for address in re.findall(r"\]\((/[^)]*)\)", file.body):
            with override(file.language):
                resolve(address)

    def test_both_languages_have_the_same_parts_and_version(self):
        parts = {
            (file.key, file.language): (file.version, file.body.count("\n## "))
            for file in legal_files()
        }

        for key in LegalKey.values:
            assert parts[key, "en"] == parts[key, "fr"]

    @pytest.mark.parametrize("file", legal_files(), ids=lambda file: f"{file.key}-{file.language}")
    def test_words_that_change_need_a_later_version(self, file):
        """A version that a site has loaded stays as it is there: changed words would never come.

        After a change set the later date in both languages, and write it with the new digest
        into the list.
        """
        digest = sha256(f"{file.title}\n{file.body}".encode()).hexdigest()

        assert WRITTEN[file.key, file.language] == (file.version.isoformat(), digest)

    def test_who_sells_comes_from_the_settings(self, client, settings):
        settings.MERCHANT_NAME, settings.MERCHANT_ADDRESS = "Aurora SAS", "1 rue du Test, Paris"
        settings.MERCHANT_SIREN, settings.MERCHANT_VAT_ID = "123456789", "FR12345678901"
        settings.CONTACT_EMAIL = "hello@example.com"

        text = client.get(page("notice")).content.decode()

        for fact in ("Aurora SAS", "1 rue du Test, Paris", "123456789", "FR12345678901"):
            assert fact in text
        assert "has not stated yet" not in text

    def test_what_the_settings_do_not_say_is_named(self, client, settings):
        settings.MERCHANT_NAME = settings.MERCHANT_SIREN = ""
        settings.MERCHANT_ADDRESS = settings.MERCHANT_VAT_ID = settings.CONTACT_EMAIL = "x"

        text = client.get(page("notice")).content.decode()

        assert "has not stated yet:" in text
        assert "name, company number" in text
        assert "(not stated yet)" in text

    def test_shares_are_those_of_the_settings(self, client, settings):
        settings.PLATFORM_FEE_BPS, settings.BREAK_FEE_BPS = 1250, 800

        assert "our fee of 12.5%" in client.get(page("sellers")).content.decode()
        assert (
            "notre commission de 12,5\u202f%"
            in client.get(page("sellers", language="fr")).content.decode()
        )
        assert "8% of the price of the other hours" in client.get(page("sale")).content.decode()

    def test_unknown_texts_are_not_found_and_unknown_versions_are_named(self, client):
        assert client.get(page("terms").replace("terms", "cookies")).status_code == 404
        for asked in ("2020-01-01", "yesterday", "%F0%9F%92%A9"):
            answer = client.get(page("terms", query=f"?version={asked}"))
            assert answer.status_code == 200
            assert "no published version of that date" in answer.content.decode()

    def test_an_earlier_version_stays_readable_and_a_draft_is_not(self, client):
        publish()
        publish(version=date(2027, 2, 1), state="draft", body="Secret plans.")

        now_text = client.get(page("terms")).content.decode()
        old_text = client.get(page("terms", query="?version=2026-11-01")).content.decode()
        draft = client.get(page("terms", query="?version=2027-02-01")).content.decode()

        assert "Be kind." in now_text
        assert "not in force any more" in old_text
        assert "Secret plans." not in draft

    def test_a_text_without_translation_is_shown_in_the_other_language(self, client):
        LegalText.objects.filter(key="sellers", language="fr").delete()

        answer = client.get(page("sellers", language="fr"))

        assert answer.status_code == 200
        assert '<article class="prose" lang="en">' in answer.content.decode()

    def test_markdown_with_a_script_is_cleaned(self, client):
        publish(body="<script>alert(1)</script> [x](javascript:alert(1))")

        text = client.get(page("terms")).content.decode()

        assert "<script>alert" not in text
        assert 'href="javascript' not in text

    def test_loading_again_changes_nothing(self):
        LegalText.objects.filter(key="terms").update(body="Mended by counsel.")

        load_legal_texts(now=T0)

        assert LegalText.objects.count() == 10
        assert LegalText.objects.filter(body="Mended by counsel.").count() == 2

    def test_a_page_asks_little_of_the_database(self, client, django_assert_max_num_queries):
        with django_assert_max_num_queries(4):
            client.get(page("terms"))


class TestConsent:
    def test_sign_up_keeps_who_accepted_which_version_and_when(self, client):
        given = {"email": "new@example.com", "password1": "four unrelated quiet words"}

        refused = client.post(reverse("account_signup"), given)
        assert list(refused.context["form"].errors) == ["accepts_terms"]
        assert User.objects.count() == 0
        client.post(reverse("account_signup"), given | {"accepts_terms": "on"})

        user = User.objects.get()
        rows = user.acceptances.order_by("key").values_list("key", "version", "language")
        assert list(rows) == [("sale", VERSION, "en"), ("terms", VERSION, "en")]
        assert terms_to_accept(user_id=user.pk) == {}

    def test_only_a_later_version_asks_again(self):
        user = UserFactory.create()
        publish("privacy")
        publish("terms", version=date(2026, 1, 1))
        assert terms_to_accept(user_id=user.pk) == {}
        publish("sale", state="draft")
        assert terms_to_accept(user_id=user.pk) == {}

        publish("sale", version=NEXT_YEAR, language="fr")

        assert terms_to_accept(user_id=user.pk) == {"sale": NEXT_YEAR}

    def test_who_never_accepted_is_asked_for_everything(self):
        user = create_verified_user(
            email="a@example.com", password=None, name="A", language="en", now=T0
        )

        assert terms_to_accept(user_id=user.pk) == {"sale": VERSION, "terms": VERSION}

    def test_consent_is_written_once(self):
        UserFactory.create()

        for change in (
            lambda rows: rows.update(version=NEXT_YEAR),
            lambda rows: rows.delete(),
        ):
            with pytest.raises(IntegrityError), transaction.atomic():
                change(TermsAcceptance.objects.all())

        assert TermsAcceptance.objects.count() == 2

    def test_nobody_accepts_what_they_were_not_shown(self):
        user = UserFactory.create(accepts_terms=False)
        shown = terms_to_accept(user_id=user.pk)
        publish("sale")

        with pytest.raises(TermsChanged):
            accept_terms(user_id=user.pk, shown=shown, language="en", now=T0)

        assert TermsAcceptance.objects.count() == 0


class TestAskingAgain:
    ORDER = "/en/orders/new/"

    @pytest.fixture
    def buyer(self) -> Client:
        people = make_personas()
        BillingProfile.objects.create(
            organisation=people.buyer_organisation, legal_name="B", country="FR", updated_at=T0
        )
        set_gate(is_open=True, now=clock.now())
        client = Client()
        client.force_login(people.buyer)
        return client

    def top_up(self, query: str = "") -> str:
        return reverse("billing:top_up", args=["EUR"]) + query

    def test_before_a_top_up_and_then_goes_on_where_they_were(self, buyer):
        publish("sale")
        going = self.top_up("?amount=50")

        asked = buyer.get(going)
        shown = buyer.get(asked["Location"])
        refused = buyer.post(asked["Location"], self.answers(shown, accepts_terms=""))
        accepted = buyer.post(asked["Location"], self.answers(shown))

        assert asked["Location"].startswith(reverse("accounts:accept_terms") + "?next=")
        assert list(refused.context["form"].errors) == ["accepts_terms"]
        assert accepted["Location"] == going
        assert buyer.get(going).status_code == 200
        row = TermsAcceptance.objects.get(version=NEXT_YEAR)
        assert (row.key, row.language) == ("sale", "en")

    def test_a_posted_top_up_waits_too(self, buyer):
        publish("terms")

        answer = buyer.post(self.top_up(), {"amount": "50"})

        assert answer["Location"].startswith(reverse("accounts:accept_terms"))

    def test_who_accepted_is_not_asked(self, buyer):
        assert buyer.get(self.top_up()).status_code == 200

    def test_what_changed_while_they_read_is_shown_again(self, buyer):
        publish("sale")
        address = reverse("accounts:accept_terms")
        answers = self.answers(buyer.get(address))
        LegalText.objects.filter(version=NEXT_YEAR).update(version=date(2027, 3, 1))

        answer = buyer.post(address, answers)

        assert "A newer version came into force" in answer.content.decode()
        assert not TermsAcceptance.objects.filter(version__gte=NEXT_YEAR).exists()

    @pytest.mark.parametrize("elsewhere", ["https://evil.example/", "//evil.example", "logout", ""])
    def test_leads_to_no_stranger(self, buyer, elsewhere):
        publish("sale")
        address = reverse("accounts:accept_terms")

        answer = buyer.post(address, self.answers(buyer.get(address)) | {"next": elsewhere})

        assert answer["Location"] == address

    def test_the_page_tells_what_was_accepted_when_nothing_is_asked(self, buyer):
        text = buyer.get(reverse("accounts:accept_terms")).content.decode()

        assert "You have accepted everything that is in force." in text
        assert "Accept and go on" not in text

    def answers(self, answer, **changes: str) -> dict[str, str]:
        form = answer.context["form"]
        hidden = {field.name: str(field.value()) for field in form.hidden_fields()}
        return {"next": answer.context["following"], "accepts_terms": "on"} | hidden | changes


def test_who_applies_as_a_seller_accepts_the_sellers_terms(client):
    user = UserFactory.create()
    organisation = OrganisationFactory.create(kind="company")
    MembershipFactory.create(user=user, organisation=organisation)
    client.force_login(user)

    page = client.get(reverse("marketplace:seller_home")).content.decode()
    client.post(reverse("marketplace:seller_apply"))

    assert reverse("accounts:legal", kwargs={"key": "sellers"}) in page
    assert user.acceptances.filter(key="sellers", version=VERSION).count() == 1
