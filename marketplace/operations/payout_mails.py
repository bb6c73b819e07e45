"""The mail about a payout. Payouts are not made by the site yet: whoever makes them tells of them."""

from dataclasses import dataclass
from datetime import datetime

from marketplace.accounts.models import MailKind, Membership
from marketplace.operations.letters import Letter, write_letters


@dataclass(frozen=True, slots=True, kw_only=True)
class PayoutFacts:
    """What a seller is told of a payout. Amounts are in minor units of its currency.

    ``net_minor`` is what the sales brought after the fee; the reserve is kept back from it.
    ``account_end`` holds the last four characters of the bank account, never more.
    """

    seller_id: int
    number: str
    currency: str
    sales_until: datetime
    net_minor: int
    reserved_minor: int
    account_end: str

    @property
    def amount_minor(self) -> int:
        return self.net_minor - self.reserved_minor


def mail_payout(*, payout: PayoutFacts) -> None:
    """Tell who is paid for this seller, owners and billing members, that the money is on its way."""
    members = Membership.objects.filter(
        organisation_id=payout.seller_id,
        role__in=[Membership.Role.OWNER, Membership.Role.BILLING],
        user__is_active=True,
    )
    write_letters(
        payout_letter(member, payout=payout)
        for member in members.select_related("user", "organisation").order_by("pk")
    )


def payout_letter(member: Membership, *, payout: PayoutFacts) -> Letter:
    """Return the mail to one of them."""
    return Letter(
        reader=member.user,
        kind=MailKind.PAYOUT,
        template="payout_sent",
        page="marketplace:sales",
        context={
            "organisation": member.organisation.name,
            "number": payout.number,
            "currency": payout.currency,
            "sales_until": payout.sales_until,
            "net_minor": payout.net_minor,
            "reserved_minor": payout.reserved_minor,
            "amount_minor": payout.amount_minor,
            "account_end": payout.account_end,
        },
    )
