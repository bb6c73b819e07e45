"""Mails that come with time: the last hour of a rental, and a wallet that runs low."""

from datetime import timedelta

import pytest

from marketplace.accounts.models import Mail, MailKind, Membership
from marketplace.accounts.operations.notifications import choose_mails
from marketplace.models import Bid, LowBalanceNotice, Rental
from marketplace.operations.balance_mails import tell_of_low_balances
from marketplace.operations.payout_mails import PayoutFacts, mail_payout
from marketplace.operations.rental_mails import tell_of_endings
from tests.builders import sell
from tests.exchange import HOUR, make_customer, match, member_of, open_market, place
from tests.factories import T0, MembershipFactory, fund_wallet
from tests.rental_steps import P

pytestmark = pytest.mark.django_db


def opened(rental: Rental) -> Rental:
    """Return the rental as it is once its machine is open."""
    rental.state, rental.access_opened_at = Rental.State.READY, rental.starts_at
    rental.save(update_fields=["state", "access_opened_at"])
    return rental


class TestTheLastHour:
    def test_is_told_once_an_hour_before_the_end(self):
        customer = make_customer(email="c@example.com", time_zone="Europe/Paris")
        rental = opened(sell(customer=customer, gpus=2, hours=3))
        end = rental.ends_at

        told = [
            tell_of_endings(now=now)
            for now in (end - HOUR - timedelta(seconds=1), end - HOUR, end - HOUR / 2)
        ]

        (mail,) = Mail.objects.all()
        assert told == [0, 1, 0]
        # From 11:00 UTC, three hours, and an hour later in Paris.
        assert mail.subject == f"Rental {rental.pk} ends on 2 Nov 2026, 15:00 (Europe/Paris)"
        assert (
            f"The last hour of your rental {rental.pk} has begun: 2 × RTX 4090." in mail.body_text
        )
        assert f"http://127.0.0.1:8000/en/rentals/{rental.pk}/" in mail.body_text
        rental.refresh_from_db()
        assert rental.ending_told_at == end - HOUR

    def test_of_a_rental_of_one_hour_is_not_told(self):
        rental = opened(sell(hours=1))

        assert tell_of_endings(now=rental.starts_at) == 0

    def test_of_a_rental_that_is_over_or_never_opened_is_not_told(self):
        over, unopened = opened(sell()), sell()
        Rental.objects.filter(pk=over.pk).update(ended_at=P, end_reason="completed")

        assert tell_of_endings(now=unopened.ends_at - HOUR / 2) == 0
        assert tell_of_endings(now=over.ends_at) == 0
        assert Mail.objects.count() == 0

    def test_is_left_out_for_who_switched_it_off(self):
        rental = opened(sell())
        choose_mails(
            user_id=rental.fill.bid.placed_by_id,
            switched_off=[MailKind.RENTAL_ENDING],
            low_balance_hours=6,
            low_balance_minor=0,
            now=T0,
        )

        tell_of_endings(now=rental.ends_at - HOUR)

        assert Mail.objects.count() == 0
        rental.refresh_from_db()
        assert rental.ending_told_at is not None


class TestALowBalance:
    """One hour of one GPU at 0.50 costs 0.60 with French VAT."""

    def test_is_told_once_with_what_is_left_and_for_how_long(self):
        customer = make_customer(amount_minor=0, email="c@example.com")
        opened(sell(customer=customer))
        fund_wallet(customer, amount_minor=3_59)

        told = [tell_of_low_balances(now=P), tell_of_low_balances(now=P + HOUR)]

        (mail,) = Mail.objects.all()
        assert told == [1, 0]
        assert mail.to_address == "c@example.com"
        assert mail.subject == "Low balance: €3.59 left in your EUR wallet"
        assert (
            "The free balance of your EUR wallet, €3.59, pays for 5 more hours of what runs or "
            "waits now, at €0.60 an hour with tax." in mail.body_text
        )
        assert "http://127.0.0.1:8000/en/top-up/EUR/" in mail.body_text

    def test_below_one_hour_is_told_as_such(self):
        customer = make_customer(amount_minor=0)
        opened(sell(customer=customer))
        fund_wallet(customer, amount_minor=59)

        tell_of_low_balances(now=P)

        assert "pays for less than one more hour of what runs" in Mail.objects.get().body_text

    def test_that_lasts_six_hours_is_not_told(self):
        customer = make_customer(amount_minor=0)
        opened(sell(customer=customer))
        fund_wallet(customer, amount_minor=3_60)

        assert tell_of_low_balances(now=P) == 0
        assert LowBalanceNotice.objects.count() == 0

    def test_is_told_again_after_it_was_topped_up(self):
        customer = make_customer(amount_minor=0)
        opened(sell(customer=customer))
        first = tell_of_low_balances(now=P)
        fund_wallet(customer, amount_minor=100_00)
        topped_up = tell_of_low_balances(now=P)
        place(customer, now=T0, limit_price_micro=5_000_000, hours=8)

        again = [tell_of_low_balances(now=P), tell_of_low_balances(now=P)]

        # 8 hours at 6.00 hold 48.00; 52.00 are left for 6.60 an hour: seven hours.
        assert (first, topped_up, again) == (1, 0, [0, 0])
        place(customer, now=T0, limit_price_micro=5_000_000, hours=2)
        assert tell_of_low_balances(now=P) == 1

    def test_counts_what_waits_and_nothing_when_nothing_does(self):
        open_market()
        customer = make_customer(amount_minor=1_00)
        idle = tell_of_low_balances(now=T0)
        place(customer, limit_price_micro=400_000, hours=1)
        waiting = tell_of_low_balances(now=T0)
        match()
        Bid.objects.update(status=Bid.Status.CANCELLED)

        assert (idle, waiting, tell_of_low_balances(now=T0)) == (0, 1, 0)

    def test_is_told_to_who_pays_at_the_level_each_of_them_chose(self):
        customer = make_customer(amount_minor=0, email="owner@example.com")
        for role in (Membership.Role.BILLING, Membership.Role.TRADER, Membership.Role.VIEWER):
            MembershipFactory.create(
                organisation=customer, role=role, user__email=f"{role}@example.com"
            )
        opened(sell(customer=customer))
        fund_wallet(customer, amount_minor=10_00)
        choose_mails(
            user_id=member_of(customer).pk,
            switched_off=[],
            low_balance_hours=17,
            low_balance_minor=0,
            now=T0,
        )

        tell_of_low_balances(now=P)

        # Ten euros last 16 hours: below the owner's 17, above everybody else's six.
        assert [mail.to_address for mail in Mail.objects.all()] == ["owner@example.com"]

    def test_is_low_below_the_amount_that_was_chosen_too(self):
        customer = make_customer(amount_minor=0)
        opened(sell(customer=customer))
        fund_wallet(customer, amount_minor=19_99)
        choose_mails(
            user_id=member_of(customer).pk,
            switched_off=[],
            low_balance_hours=1,
            low_balance_minor=20_00,
            now=T0,
        )

        assert tell_of_low_balances(now=P) == 1


def test_a_payout_is_told_to_who_is_paid_with_its_sum():
    membership = MembershipFactory.create(user__email="s@example.com")

    mail_payout(
        payout=PayoutFacts(
            seller_id=membership.organisation_id,
            number="P-2026-0007",
            currency="EUR",
            sales_until=T0,
            net_minor=1_000_00,
            reserved_minor=100_00,
            account_end="4321",
        )
    )

    (mail,) = Mail.objects.all()
    assert (mail.to_address, mail.subject) == (
        "s@example.com",
        "Payout P-2026-0007: €900.00 on the way",
    )
    for line in (
        "Sales after our fee: €1,000.00",
        "Kept in reserve: €100.00",
        "Sent: €900.00",
        "To the account that ends in: 4321",
        "http://127.0.0.1:8000/en/seller/sales/",
    ):
        assert line in mail.body_text
