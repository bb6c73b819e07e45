"""Mails: a row first, sent once, tried again a bounded number of times."""

from datetime import timedelta

import pytest
from django.core import mail as django_mail
from django.core.mail import EmailMultiAlternatives, send_mail
from django.core.mail.backends.base import BaseEmailBackend
from django.db import transaction
from django.urls import reverse

from marketplace.accounts.models import Mail
from marketplace.accounts.operations.mails import ATTEMPTS_MAX, send_due_mails
from tests.factories import T0

pytestmark = pytest.mark.django_db


class DeadTransport(BaseEmailBackend):
    def send_messages(self, email_messages):
        raise ConnectionRefusedError("nobody listens")


def queue(number: int = 1) -> list[Mail]:
    return [
        Mail.objects.create(
            to_address=f"p{index}@example.com",
            subject=f"Subject {index}",
            body_text="Text",
            body_html="<p>Text</p>",
            created_at=T0,
        )
        for index in range(number)
    ]


def test_a_mail_is_a_row_of_the_transaction_that_caused_it():
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        send_mail("Subject", "Text", None, ["a@example.com"])
        raise ZeroDivisionError

    assert Mail.objects.count() == 0


def test_each_recipient_has_a_row_with_text_and_html():
    message = EmailMultiAlternatives("Subject", "Text", to=["a@example.com", "b@example.com"])
    message.attach_alternative("<p>Text</p>", "text/html")

    message.send()

    rows = Mail.objects.order_by("id").values_list("to_address", "body_text", "body_html")
    assert list(rows) == [
        ("a@example.com", "Text", "<p>Text</p>"),
        ("b@example.com", "Text", "<p>Text</p>"),
    ]


def test_a_mail_is_sent_once():
    (row,) = queue()

    counts = [send_due_mails(now=T0), send_due_mails(now=T0 + timedelta(days=1))]

    assert counts == [1, 0]
    (sent,) = django_mail.outbox
    assert isinstance(sent, EmailMultiAlternatives)
    assert (sent.to, sent.subject, sent.body) == (["p0@example.com"], "Subject 0", "Text")
    assert [tuple(part) for part in sent.alternatives] == [("<p>Text</p>", "text/html")]
    row.refresh_from_db()
    assert (row.sent_at, row.attempts, row.error) == (T0, 1, "")


def test_a_refused_mail_waits_longer_each_time_and_then_for_staff(settings):
    settings.MAIL_TRANSPORT_BACKEND = f"{__name__}.DeadTransport"
    (row,) = queue()
    moment, waits = T0, []

    for _attempt in range(ATTEMPTS_MAX):
        assert send_due_mails(now=moment) == 0
        row.refresh_from_db()
        assert row.next_attempt_at is not None
        waits.append((row.next_attempt_at - moment).total_seconds() / 60)
        moment = row.next_attempt_at

    assert waits == [1, 4, 16, 64, 256]
    assert (row.sent_at, row.attempts) == (None, 5)
    assert row.error == "ConnectionRefusedError: nobody listens"
    send_due_mails(now=moment + timedelta(days=9))
    row.refresh_from_db()
    assert row.attempts == ATTEMPTS_MAX


def test_a_refused_mail_is_not_tried_before_its_time(settings):
    settings.MAIL_TRANSPORT_BACKEND = f"{__name__}.DeadTransport"
    (row,) = queue()
    send_due_mails(now=T0)

    send_due_mails(now=T0 + timedelta(seconds=59))

    row.refresh_from_db()
    assert row.attempts == 1


def test_a_mail_claimed_by_a_worker_that_died_is_sent_later():
    (row,) = queue()
    row.attempts, row.next_attempt_at = 1, T0 + timedelta(minutes=1)
    row.save()

    assert send_due_mails(now=T0) == 0
    assert send_due_mails(now=T0 + timedelta(minutes=1)) == 1


def test_the_demos_outbox_shows_the_newest_first_and_finds_an_address(client):
    queue(3)
    page = reverse("accounts:outbox")

    everything = client.get(page).context["mails"]
    found = client.get(page, {"to": "p1@"}).context["mails"]

    assert [mail.subject for mail in everything] == ["Subject 2", "Subject 1", "Subject 0"]
    assert [mail.subject for mail in found] == ["Subject 1"]


def test_there_is_no_outbox_outside_the_demo(client, settings):
    settings.IS_DEMO = False

    assert client.get(reverse("accounts:outbox")).status_code == 404
