"""Mails as rows: every mail becomes one, which a task sends; and how our mails are written."""

from collections.abc import Mapping, Sequence

from django.conf import settings
from django.core.mail import EmailMessage, EmailMultiAlternatives
from django.core.mail.backends.base import BaseEmailBackend
from django.template.loader import render_to_string
from django.utils.translation import override

from marketplace.accounts.clock import now
from marketplace.accounts.models import Mail


class RowBackend(BaseEmailBackend):
    """Store mails inside the caller's transaction: no act, no mail; no mail lost."""

    def send_messages(self, email_messages: Sequence[EmailMessage]) -> int:
        moment = now()
        rows = [
            Mail(
                to_address=address,
                subject=str(message.subject),
                body_text=str(message.body),
                body_html=_html_of(message),
                created_at=moment,
            )
            for message in email_messages
            for address in message.recipients()
        ]
        Mail.objects.bulk_create(rows)
        return len(rows)


def write_mail(*, to: str, language: str, template: str, context: Mapping[str, object]) -> None:
    """Write ``emails/<template>_subject.txt`` and ``_message.txt`` in a language, to one address."""
    with override(language):
        message = compose_mail(to=to, template=template, context=context)
    message.send()


def compose_mail(
    *, to: str, template: str, context: Mapping[str, object]
) -> EmailMultiAlternatives:
    """Return the mail that `write_mail` writes, in the language in use; nothing is stored."""
    page = {"site_name": settings.SITE_NAME, **context}
    subject = " ".join(render_to_string(f"emails/{template}_subject.txt", page).split())
    text = render_to_string(f"emails/{template}_message.txt", page).strip()
    message = EmailMultiAlternatives(subject=subject, body=text, to=[to])
    message.attach_alternative(html_form(subject=subject, text=text), "text/html")
    return message


def html_form(*, subject: str, text: str) -> str:
    """Return a mail's text as a simple page."""
    page = {"subject": subject, "text": text, "site_name": settings.SITE_NAME}
    return render_to_string("emails/account.html", page)


def _html_of(message: EmailMessage) -> str:
    for alternative in getattr(message, "alternatives", []):
        content, mimetype = alternative
        if mimetype == "text/html":
            return str(content)
    return ""
