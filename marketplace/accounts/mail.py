"""Mails as rows: every mail becomes one, which a task sends; and how our mails are written.

A mail is one template of pieces (see the tags ``mails``), written twice: as HTML and as text.
"""

import re
from collections.abc import Mapping, Sequence

from django.conf import settings
from django.core.mail import EmailMessage, EmailMultiAlternatives
from django.core.mail.backends.base import BaseEmailBackend
from django.http import HttpResponse
from django.template.loader import render_to_string
from django.urls import NoReverseMatch, reverse
from django.utils.translation import override

from marketplace.accounts.clock import now
from marketplace.accounts.models import Mail

# The two forms of a mail.
HTML = "html"
TEXT = "text"
LAYOUTS = {HTML: "emails/layout.html", TEXT: "emails/layout.txt"}
# Where a reader chooses which mails to get.
SETTINGS_PAGES = ("accounts:notifications", "accounts:profile")
# What mail programs turn into a button of their own.
UNSUBSCRIBE = "List-Unsubscribe"
ONE_CLICK = {"List-Unsubscribe-Post": "List-Unsubscribe=One-Click"}
# What a mail on a page may do: be styled, and open its links beside the page.
MAIL_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'self'; "
    "sandbox allow-popups allow-popups-to-escape-sandbox"
)
# Not ``\s``: the spaces that may not break must stay as they are.
BREAKABLE = re.compile(r"[ \t\n]+")
SPACES_AT_END = re.compile(r"[ \t]+$", re.MULTILINE)
BLANK_LINES = re.compile(r"\n{3,}")


class RowBackend(BaseEmailBackend):
    """Store mails inside the caller's transaction: no act, no mail; no mail lost."""

    def send_messages(self, email_messages: Sequence[EmailMessage]) -> int:
        moment = now()
        rows = [
            Mail(
                to_address=address,
                subject=str(message.subject),
                body_text=str(message.body),
                body_html=html_of(message),
                unsubscribe_url=message.extra_headers.get(UNSUBSCRIBE, "").strip("<>"),
                created_at=moment,
            )
            for message in email_messages
            for address in message.recipients()
        ]
        Mail.objects.bulk_create(rows)
        return len(rows)


def write_mail(*, to: str, language: str, template: str, context: Mapping[str, object]) -> None:
    """Write ``<template>_subject.txt`` and ``_message.txt`` of the mails' folder to one address."""
    with override(language):
        message = compose_mail(to=to, template=f"emails/{template}", context=context)
    message.send()


def compose_mail(
    *, to: str, template: str, context: Mapping[str, object]
) -> EmailMultiAlternatives:
    """Return a mail in the language in use, as text and as HTML; nothing is stored."""
    page = {"site_name": settings.SITE_NAME, "settings_url": settings_url(), **context}
    subject = one_line(render_to_string(f"{template}_subject.txt", page))
    text, html = (
        render_to_string(
            f"{template}_message.txt",
            {**page, "subject": subject, "form": form, "layout": LAYOUTS[form]},
        )
        for form in (TEXT, HTML)
    )
    message = EmailMultiAlternatives(subject=subject, body=_tidy(text), to=[to])
    message.attach_alternative(html, "text/html")
    return message


def unsubscribe_headers(url: str) -> dict[str, str]:
    """Return the headers of a mail that a mail program may switch off for its reader."""
    return {UNSUBSCRIBE: f"<{url}>", **ONE_CLICK} if url else {}


def settings_url() -> str:
    """Return the whole address of the page on which a reader chooses their mails."""
    for name in SETTINGS_PAGES:
        try:
            return f"{settings.PUBLIC_URL}{reverse(name)}"
        except NoReverseMatch:
            continue
    return ""


def shown_mail(html: str) -> HttpResponse:
    """Return a mail's HTML as a page of its own, which runs nothing and loads nothing."""
    headers = {"Content-Security-Policy": MAIL_POLICY, "X-Frame-Options": "SAMEORIGIN"}
    return HttpResponse(html, headers=headers)


def one_line(text: str) -> str:
    """Return a text of a template without its line breaks."""
    return BREAKABLE.sub(" ", text).strip(" ")


def _tidy(text: str) -> str:
    """Return a text form without what its template's own line breaks left."""
    return BLANK_LINES.sub("\n\n", SPACES_AT_END.sub("", text)).strip()


def html_of(message: EmailMessage) -> str:
    """Return the HTML form of a mail, empty when it has none."""
    for alternative in getattr(message, "alternatives", []):
        content, mimetype = alternative
        if mimetype == "text/html":
            return str(content)
    return ""
