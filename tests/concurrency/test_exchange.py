"""Races on the exchange: the last GPU, the same key, two workers, a killed one, lost messages."""

from collections import Counter
from functools import partial

import pytest
from django.db.models import Sum

from billing.models import Account, Hold, Posting
from marketplace import tasks
from marketplace.accounts.models import Mail, User
from marketplace.models import Bid, Command, Fill, Rental, ServerDay, Shard
from marketplace.operations import matching
from marketplace.operations.bids import InsufficientFunds
from marketplace.operations.match_mails import tell_of_matches
from marketplace.operations.replay import replay_fills
from tests.exchange import (
    HOUR,
    buy,
    hold_of,
    make_customer,
    make_offer,
    match,
    member_of,
    open_market,
    place,
    wallet_of,
)
from tests.factories import T0, ServerFactory
from tests.processes import at_once, kill_while_paused, pausing_inserts

pytestmark = pytest.mark.django_db(transaction=True)

MATCH_AT_T0 = """
from tests.exchange import match
match()
"""
TELL_AT_T0 = """
from marketplace.operations.match_mails import tell_of_matches
from tests.factories import T0
tell_of_matches(now=T0)
"""


def assert_money_adds_up() -> None:
    """Every currency sums to zero, and each wallet holds what its open holds say."""
    sums = Posting.objects.values_list("currency").annotate(total=Sum("amount_minor"))
    assert all(total == 0 for _currency, total in sums)
    for wallet in Account.objects.filter(kind=Account.Kind.WALLET):
        holds = Hold.objects.filter(account=wallet, state=Hold.State.OPEN)
        assert wallet.held_minor == sum(hold.remaining_minor for hold in holds)


class TestTheLastGpu:
    def test_goes_to_one_of_twenty_buyers_and_the_others_are_refused(self):
        open_market()
        server = ServerFactory.create(gpu_count=1)
        make_offer(server=server, windows=((T0, T0 + 3 * HOUR),))
        match()
        customers = [make_customer() for _ in range(20)]
        buyers = [partial(buy, customer) for customer in customers]
        workers = [match, match]

        answers = at_once([*buyers, *workers])
        match()

        assert not [answer for answer in answers if isinstance(answer, Exception)]
        outcomes = Counter(Bid.objects.values_list("status", "refusal"))
        assert outcomes == {("filled", ""): 1, ("refused", "no_fit"): 19}
        assert (Fill.objects.count(), Rental.objects.count()) == (1, 1)
        assert max(ServerDay.objects.get(server=server).used) == 1
        assert sum(wallet_of(customer).held_minor for customer in customers) == 96
        assert_money_adds_up()


class TestTheSameKey:
    def test_from_eight_clicks_at_once_places_one_order(self):
        open_market()
        customer = make_customer()

        answers = at_once([partial(place, customer, key="k")] * 8)

        assert {answer.pk for answer in answers} == {Bid.objects.get().pk}
        assert wallet_of(customer).held_minor == 96
        assert_money_adds_up()


class TestTheLastMoney:
    def test_pays_for_one_of_eight_orders(self):
        open_market()
        customer = make_customer(amount_minor=100)

        answers = at_once([partial(place, customer)] * 8)

        refused = [answer for answer in answers if isinstance(answer, InsufficientFunds)]
        assert len(refused) == 7
        assert Bid.objects.count() == 1
        assert wallet_of(customer).held_minor == 96
        assert_money_adds_up()


class TestTwoWorkers:
    def test_at_once_write_one_log_without_gaps(self, monkeypatch):
        monkeypatch.setattr(matching, "BATCH_COMMANDS", 3)
        open_market()
        for _ in range(4):
            make_offer(server=ServerFactory.create(gpu_count=4))
        match()
        for customer in [make_customer() for _ in range(10)]:
            buy(customer)
            place(customer, limit_price_micro=500_000)

        def work() -> None:
            while match().has_more:
                pass

        answers = at_once([work] * 4)

        assert answers == [None] * 4
        numbers = list(Command.objects.order_by("sequence").values_list("sequence", flat=True))
        assert numbers == list(range(1, len(numbers) + 1))
        assert Shard.objects.get().last_sequence == len(numbers)
        assert [fill.bid_id for fill in replay_fills()] == list(
            Fill.objects.order_by("pk").values_list("bid_id", flat=True)
        )
        assert Fill.objects.count() == 20
        assert_money_adds_up()


class TestAKilledWorker:
    @pytest.mark.parametrize(
        "table", ["marketplace_fill", "marketplace_rental", "marketplace_serverday"]
    )
    def test_leaves_nothing_half_done_and_the_next_one_finishes(self, table):
        open_market()
        make_offer()
        match()
        before = Shard.objects.get()
        customer = make_customer()
        bid = buy(customer, limit_price_micro=500_000)

        with pausing_inserts(table):
            kill_while_paused(MATCH_AT_T0)
            bid.refresh_from_db()
            assert bid.status == Bid.Status.PENDING
        after = Shard.objects.get()
        assert (after.version, after.last_sequence) == (before.version, before.last_sequence)
        assert not Fill.objects.exists()
        assert hold_of(bid).amount_minor == 1_20

        match()

        bid.refresh_from_db()
        assert bid.status == Bid.Status.FILLED
        assert (Fill.objects.count(), Rental.objects.count()) == (1, 1)
        assert hold_of(bid).amount_minor == 96
        assert max(ServerDay.objects.get().used) == 1
        assert_money_adds_up()


class TestMails:
    def sold(self) -> tuple[User, User]:
        """Sell hours, and return who bought and who sold them."""
        open_market()
        offer = make_offer()
        customer = make_customer()
        buy(customer)
        match()
        return member_of(customer), member_of(offer.organisation)

    def test_are_written_once_after_a_worker_was_killed_while_it_wrote_them(self):
        people = self.sold()

        with pausing_inserts("accounts_mail"):
            kill_while_paused(TELL_AT_T0)
        assert not Mail.objects.exists()
        tell_of_matches(now=T0)
        tell_of_matches(now=T0)

        addresses = list(Mail.objects.order_by("pk").values_list("to_address", flat=True))
        assert addresses == [person.email for person in people]

    def test_are_written_once_by_four_workers_at_once(self):
        people = self.sold()

        answers = at_once([partial(tell_of_matches, now=T0)] * 4)

        assert sorted(map(str, answers)) == ["0", "0", "0", "1"]
        assert Mail.objects.count() == len(people)


class TestLostMessages:
    def test_leave_the_work_to_the_sweep(self, monkeypatch):
        monkeypatch.setattr(tasks, "now", lambda: T0)
        open_market()
        make_offer()
        bid = buy(make_customer())

        tasks.match_shards()

        bid.refresh_from_db()
        assert bid.status == Bid.Status.FILLED

    def test_a_repeated_message_changes_nothing(self, monkeypatch):
        monkeypatch.setattr(tasks, "now", lambda: T0)
        open_market()
        make_offer()
        buy(make_customer())
        tasks.match_shards()
        before = Shard.objects.values().get()

        for _ in range(10):
            tasks.match_shards()

        assert Shard.objects.values().get() == before
        assert Fill.objects.count() == 1
