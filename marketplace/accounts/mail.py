"""The mail backend of the site: every mail becomes a row, which a task sends."""

from collections.abc import Sequence

from django.core.mail import EmailMessage
from django.core.mail.backends.base import BaseEmailBackend

from marketplace.accounts.clock import now
from marketplace.accounts.models import Mail


class RowBackend(BaseEmailBackend):
    """Store mails inside the caller's transaction: no act, no mail; no mail lost."""

    def send_messages(self, email_messages: Sequence[EmailMessage]) -> int:
        moment = now()
        rows = [
            Mail(
                to_address=address,
                subject=message.subject,
                body_text=str(message.body),
                body_html=_html_of(message),
                created_at=moment,
            )
            for message in email_messages
            for address in message.recipients()
        ]
        Mail.objects.bulk_create(rows)
        return len(rows)


def _html_of(message: EmailMessage) -> str:
    for alternative in getattr(message, "alternatives", []):
        content, mimetype = alternative
        if mimetype == "text/html":
            return str(content)
    return ""
