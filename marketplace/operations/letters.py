"""Mails about orders, rentals and sales: each in its reader's language and time zone, with a link.

They are rows of the caller's transaction: no act, no mail. However many there are, one statement
writes them, and one asks who has switched such mails off.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from django.conf import settings
from django.core.mail import EmailMultiAlternatives, get_connection
from django.urls import reverse
from django.utils import timezone, translation

from marketplace.accounts.mail import compose_mail, unsubscribe_headers
from marketplace.accounts.models import (
    ALWAYS_SENT,
    MailKind,
    Membership,
    NotificationSettings,
    User,
)
from marketplace.accounts.operations.unsubscribing import unsubscribe_url

# Mails that answer no act of their reader carry the mail program's own way out.
UNSUBSCRIBED_BY_BUTTON = frozenset({MailKind.OPENING})


@dataclass(frozen=True, slots=True, kw_only=True)
class Letter:
    """What one person is told. ``page`` and ``page_id`` name the page that the mail links to.

    A mail of a kind is left out for who has switched this kind off; one without is always sent.
    """

    reader: User
    template: str
    page: str
    page_id: int | str | None = None
    kind: MailKind | None = None
    context: Mapping[str, object]


def write_letters(letters: Iterable[Letter]) -> None:
    """Write those of these mails that their readers want."""
    written = list(letters)
    unwanted = _unwanted({letter.reader.pk for letter in written if letter.kind})
    mails = [
        _compose(letter) for letter in written if (letter.reader.pk, letter.kind) not in unwanted
    ]
    if mails:
        get_connection().send_messages(mails)


def traders_of(*, organisation_ids: Collection[int]) -> dict[int, list[User]]:
    """Return the people who act for each organisation on the market: owners and traders."""
    memberships = Membership.objects.filter(
        organisation_id__in=organisation_ids,
        role__in=[Membership.Role.OWNER, Membership.Role.TRADER],
        user__is_active=True,
    )
    people: dict[int, list[User]] = defaultdict(list)
    for membership in memberships.select_related("user").order_by("pk"):
        people[membership.organisation_id].append(membership.user)
    return people


def _unwanted(user_ids: Collection[int]) -> set[tuple[int, str | None]]:
    """Return (person, kind) of each mail that is switched off."""
    if not user_ids:
        return set()
    choices = NotificationSettings.objects.filter(user_id__in=user_ids)
    return {
        (user_id, kind)
        for user_id, kinds in choices.values_list("user_id", "switched_off")
        for kind in kinds
        if kind not in ALWAYS_SENT
    }


def _compose(letter: Letter) -> EmailMultiAlternatives:
    reader = letter.reader
    with translation.override(reader.language), timezone.override(reader.zone):
        args = [] if letter.page_id is None else [letter.page_id]
        page_url = settings.PUBLIC_URL + reverse(letter.page, args=args)
        mail = compose_mail(
            to=reader.email,
            template=f"emails/{letter.template}",
            context={**letter.context, "page_url": page_url},
        )
        if letter.kind in UNSUBSCRIBED_BY_BUTTON:
            mail.extra_headers = unsubscribe_headers(
                unsubscribe_url(user_id=reader.pk, kind=letter.kind)
            )
        return mail
