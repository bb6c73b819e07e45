"""The contact form: who may write, what is kept, who is told."""

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils.translation import override

from marketplace.accounts import clock
from marketplace.accounts.models import ContactMessage, Mail
from marketplace.accounts.operations.contact import forget_old_messages
from marketplace.accounts.operations.people import create_verified_user, enrol_totp
from tests.factories import T0
from tests.personas import make_personas

pytestmark = pytest.mark.django_db

FORM = {
    "topic": "question",
    "name": "Ada",
    "email": "ada@example.com",
    "message": "Do you have H200s?",
    "abuse_address": "",
    "evidence": "",
    "website": "",
}
REPORT = {
    "topic": "abuse",
    "abuse_address": "192.0.2.7",
    "evidence": "2026-11-30T10:00Z SSH attempts",
}


def page(language: str = "en") -> str:
    with override(language):
        return reverse("accounts:contact")


def test_anybody_may_write_and_gets_an_acknowledgement(client, settings):
    settings.CONTACT_EMAIL = "staff@example.com"

    answer = client.post(page("fr"), FORM, follow=True)

    assert answer.redirect_chain[-1][0] == "/fr/contact/envoye/"
    row = ContactMessage.objects.get()
    assert (row.topic, row.email, row.message, row.language) == (
        "question",
        "ada@example.com",
        "Do you have H200s?",
        "fr",
    )
    assert (row.user, row.state) == (None, "new")
    theirs, ours = Mail.objects.order_by("id")
    assert (theirs.to_address, ours.to_address) == ("ada@example.com", "staff@example.com")
    assert str(row.pk) in theirs.subject
    assert f"/admin/accounts/contactmessage/{row.pk}/" in ours.body_text


def test_the_acknowledgement_quotes_nothing_that_was_typed(client):
    client.post(page(), FORM | {"name": "Buy pills", "message": "https://pills.example"})

    mail = Mail.objects.get()

    assert "pills" not in (mail.subject + mail.body_text + mail.body_html).lower()


def test_without_an_address_of_the_staff_the_message_is_kept_all_the_same(client, settings):
    settings.CONTACT_EMAIL = ""

    client.post(page(), FORM)

    assert ContactMessage.objects.count() == 1
    assert Mail.objects.count() == 1


def test_a_report_of_abuse_names_an_address(client):
    refused = client.post(page(), FORM | REPORT | {"abuse_address": ""})
    assert list(refused.context["form"].errors) == ["abuse_address"]
    assert refused.context["form"]["evidence"].value() == REPORT["evidence"]
    assert ContactMessage.objects.count() == 0

    client.post(page(), FORM | REPORT)

    row = ContactMessage.objects.get()
    assert (row.abuse_address, row.evidence) == (REPORT["abuse_address"], REPORT["evidence"])


def test_who_is_signed_in_finds_name_and_address_filled_in(client):
    people = make_personas()
    client.force_login(people.buyer)

    form = client.get(page(), {"topic": "abuse", "about": "192.0.2.9"}).context["form"]
    client.post(page(), FORM)

    assert form["email"].value() == "buyer@example.com"
    assert (form["topic"].value(), form["abuse_address"].value()) == ("abuse", "192.0.2.9")
    assert ContactMessage.objects.get().user == people.buyer


def test_a_robot_is_thanked_and_forgotten(client):
    answer = client.post(page(), FORM | {"website": "https://spam.example"})

    assert answer["Location"] == reverse("accounts:contact_sent")
    assert ContactMessage.objects.count() == 0
    assert Mail.objects.count() == 0


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("topic", ""),
        ("topic", "love"),
        ("email", ""),
        ("email", "ada"),
        ("email", "ada@example.com\nBcc: eve@example.com"),
        ("email", "a" * 300 + "@example.com"),
        ("name", "x" * 121),
        ("message", ""),
        ("message", "   "),
        ("message", "x" * 5_001),
        ("abuse_address", "x" * 201),
        ("evidence", "x" * 5_001),
    ],
)
def test_what_cannot_be_is_refused_by_its_field_and_sends_nothing(client, field, value):
    answer = client.post(page(), FORM | {field: value})

    assert list(answer.context["form"].errors) == [field]
    assert ContactMessage.objects.count() == 0
    assert Mail.objects.count() == 0


def test_an_unknown_topic_in_the_address_is_none(client):
    form = client.get(page(), {"topic": "💩", "about": "x" * 900}).context["form"]

    assert form["topic"].value() == ""


def test_the_sixth_message_within_an_hour_waits(client, settings, own_cache):
    settings.RATE_LIMITS_ARE_ON = True

    answers = [client.post(page(), FORM) for _message in range(6)]

    assert [answer.status_code for answer in answers] == [302] * 5 + [429]
    assert ContactMessage.objects.count() == 5
    other = client.post(page(), FORM, REMOTE_ADDR="192.0.2.55")
    assert other.status_code == 302


def test_staff_note_what_they_answered_and_change_nothing_of_what_was_said(client):
    client.post(page(), FORM)
    staff = create_verified_user(
        email="s@example.com", password="x", name="S", language="en", now=T0, is_staff=True
    )
    enrol_totp(user=staff, secret="JBSWY3DPEHPK3PXP")
    client.force_login(staff)
    row = ContactMessage.objects.get()
    address = reverse("admin:accounts_contactmessage_change", args=[row.pk])

    client.post(address, {"state": "answered", "note": "Yes, two.", "message": "Forged"})

    row.refresh_from_db()
    assert (row.state, row.note, row.message) == ("answered", "Yes, two.", "Do you have H200s?")
    assert client.post(address.replace("change", "delete"), {"post": "yes"}).status_code == 403


def test_messages_are_forgotten_after_three_years(client):
    client.post(page(), FORM)

    assert forget_old_messages(now=clock.now() + timedelta(days=3 * 365 - 1)) == 0
    assert forget_old_messages(now=clock.now() + timedelta(days=3 * 365 + 1)) == 1
