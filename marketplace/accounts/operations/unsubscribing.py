"""Switch one kind of mail off from the mail itself, without signing in.

The address in the mail is signed: it names the person and the kind, and no other can be made.
"""

from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.core import signing
from django.db import transaction
from django.urls import reverse

from marketplace.accounts.models import ALWAYS_SENT, MailKind, User
from marketplace.accounts.operations.notifications import choose_mails, notification_settings

SALT = "unsubscribe"


@dataclass(frozen=True, slots=True)
class Unsubscription:
    """Which mails are to be sent to whom no longer."""

    user_id: int
    kind: MailKind


class NotAnUnsubscription(Exception):
    """The address was not made by us, or the person is gone."""


def unsubscribe_url(*, user_id: int, kind: MailKind) -> str:
    """Return the whole address that switches such mails off for a person."""
    token = signing.dumps([user_id, kind.value], salt=SALT)
    return f"{settings.PUBLIC_URL}{reverse('accounts:unsubscribe', args=[token])}"


def read_unsubscription(token: str) -> Unsubscription:
    """Return what an address asks for.

    Raises
    ------
    NotAnUnsubscription
        As its name says.
    """
    try:
        user_id, kind = signing.loads(token, salt=SALT)
    except (signing.BadSignature, ValueError) as error:
        raise NotAnUnsubscription from error
    if not User.objects.filter(pk=user_id).exists():
        raise NotAnUnsubscription
    return Unsubscription(user_id=user_id, kind=MailKind(kind))


@transaction.atomic
def unsubscribe(*, wish: Unsubscription, now: datetime) -> None:
    """Send a person no more mails of this kind. Safe to repeat; the other choices stay."""
    assert wish.kind not in ALWAYS_SENT
    chosen = notification_settings(user_id=wish.user_id)
    choose_mails(
        user_id=wish.user_id,
        switched_off={*chosen.switched_off, wish.kind.value},
        low_balance_hours=chosen.low_balance_hours,
        low_balance_minor=chosen.low_balance_minor,
        now=now,
    )
