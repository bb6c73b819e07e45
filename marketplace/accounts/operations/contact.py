"""Take in what people write, acknowledge it and tell the staff."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.urls import reverse
from django.utils.translation import override

from marketplace.accounts.mail import write_mail
from marketplace.accounts.models import ContactMessage, Language

# As the page on privacy says.
KEPT = timedelta(days=3 * 365)


@dataclass(frozen=True, slots=True)
class Letter:
    """What somebody wrote."""

    topic: str
    name: str
    email: str
    message: str
    language: str
    abuse_address: str = ""
    evidence: str = ""


@transaction.atomic
def receive_message(*, letter: Letter, user_id: int | None, now: datetime) -> ContactMessage:
    """Keep a message, acknowledge it to its sender, and tell the staff when they have an address.

    The acknowledgement quotes nothing: anybody's address may have been typed.
    """
    row = ContactMessage.objects.create(
        topic=letter.topic,
        name=letter.name,
        email=letter.email,
        message=letter.message,
        language=letter.language,
        abuse_address=letter.abuse_address,
        evidence=letter.evidence,
        user_id=user_id,
        created_at=now,
    )
    write_mail(
        to=row.email,
        language=row.language,
        template="contact_received",
        context={"number": row.pk},
    )
    if settings.CONTACT_EMAIL:
        _tell_staff(row)
    return row


def forget_old_messages(*, now: datetime) -> int:
    """Remove messages that are too old to be kept; return how many."""
    removed, _by_model = ContactMessage.objects.filter(created_at__lt=now - KEPT).delete()
    return removed


def _tell_staff(row: ContactMessage) -> None:
    with override(Language.ENGLISH):
        page = reverse("admin:accounts_contactmessage_change", args=[row.pk])
        topic = str(ContactMessage.Topic(row.topic).label)
    write_mail(
        to=settings.CONTACT_EMAIL,
        language=Language.ENGLISH,
        template="contact_to_staff",
        context={
            "number": row.pk,
            "topic": topic,
            "address": settings.PUBLIC_URL.rstrip("/") + page,
        },
    )
