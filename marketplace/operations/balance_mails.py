"""Tell people that a wallet runs low, once each time it does.

What runs and waits is set aside already, so no rental is cut short. What runs low is the free
balance: it is measured in hours of what the organisation spends now.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from billing.models import Account
from billing.money import hold_minor
from marketplace.accounts.models import MailKind, Membership, NotificationSettings, User
from marketplace.models import Bid, LowBalanceNotice, Rental
from marketplace.operations.charging import in_batches
from marketplace.operations.letters import Letter, write_letters

# An organisation and one of its currencies.
Purse = tuple[int, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Runway:
    """How long a free balance lasts at what is spent an hour now, tax included."""

    free_minor: int
    hourly_minor: int

    @property
    def hours(self) -> int:
        """Whole hours, rounded down: a warning rather comes early than late."""
        return self.free_minor // self.hourly_minor


def tell_of_low_balances(*, now: datetime) -> int:
    """Write the mails about wallets that went below their people's threshold; return how many.

    Only wallets are looked at that pay for a rental that runs or a bid that waits. Safe to repeat
    and to run twice at once.
    """
    return in_batches(
        ids=sorted(_spending_organisations()),
        act=lambda ids: _tell(ids, now=now),
        failure="People could not be told of a low balance.",
    )


def runways(*, organisation_ids: Collection[int]) -> dict[Purse, Runway]:
    """Return the runway of each wallet that pays for something now."""
    spent: dict[Purse, int] = defaultdict(int)
    for purse, hourly_minor in _spendings(organisation_ids):
        spent[purse] += hourly_minor
    wallets = Account.objects.filter(kind=Account.Kind.WALLET, organisation_id__in=organisation_ids)
    free = {(wallet.organisation_id, wallet.currency): wallet.free_minor for wallet in wallets}
    return {
        purse: Runway(free_minor=free.get(purse, 0), hourly_minor=hourly_minor)
        for purse, hourly_minor in spent.items()
        if hourly_minor > 0
    }


def _spending_organisations() -> set[int]:
    running = Rental.objects.filter(ended_at__isnull=True, access_opened_at__isnull=False)
    waiting = Bid.objects.filter(status__in=[Bid.Status.PENDING, Bid.Status.RESTING])
    return {
        *running.order_by().values_list("organisation_id", flat=True).distinct(),
        *waiting.order_by().values_list("organisation_id", flat=True).distinct(),
    }


def _spendings(organisation_ids: Collection[int]) -> Iterator[tuple[Purse, int]]:
    """Yield what each running rental costs an hour, and each waiting bid at its limit."""
    running = Rental.objects.filter(
        organisation_id__in=organisation_ids, ended_at__isnull=True, access_opened_at__isnull=False
    )
    for rental in running.select_related("fill__bid"):
        fill = rental.fill
        yield (
            (rental.organisation_id, fill.customer_currency),
            hold_minor(
                price_micro=fill.customer_price_micro,
                gpus=fill.gpus,
                hours=1,
                vat_bps=fill.bid.vat_bps,
            ),
        )
    waiting = Bid.objects.filter(
        organisation_id__in=organisation_ids, status__in=[Bid.Status.PENDING, Bid.Status.RESTING]
    )
    for bid in waiting:
        yield (
            (bid.organisation_id, bid.currency),
            hold_minor(
                price_micro=bid.limit_price_micro, gpus=bid.gpus, hours=1, vat_bps=bid.vat_bps
            ),
        )


@transaction.atomic
def _tell(organisation_ids: Collection[int], *, now: datetime) -> int:
    payers = _payers_of(organisation_ids)
    choices = _thresholds({payer.user for found in payers.values() for payer in found})
    letters = []
    for (organisation_id, currency), runway in runways(organisation_ids=organisation_ids).items():
        for payer in payers[organisation_id]:
            notice = {"organisation_id": organisation_id, "currency": currency, "user": payer.user}
            if not _is_low(runway, choice=choices[payer.user]):
                LowBalanceNotice.objects.filter(**notice).delete()
                continue
            _row, is_new = LowBalanceNotice.objects.get_or_create(
                **notice, defaults={"told_at": now}
            )
            if is_new:
                letters.append(_letter(payer, currency=currency, runway=runway))
    write_letters(letters)
    return len(letters)


def _payers_of(organisation_ids: Collection[int]) -> Mapping[int, list[Membership]]:
    """Return the people who pay for each organisation: its owners and billing members."""
    memberships = Membership.objects.filter(
        organisation_id__in=organisation_ids,
        role__in=[Membership.Role.OWNER, Membership.Role.BILLING],
        user__is_active=True,
    )
    found: dict[int, list[Membership]] = defaultdict(list)
    for membership in memberships.select_related("user", "organisation").order_by("pk"):
        found[membership.organisation_id].append(membership)
    return found


def _thresholds(users: Collection[User]) -> dict[User, NotificationSettings]:
    stored = NotificationSettings.objects.in_bulk([user.pk for user in users], field_name="user_id")
    return {user: stored.get(user.pk) or NotificationSettings(user=user) for user in users}


def _is_low(runway: Runway, *, choice: NotificationSettings) -> bool:
    return runway.hours < choice.low_balance_hours or runway.free_minor < choice.low_balance_minor


def _letter(payer: Membership, *, currency: str, runway: Runway) -> Letter:
    return Letter(
        reader=payer.user,
        kind=MailKind.LOW_BALANCE,
        template="low_balance",
        page="billing:top_up",
        page_id=currency,
        context={
            "organisation": payer.organisation.name,
            "currency": currency,
            "free_minor": runway.free_minor,
            "hourly_minor": runway.hourly_minor,
            "hours": runway.hours,
        },
    )
