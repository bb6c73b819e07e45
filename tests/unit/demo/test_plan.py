"""The demo's plan: pure, and the same each time."""

from collections import Counter

import pytest

from billing.money import Currency
from config.demo.acts import DAY, Fate, Listing, Order
from config.demo.camille import camilles_story
from config.demo.cast import CAMILLE, CUSTOMERS, FEATURED, machines
from config.demo.plan import FULL, build_plan
from marketplace.book.types import HORIZON_DAYS


class TestBuildPlan:
    def test_gives_the_same_acts_for_the_same_seed(self):
        assert build_plan() == build_plan()

    def test_gives_other_acts_for_another_seed(self):
        assert build_plan(seed=1).acts != build_plan(seed=2).acts

    def test_keeps_the_acts_in_order_of_time(self):
        minutes = [act.minute for act in build_plan().acts]

        assert minutes == sorted(minutes, reverse=True)
        assert minutes[0] <= FULL.days * DAY
        assert minutes[-1] >= 0

    def test_lists_each_machine_three_times_and_last_at_its_final_ask(self):
        listings = [act for act in build_plan().acts if isinstance(act, Listing)]

        times = Counter(listing.machine.name for listing in listings)
        last = {listing.machine: listing.ask_micro for listing in listings}
        assert set(times.values()) == {3}
        assert len(times) == 40
        assert all(ask == machine.ask_micro for machine, ask in last.items())

    def test_leaves_two_weeks_in_the_window_of_every_last_listing(self):
        listings = [act for act in build_plan().acts if isinstance(act, Listing)]
        last = {listing.machine: listing.minute for listing in listings}

        assert max(last.values()) <= (HORIZON_DAYS - 14) * DAY

    def test_asks_only_for_what_a_machine_of_the_market_has(self):
        plan = build_plan()
        largest = {
            (machine.card, machine.currency): machine.gpus
            for machine in plan.machines
            if machine.is_best
        }

        orders = [act for act in plan.acts if isinstance(act, Order)]

        assert all(order.gpus <= largest[order.card, order.currency] for order in orders)
        assert all(order.currency in order.customer.currencies for order in orders)


class TestMachines:
    @pytest.mark.parametrize(
        ("slug", "usd_micro"),
        [
            ("rtx-4090", 330_000),
            ("rtx-5090", 690_000),
            ("rtx-a6000", 330_000),
            ("l40s", 790_000),
            ("rtx-6000-ada", 740_000),
            ("a100-sxm-80", 1_790_000),
            ("h100-sxm", 2_880_000),
            ("rtx-pro-6000-blackwell", 1_690_000),
            ("h200-sxm", 4_190_000),
        ],
    )
    def test_offer_each_featured_card_at_its_price_in_dollars(self, slug: str, usd_micro: int):
        asks = [
            machine.ask_micro
            for machine in machines()
            if machine.card.slug == slug and machine.currency == Currency.USD
        ]

        assert min(asks) == usd_micro
        assert asks.count(usd_micro) == 1

    @pytest.mark.parametrize("card", FEATURED, ids=lambda card: card.slug)
    def test_of_one_card_belong_to_at_least_three_sellers(self, card):
        sellers = [machine.company.key for machine in machines() if machine.card == card]

        assert len(set(sellers)) == len(sellers) >= 3

    def test_have_names_of_their_own(self):
        names = [machine.name for machine in machines()]

        assert len(set(names)) == len(names)


class TestCast:
    def test_gives_everybody_an_address_of_their_own(self):
        assert len({customer.email for customer in CUSTOMERS}) == len(CUSTOMERS)

    def test_gives_each_currency_at_least_three_customers(self):
        for currency in Currency:
            assert sum(currency in customer.currencies for customer in CUSTOMERS) >= 3

    def test_tells_one_of_each_mishap_in_the_story_of_the_demo_customer(self):
        story = list(camilles_story())

        assert {order.customer for order in story} == {CAMILLE}
        assert {order.currency for order in story} == set(Currency)
        assert {Fate.NEVER_DELIVERED, Fate.STOPPED, Fate.LATE} <= {order.fate for order in story}
