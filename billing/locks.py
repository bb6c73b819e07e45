"""The only place of billing that locks rows.

Order, for everybody: top-up, then accounts by id, all in one call. ``FOR NO KEY UPDATE`` leaves the
foreign keys of new postings alone. A hold changes only under its wallet's lock.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from billing.models import Account, StripeEvent, TopUp


@dataclass(frozen=True, slots=True)
class LockedAccount:
    """What a locked account holds: nobody else changes it until the transaction ends."""

    id: int
    currency: str
    posted_minor: int
    held_minor: int

    @property
    def free_minor(self) -> int:
        return self.posted_minor - self.held_minor


def lock_accounts(*, ids: Collection[int]) -> dict[int, LockedAccount]:
    """Lock the accounts in the order of their ids; return them as they are now."""
    rows = Account.objects.filter(pk__in=set(ids)).order_by("pk").select_for_update(no_key=True)
    values = rows.values_list("pk", "currency", "posted_minor", "held_minor")
    return {value[0]: LockedAccount(*value) for value in values}


def lock_top_up(*, top_up_id: int) -> TopUp | None:
    return TopUp.objects.filter(pk=top_up_id).select_for_update(no_key=True).first()


def lock_due_events(*, now: datetime, limit: int) -> list[StripeEvent]:
    """Lock events that wait to be applied, passing over those that another worker has."""
    rows = StripeEvent.objects.filter(processed_at__isnull=True, due_at__lte=now)
    return list(rows.order_by("due_at", "pk").select_for_update(skip_locked=True)[:limit])
