"""Every mail: its text says what its HTML says, in both languages, and why it came."""

import re
from html.parser import HTMLParser

import pytest
from django.core import mail as django_mail
from django.urls import reverse
from django.utils.translation import override

from marketplace.accounts.mail import compose_mail, html_of
from marketplace.accounts.models import Mail, MailKind, NotificationSettings
from marketplace.accounts.operations.mails import send_due_mails
from marketplace.accounts.operations.unsubscribing import unsubscribe_url
from marketplace.mail_samples import SAMPLES, sample_mail
from tests.factories import T0, UserFactory

pytestmark = pytest.mark.django_db

OF_ACCESS = {
    "account/email/email_confirmation": {"code": "KKWV-ZGQX"},
    "account/email/password_reset_code": {"code": "KKWV-ZGQX"},
    "account/email/account_already_exists": {"password_reset_url": "http://x.example/reset/"},
    "account/email/unknown_account": {"signup_url": "http://x.example/sign-up/"},
    "account/email/password_changed": {"timestamp": T0, "ip": "192.0.2.1", "user_agent": "<b>"},
    "mfa/email/totp_activated": {"timestamp": T0, "ip": "192.0.2.1", "user_agent": "Firefox"},
}
WHY = {"en": "You get this", "fr": "Vous recevez"}


class Words(HTMLParser):
    """What a reader of the HTML reads."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.is_hidden = False
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.is_hidden = tag in {"style", "title"}

    def handle_endtag(self, tag: str) -> None:
        self.is_hidden = False

    def handle_data(self, data: str) -> None:
        if not self.is_hidden:
            self.texts.append(data)


def words(text: str) -> set[str]:
    return {word.strip(".:–") for word in re.split(r"[\s\xa0\u202f]+", text)} - {""}


def all_mails() -> list[object]:
    return [
        *(pytest.param(name, None, id=name) for name in SAMPLES),
        *(
            pytest.param(name, facts, id=name.rpartition("/")[2])
            for name, facts in OF_ACCESS.items()
        ),
    ]


@pytest.mark.parametrize("language", ["en", "fr"])
@pytest.mark.parametrize(("name", "facts"), all_mails())
def test_says_the_same_as_text_and_as_html(name, facts, language):
    with override(language):
        mail = (
            sample_mail(name)
            if facts is None
            else compose_mail(to="a@example.com", template=name, context=facts)
        )
    html, text = html_of(mail), str(mail.body)
    read = words(" ".join(Words(html).texts))

    assert words(text) - read == set()
    assert read - words(text) - words(str(mail.subject)) == set()
    assert f'<html lang="{language}">' in html
    assert WHY[language] in text
    assert "/account/notifications/" in text or "/compte/notifications/" in text
    assert "<b>" not in html
    assert not re.search(r'(?:href|src)="(?!http)', html)
    assert not re.search(r"\n{3,}|[ \t]\n", text)
    assert "{" not in text


class TestTheOutbox:
    def test_frames_the_html_of_a_mail_that_may_do_nothing(self, client):
        row = Mail.objects.create(
            to_address="a@example.com",
            subject="Subject",
            body_text="Text",
            body_html="<p>Body</p>",
            created_at=T0,
        )
        url = reverse("accounts:outbox_mail", args=[row.pk])

        page = client.get(reverse("accounts:outbox")).content.decode()
        framed = client.get(url)

        assert f'src="{url}"' in page
        assert 'sandbox="allow-popups allow-popups-to-escape-sandbox"' in page
        assert framed.content == b"<p>Body</p>"
        assert framed["Content-Security-Policy"].startswith("default-src 'none'; style-src")
        assert "sandbox allow-popups" in framed["Content-Security-Policy"]
        assert framed["X-Frame-Options"] == "SAMEORIGIN"

    def test_exists_in_the_demo_only(self, client, settings):
        settings.IS_DEMO = False

        for url in (reverse("accounts:outbox_mail", args=[1]), reverse("marketplace:mail_samples")):
            assert client.get(url).status_code == 404

    def test_shows_samples_of_every_mail_and_knows_no_other(self, client):
        url = reverse("marketplace:mail_samples")

        page = client.get(url).content.decode()
        one = client.get(url, {"mail": "payout_sent"})
        other = client.get(url, {"mail": "../layout"})

        assert all(f'id="{name}"' in page for name in SAMPLES)
        assert "€1,155.96" in one.content.decode()
        assert other.status_code == 404


class TestUnsubscribing:
    def test_takes_one_click_of_the_mail_program_without_signing_in(self, client):
        user = UserFactory.create()
        url = unsubscribe_url(user_id=user.pk, kind=MailKind.OPENING)
        path = url.removeprefix("http://127.0.0.1:8000")

        asked = client.get(path)
        before = NotificationSettings.objects.count()
        done = client.post(path, {"List-Unsubscribe": "One-Click"})

        assert (asked.status_code, before, done.status_code) == (200, 0, 200)
        assert NotificationSettings.objects.get(user=user).switched_off == ["opening"]

    def test_knows_no_address_that_was_not_made_here(self, client):
        assert client.post(reverse("accounts:unsubscribe", args=["made-up"])).status_code == 404
        assert NotificationSettings.objects.count() == 0

    def test_stands_in_the_headers_of_the_mail_that_is_sent(self):
        Mail.objects.create(
            to_address="a@example.com",
            subject="Open",
            body_text="Text",
            unsubscribe_url="http://x.example/u/1/",
            created_at=T0,
        )

        send_due_mails(now=T0)

        (sent,) = django_mail.outbox
        assert sent.extra_headers == {
            "List-Unsubscribe": "<http://x.example/u/1/>",
            "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
        }
