"""Tell everybody who waited for it that the market has opened, once."""

from collections.abc import Collection
from datetime import datetime

from allauth.account.models import EmailAddress
from django.db import transaction
from django.db.models import Count

from marketplace.accounts.models import MailKind
from marketplace.locks import claim_untold_openings
from marketplace.models import Command, Intention, MarketState, OpeningNotice
from marketplace.operations.charging import in_batches
from marketplace.operations.letters import Letter, write_letters

# What one sweep takes on; the next one, seconds later, takes the rest.
SWEEP_NOTICES = 2_000
INSERTED_AT_ONCE = 5_000


def note_opening(*, now: datetime) -> None:
    """Leave a notice for every confirmed account when the market opens for the first time.

    Part of the transaction that opens it. A market that reopens after a halt tells nobody.
    """
    if _has_opened_before():
        return
    waiting = EmailAddress.objects.filter(verified=True, primary=True, user__is_active=True)
    OpeningNotice.objects.bulk_create(
        (
            OpeningNotice(user_id=user_id, created_at=now)
            for user_id in waiting.order_by("user_id").values_list("user_id", flat=True)
        ),
        batch_size=INSERTED_AT_ONCE,
        ignore_conflicts=True,
    )


def tell_of_opening(*, now: datetime) -> int:
    """Write the opening mails that are due; return how many notices were settled.

    Nothing is told while the market is not open after all. Safe to repeat and to run twice at once.
    """
    if not MarketState.objects.filter(gpu_model=None, state=MarketState.State.OPEN).exists():
        return 0
    due = OpeningNotice.objects.filter(told_at__isnull=True)
    return in_batches(
        ids=list(due.order_by("pk").values_list("pk", flat=True)[:SWEEP_NOTICES]),
        act=lambda ids: _tell(ids, now=now),
        failure="People could not be told of the opening.",
    )


@transaction.atomic
def _tell(ids: Collection[int], *, now: datetime) -> int:
    notices = claim_untold_openings(ids=ids)
    counts = _intentions_of({notice.user_id for notice in notices})
    write_letters(
        Letter(
            reader=notice.user,
            kind=MailKind.OPENING,
            template="market_opened",
            page="marketplace:intentions" if notice.user_id in counts else "catalog:gpu_list",
            context={"intentions": counts.get(notice.user_id, 0)},
        )
        for notice in notices
    )
    return OpeningNotice.objects.filter(pk__in=[notice.pk for notice in notices]).update(
        told_at=now
    )


def _has_opened_before() -> bool:
    opened = Command.objects.filter(
        kind=Command.Kind.SET_MARKET_STATE,
        payload__gpu_model=None,
        payload__state=MarketState.State.OPEN.value,
    )
    return opened.exists()


def _intentions_of(user_ids: Collection[int]) -> dict[int, int]:
    """Return how many intentions each person has saved; nothing for those who saved none."""
    saved = Intention.objects.filter(saved_by_id__in=user_ids).order_by()
    counts = saved.values("saved_by_id").annotate(count=Count("pk"))
    return dict(counts.values_list("saved_by_id", "count"))
