"""Mails about orders, rentals and sales: each in its reader's language and time zone, with a link.

They are rows of the caller's transaction: no act, no mail. However many there are, one statement
writes them.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from django.conf import settings
from django.core.mail import EmailMultiAlternatives, get_connection
from django.urls import reverse
from django.utils import timezone, translation

from marketplace.accounts.mail import compose_mail
from marketplace.accounts.models import Membership, User


@dataclass(frozen=True, slots=True, kw_only=True)
class Letter:
    """What one person is told. ``page`` and ``page_id`` name the page that the mail links to."""

    reader: User
    template: str
    page: str
    page_id: int
    context: Mapping[str, object]


def write_letters(letters: Iterable[Letter]) -> None:
    """Write all of these mails."""
    mails = [_compose(letter) for letter in letters]
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


def _compose(letter: Letter) -> EmailMultiAlternatives:
    reader = letter.reader
    with translation.override(reader.language), timezone.override(reader.zone):
        page_url = settings.PUBLIC_URL + reverse(letter.page, args=[letter.page_id])
        return compose_mail(
            to=reader.email,
            template=letter.template,
            context={**letter.context, "page_url": page_url},
        )
