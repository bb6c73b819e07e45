"""Send the mails that are rows."""

from datetime import datetime, timedelta

from django.conf import settings
from django.core.mail import EmailMultiAlternatives, get_connection
from django.core.mail.backends.base import BaseEmailBackend
from django.db import transaction

from marketplace.accounts.locks import lock_due_mails
from marketplace.accounts.mail import unsubscribe_headers
from marketplace.accounts.models import Mail

# After the fifth refusal a person of the staff has to look: the address or the transport is wrong.
ATTEMPTS_MAX = 5
# One claim; small, so that a worker that dies delays few mails.
BATCH = 20
# The first wait; each further one is four times as long, so the fifth attempt comes after 85 minutes.
FIRST_RETRY = timedelta(minutes=1)


def send_due_mails(*, now: datetime) -> int:
    """Send mails that are due, and return how many were sent.

    Rows are claimed in one short transaction, sent without any, and stamped one by one: two
    workers never send the same mail, and none is lost with a worker. A worker killed between
    sending and stamping sends that one mail again.
    """
    mails = _claim(now=now)
    if not mails:
        return 0
    transport = get_connection(settings.MAIL_TRANSPORT_BACKEND)
    return sum(_send(mail, transport=transport, now=now) for mail in mails)


@transaction.atomic
def _claim(*, now: datetime) -> list[Mail]:
    mails = lock_due_mails(now=now, max_attempts=ATTEMPTS_MAX, limit=BATCH)
    for mail in mails:
        mail.next_attempt_at = now + FIRST_RETRY * 4**mail.attempts
        mail.attempts += 1
    Mail.objects.bulk_update(mails, ["attempts", "next_attempt_at"])
    return mails


def _send(mail: Mail, *, transport: BaseEmailBackend, now: datetime) -> bool:
    message = EmailMultiAlternatives(
        subject=mail.subject,
        body=mail.body_text,
        to=[mail.to_address],
        connection=transport,
        headers=unsubscribe_headers(mail.unsubscribe_url),
    )
    if mail.body_html:
        message.attach_alternative(mail.body_html, "text/html")
    try:
        message.send()
    except OSError as error:  # SMTP refusals are OSErrors too
        mail.error = f"{type(error).__name__}: {error}"[:200]
        mail.save(update_fields=["error"])
        return False
    mail.sent_at, mail.error = now, ""
    mail.save(update_fields=["sent_at", "error"])
    return True
