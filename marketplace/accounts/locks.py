"""The only place of this app that locks rows."""

from datetime import datetime

from django.db.models import Q

from marketplace.accounts.models import Mail, Organisation, User


def lock_organisation(*, organisation_id: int) -> Organisation:
    """Lock an organisation, so that its members are changed one act at a time."""
    return Organisation.objects.select_for_update(no_key=True).get(pk=organisation_id)


def lock_user(*, user_id: int) -> User:
    """Lock a person, so that what they have at most a few of is counted one act at a time."""
    return User.objects.select_for_update(no_key=True).get(pk=user_id)


def lock_due_mails(*, now: datetime, max_attempts: int, limit: int) -> list[Mail]:
    """Lock unsent mails that nobody else is working on, oldest first."""
    due = Q(next_attempt_at__isnull=True) | Q(next_attempt_at__lte=now)
    return list(
        Mail.objects.select_for_update(skip_locked=True)
        .filter(due, sent_at__isnull=True, attempts__lt=max_attempts)
        .order_by("id")[:limit]
    )
