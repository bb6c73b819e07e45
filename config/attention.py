"""What an operator looks at first: money that must agree, queues that wait, people who wait."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Max, Min, Sum
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from billing.models import Posting, StripeEvent, TopUp
from marketplace.accounts.models import ContactMessage, Mail
from marketplace.models import Bid, Command, MarketState, Rental, Seller, Shard

# Past these a queue is called late: each is swept every few seconds.
LATE = timedelta(seconds=60)


@dataclass(frozen=True, slots=True)
class Sign:
    """One line of the operator's page: what, how much, whether it is well, where to act."""

    label: str | Promise
    value: str | int
    is_well: bool
    url_name: str = ""


def what_needs_attention(*, now: datetime) -> list[Sign]:
    """Return the signs, the gravest first."""
    return [*_money_signs(), *_queue_signs(now=now), *_people_signs()]


def _money_signs() -> list[Sign]:
    sums = list(
        Posting.objects.values("currency")
        .annotate(total=Sum("amount_minor"))
        .exclude(total=0)
        .values_list("currency", flat=True)
    )
    return [
        Sign(
            _("Ledger sums to zero in every currency"),
            ", ".join(sums) if sums else "0",
            is_well=not sums,
            url_name="admin:billing_journal_changelist",
        )
    ]


def _queue_signs(*, now: datetime) -> list[Sign]:
    waiting = Command.objects.filter(sequence__isnull=True).aggregate(oldest=Min("placed_at"))
    clock = Shard.objects.aggregate(latest=Max("last_clock_at"))["latest"]
    state = MarketState.objects.filter(gpu_model__isnull=True).first()
    events = StripeEvent.objects.filter(processed_at__isnull=True)
    mails = Mail.objects.filter(sent_at__isnull=True)
    late_mails = mails.filter(created_at__lt=now - LATE).count()
    due = Rental.objects.filter(
        state__in=[Rental.State.RUNNING, Rental.State.READY], ends_at__lt=now - LATE
    ).count()
    return [
        Sign(
            _("Market state"),
            state.get_state_display() if state else "–",
            is_well=state is not None and state.state == MarketState.State.OPEN,
            url_name="admin:marketplace_marketstate_changelist",
        ),
        Sign(
            _("Oldest command without a number, seconds"),
            _seconds(waiting["oldest"], now=now),
            is_well=waiting["oldest"] is None or now - waiting["oldest"] < LATE,
            url_name="admin:marketplace_command_changelist",
        ),
        Sign(
            _("Last event of the exchange, seconds ago"),
            _seconds(clock, now=now),
            is_well=clock is not None,
            url_name="admin:marketplace_shard_changelist",
        ),
        Sign(
            _("Payment events not applied"),
            events.count(),
            is_well=not events.filter(received_at__lt=now - LATE).exists(),
            url_name="admin:billing_stripeevent_changelist",
        ),
        Sign(
            _("Mails not sent for a minute"),
            late_mails,
            is_well=late_mails == 0,
            url_name="admin:accounts_mail_changelist",
        ),
        Sign(
            _("Rentals past their end"),
            due,
            is_well=due == 0,
            url_name="admin:marketplace_rental_changelist",
        ),
    ]


def _people_signs() -> list[Sign]:
    unread = ContactMessage.objects.filter(state=ContactMessage.State.NEW).count()
    applicants = Seller.objects.filter(state=Seller.State.APPLIED).count()
    failed = TopUp.objects.filter(state=TopUp.State.FAILED).count()
    resting = Bid.objects.filter(status=Bid.Status.RESTING).count()
    interrupted = Rental.objects.filter(state=Rental.State.INTERRUPTED).count()
    return [
        Sign(
            _("Sellers to verify"),
            applicants,
            is_well=applicants == 0,
            url_name="admin:marketplace_seller_changelist",
        ),
        Sign(
            _("Messages to answer"),
            unread,
            is_well=unread == 0,
            url_name="admin:accounts_contactmessage_changelist",
        ),
        Sign(
            _("Interrupted rentals"),
            interrupted,
            is_well=interrupted == 0,
            url_name="admin:marketplace_rental_changelist",
        ),
        Sign(_("Failed top-ups"), failed, is_well=True, url_name="admin:billing_topup_changelist"),
        Sign(_("Waiting bids"), resting, is_well=True, url_name="admin:marketplace_bid_changelist"),
    ]


def _seconds(moment: datetime | None, *, now: datetime) -> str | int:
    return "–" if moment is None else max(0, int((now - moment).total_seconds()))
