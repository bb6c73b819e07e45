"""Which mails a person wants, and from when a balance is low for them."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from marketplace.accounts.models import ALWAYS_SENT, MailKind, NotificationSettings


@dataclass(frozen=True, slots=True)
class LowBalance:
    """A balance is low when it lasts for fewer hours, or is below the amount when one is given."""

    hours: int
    amount_minor: int


class MailIsNeeded(Exception):
    """The mail tells of money: it cannot be switched off."""


def wants(*, user_id: int, kind: str) -> bool:
    """Tell whether a person is to be sent this kind of mail; true for those that are always sent."""
    if MailKind(kind) in ALWAYS_SENT:
        return True
    return not NotificationSettings.objects.filter(
        user_id=user_id, switched_off__contains=[kind]
    ).exists()


def low_balance_of(*, user_id: int) -> LowBalance:
    """Return from when a person calls a balance low."""
    chosen = notification_settings(user_id=user_id)
    return LowBalance(hours=chosen.low_balance_hours, amount_minor=chosen.low_balance_minor)


def notification_settings(*, user_id: int) -> NotificationSettings:
    """Return a person's choice, or the default one, which is not stored."""
    stored = NotificationSettings.objects.filter(user_id=user_id).first()
    return stored or NotificationSettings(user_id=user_id)


@transaction.atomic
def choose_mails(
    *,
    user_id: int,
    switched_off: Collection[str],
    low_balance_hours: int,
    low_balance_minor: int,
    now: datetime,
) -> None:
    """Keep a person's choice.

    Raises
    ------
    MailIsNeeded
        A mail that is always sent is among the switched off ones.
    """
    kinds = {MailKind(kind) for kind in switched_off}
    if kinds & ALWAYS_SENT:
        raise MailIsNeeded
    NotificationSettings.objects.update_or_create(
        user_id=user_id,
        defaults={
            "switched_off": sorted(kind.value for kind in kinds),
            "low_balance_hours": low_balance_hours,
            "low_balance_minor": low_balance_minor,
            "updated_at": now,
        },
    )
