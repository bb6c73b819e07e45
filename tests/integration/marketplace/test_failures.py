"""A seller's failure: the server is suspended first, and nobody gains by failing sold hours."""

from datetime import timedelta

import pytest

from marketplace.accounts.models import AuditEntry, Mail
from marketplace.models import Bid, Command, Rental, Server
from marketplace.operations.servers import resume_server
from tests.builders import make_server, sell
from tests.exchange import make_customer, make_offer, match, member_of, place, wallet_of, withdraw
from tests.factories import MembershipFactory
from tests.rental_steps import BAD, GOOD, at, make_ready, probe, stop, sweep

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("check_deferred_rules")]


def server_of(rental: Rental) -> Server:
    return Server.objects.get(pk=rental.server_id)


def interrupted(**facts) -> Rental:
    """A rental known to be down from P + 22 on."""
    rental = sell(hours=4, **facts)
    make_ready(rental, at(-5))
    for minute, result in ((20, GOOD), (21, BAD), (22, BAD)):
        probe(rental, result, at(minute))
    return rental


def bid_for(rental: Rental, *, now, price_micro: int, **facts) -> Bid:
    return place(
        make_customer(),
        now=now,
        gpu_model_slug=rental.server.gpu_model.slug,
        limit_price_micro=price_micro,
        **({"latest_start": at(5 * 60)} | facts),
    )


class TestSuspension:
    def test_of_a_machine_that_was_not_delivered_comes_before_its_hours_are_freed(self):
        rental = sell()

        sweep(rental, at(15))

        server = server_of(rental)
        assert (server.is_suspended, server.suspended_at) == (True, at(15))
        assert (server.suspension, server.suspended_after_id) == ("not_delivered", rental.pk)
        kinds = Command.objects.order_by("-pk").values_list("kind", flat=True)
        assert list(kinds[:2]) == ["release_hours", "change_server"]

    def test_keeps_the_freed_hours_from_who_waits_for_them(self):
        rental = sell(server=make_server(gpu_count=1), hours=4)
        waiting = bid_for(rental, now=at(-30), price_micro=900_000, latest_start=at(4 * 60))
        match(at(-30))

        sweep(rental, at(15))
        match(at(15))

        waiting.refresh_from_db()
        assert waiting.status == Bid.Status.RESTING

    def test_follows_an_interruption_of_an_hour(self):
        rental = interrupted()
        probe(rental, BAD, at(81.9))

        sweep(rental, at(82.5))

        server = server_of(rental)
        assert rental.end_reason == "seller_failure"
        assert (server.suspension, server.suspended_at) == ("failure", at(82.5))

    def test_follows_the_customers_choice_after_a_quarter_of_an_hour(self):
        rental = interrupted()

        stop(rental, at(37))

        assert rental.end_reason == "seller_failure"
        assert server_of(rental).suspended_after_id == rental.pk

    def test_is_not_what_a_customer_who_leaves_a_machine_that_is_only_late_causes(self):
        rental = sell()
        sweep(rental, at(-60))

        stop(rental, at(14.9))

        assert rental.end_reason == "not_delivered"
        assert not server_of(rental).is_suspended

    def test_does_not_follow_a_stop_at_the_customers_wish_or_a_completed_rental(self):
        stopped, completed = sell(hours=4), sell(hours=1)
        for rental in (stopped, completed):
            make_ready(rental, at(-5))
        probe(completed, GOOD, at(59.5))

        stop(stopped, at(30))
        sweep(completed, at(61))

        assert (stopped.end_reason, completed.end_reason) == ("stopped_by_customer", "completed")
        assert not Server.objects.filter(is_suspended=True).exists()

    def test_is_written_down_once_with_its_reason(self):
        server = make_server(gpu_count=2)
        first, second = sell(server=server), sell(server=server)

        sweep(first, at(15))
        sweep(second, at(15))

        entry = AuditEntry.objects.get(action="server.suspend")
        assert (entry.actor_id, entry.organisation_id) == (None, server.organisation_id)
        assert entry.details == {"reason": "not_delivered", "rental": first.pk}
        assert server_of(second).suspended_after_id == first.pk

    def test_is_told_to_those_who_act_for_the_seller_each_in_their_language(self):
        rental = sell()
        owner = member_of(rental.server.organisation)
        trader = MembershipFactory.create(
            organisation=rental.server.organisation, role="trader", user__language="fr"
        ).user
        viewer = MembershipFactory.create(
            organisation=rental.server.organisation, role="viewer"
        ).user

        sweep(rental, at(15))

        mails = {mail.to_address: mail for mail in Mail.objects.all()}
        assert mails[owner.email].subject == (
            f"Your server {rental.server.name} takes no new sales"
        )
        assert "A sold machine was not delivered in time." in mails[owner.email].body_text
        assert f"/fr/vendeur/serveurs/{rental.server_id}/" in mails[trader.email].body_text
        assert viewer.email not in mails

    def test_ends_when_staff_let_the_server_sell_again(self):
        rental = sell()
        sweep(rental, at(15))

        resume_server(server_id=rental.server_id, actor_id=None, now=at(20))
        again = resume_server(server_id=rental.server_id, actor_id=None, now=at(21))

        server = server_of(rental)
        assert (server.is_suspended, server.suspended_at) == (False, None)
        assert (server.suspension, server.suspended_after_id, again) == ("", None, False)


class TestFreedHours:
    def failed(self) -> Rental:
        """Eight hours at 0.500 from P on that failed; their server sells again from P + 20."""
        rental = sell(server=make_server(gpu_count=1), hours=8)
        sweep(rental, at(15))
        resume_server(server_id=rental.server_id, actor_id=None, now=at(20))
        match(at(20))
        withdraw(rental.fill.offer, now=at(20))
        match(at(20))
        return rental

    def relist(self, rental: Rental, *, ask_micro: int) -> None:
        make_offer(
            server=server_of(rental),
            ask_micro=ask_micro,
            windows=((at(30), at(30) + timedelta(days=2)),),
            now=at(21),
        )

    def test_are_not_sold_above_the_failed_rentals_price(self):
        rental = self.failed()
        self.relist(rental, ask_micro=510_000)
        bid = bid_for(rental, now=at(22), price_micro=900_000)

        match(at(22))

        bid.refresh_from_db()
        assert bid.status == Bid.Status.RESTING

    def test_are_sold_at_its_price(self):
        rental = self.failed()
        self.relist(rental, ask_micro=500_000)
        bid = bid_for(rental, now=at(22), price_micro=900_000)

        match(at(22))

        assert Bid.objects.get(pk=bid.pk).fill.customer_price_micro == 500_000

    def test_cost_a_bid_that_waited_no_more_than_that_and_free_the_rest_of_its_hold(self):
        rental = self.failed()
        bid = bid_for(rental, now=at(20), price_micro=900_000)
        match(at(20))
        self.relist(rental, ask_micro=400_000)

        match(at(22))

        bid = Bid.objects.get(pk=bid.pk)
        assert bid.fill.seller_price_micro == 500_000
        # Two hours at 0.500 with a fifth of tax, of a wallet with 100.
        assert wallet_of(bid.organisation).free_minor == 100_00 - 120

    def test_are_sold_at_any_price_once_the_failed_rental_would_have_ended(self):
        rental = self.failed()
        self.relist(rental, ask_micro=900_000)
        bid = bid_for(
            rental,
            now=at(22),
            price_micro=900_000,
            earliest_start=at(8 * 60),
            latest_start=at(24 * 60),
        )

        match(at(22))

        fill = Bid.objects.get(pk=bid.pk).fill
        # The set-up's hour comes after the failed rental's time, too.
        assert (fill.starts_at, fill.customer_price_micro) == (at(9 * 60), 900_000)
