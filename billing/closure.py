"""Money that stands against closing an organisation: balances, earnings, debts, open top-ups."""

from collections.abc import Collection
from decimal import Decimal

from babel.numbers import format_currency
from django.urls import reverse
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from billing.models import Account, TopUp
from billing.money import MINOR_PER_UNIT
from billing.operations.topups import UNSETTLED
from marketplace.accounts.registry import Obstacle

EARNINGS = (Account.Kind.SELLER_PENDING, Account.Kind.SELLER_AVAILABLE)
KINDS = (Account.Kind.WALLET, *EARNINGS, Account.Kind.RECEIVABLE)


def obstacles(*, organisation_ids: Collection[int]) -> list[Obstacle]:
    """Return each balance that is not zero and each top-up that is under way."""
    accounts = Account.objects.filter(organisation_id__in=organisation_ids, kind__in=KINDS)
    open_ones = accounts.exclude(posted_minor=0, held_minor=0).select_related("organisation")
    top_ups = TopUp.objects.filter(organisation_id__in=organisation_ids, state__in=UNSETTLED)
    return [
        *(_balance(account) for account in open_ones.order_by("organisation_id", "code")),
        *(_top_up(row) for row in top_ups.select_related("organisation").order_by("pk")),
    ]


def _balance(account: Account) -> Obstacle:
    assert account.organisation is not None
    address = reverse("billing:wallets")
    if account.kind in EARNINGS:
        address = reverse("marketplace:seller_home")
    return Obstacle(
        organisation=account.organisation.name,
        reason=_reason(account),
        address=address,
        action=_("Seller space") if account.kind in EARNINGS else _("Wallets"),
    )


def _reason(account: Account) -> str:
    amount = _amount(account.posted_minor, account.currency)
    if account.kind in EARNINGS:
        return _("Earnings of %(amount)s are not paid out yet.") % {"amount": amount}
    if account.kind == Account.Kind.RECEIVABLE:
        return _("%(amount)s is still owed.") % {"amount": amount}
    if account.held_minor:
        held = _amount(account.held_minor, account.currency)
        words = _("The wallet holds %(amount)s, of which %(held)s is set aside.")
        return words % {"amount": amount, "held": held}
    return _("The wallet holds %(amount)s: ask for its refund first.") % {"amount": amount}


def _top_up(row: TopUp) -> Obstacle:
    amount = _amount(row.amount_minor, row.currency)
    return Obstacle(
        organisation=row.organisation.name,
        reason=_("A top-up of %(amount)s is under way.") % {"amount": amount},
        address=reverse("billing:top_up_status", args=[row.pk]),
        action=_("Your top-up"),
    )


def _amount(minor: int, currency: str) -> str:
    units = Decimal(minor) / MINOR_PER_UNIT
    return str(format_currency(units, currency, locale=get_language() or "en"))
