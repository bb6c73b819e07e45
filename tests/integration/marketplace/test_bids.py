"""Placing, previewing and cancelling an order: what is held, and what is refused."""

from datetime import timedelta
from typing import Any

import pytest

from billing.models import Hold, TopUp
from billing.money import Currency
from billing.operations.holds import InsufficientFunds
from marketplace.accounts.models import AuditEntry
from marketplace.models import Bid, Command, MarketState
from marketplace.operations.bids import KeyReused, OrderRefused, cancel_bid, preview_bid
from marketplace.operations.commands import forget_old_keys
from tests.exchange import (
    DAY,
    HOUR,
    SSH_KEY,
    buy,
    hold_of,
    make_customer,
    make_offer,
    match,
    member_of,
    open_market,
    order_of,
    place,
    wallet_of,
)
from tests.factories import T0, MembershipFactory, ServerFactory, fund_wallet

pytestmark = pytest.mark.django_db


def assert_nothing_placed() -> None:
    assert not Bid.objects.exists()
    assert not Hold.objects.exists()
    assert not Command.objects.filter(kind="place_bid").exists()


class TestPlacing:
    def test_holds_price_and_tax_at_the_limit(self):
        open_market()
        customer = make_customer(amount_minor=100_00)

        bid = place(customer, gpus=2, hours=3, limit_price_micro=333_000)

        # 2 × 3 × 0.333 = 1.998, half up 2.00, and 20 % of it.
        assert hold_of(bid).amount_minor == 2_40
        assert wallet_of(customer).free_minor == 97_60
        assert (bid.vat_bps, bid.vat_country, bid.vat_rule) == (2_000, "FR", "standard")

    def test_leaves_an_unnumbered_command_and_an_audit_entry(self):
        open_market()

        bid = place(make_customer())

        command = Command.objects.get(bid=bid)
        assert (command.kind, command.sequence) == ("place_bid", None)
        assert bid.status == Bid.Status.PENDING
        assert AuditEntry.objects.filter(action="bid.place", object_id=str(bid.pk)).count() == 1

    def test_without_starts_waits_from_the_next_reachable_slot_for_a_day(self):
        open_market()

        bid = place(make_customer(), now=T0 + timedelta(minutes=37))

        assert bid.earliest_start == T0 + timedelta(minutes=45)
        assert bid.latest_start == bid.earliest_start + DAY

    def test_a_buy_now_without_a_start_takes_the_offers_next_one_and_a_slot_more(self):
        open_market()
        make_offer()
        match()

        bid = place(make_customer(), kind=Bid.Kind.BUY_NOW)

        assert bid.earliest_start == T0 + HOUR
        assert bid.latest_start == T0 + HOUR + timedelta(minutes=15)

    def test_again_with_the_same_key_gives_the_same_bid(self):
        open_market()
        customer = make_customer()

        first, second = place(customer, key="k"), place(customer, key="k")

        assert first.pk == second.pk
        assert Bid.objects.count() == 1
        assert wallet_of(customer).held_minor == 96

    def test_again_with_the_same_key_and_another_order_is_refused(self):
        open_market()
        customer = make_customer()
        place(customer, key="k")

        with pytest.raises(KeyReused):
            place(customer, key="k", hours=3)

        assert Bid.objects.count() == 1
        assert wallet_of(customer).held_minor == 96

    def test_again_with_a_key_of_thirty_days_ago_is_a_new_order(self):
        open_market()
        customer = make_customer()
        first = place(customer, key="k")

        early = forget_old_keys(now=T0 + timedelta(days=30, microseconds=-1))
        late = forget_old_keys(now=T0 + timedelta(days=30))
        second = place(customer, key="k", hours=3)

        assert (early, late) == (0, 1)
        assert second.pk != first.pk
        assert first.commands.get().payload == {}

    def test_the_same_key_of_another_customer_is_another_key(self):
        open_market()

        first, second = place(make_customer(), key="k"), place(make_customer(), key="k")

        assert first.pk != second.pk

    def test_names_the_missing_amount_and_changes_nothing(self):
        open_market()
        customer = make_customer(amount_minor=90)

        with pytest.raises(InsufficientFunds) as refusal:
            place(customer)

        assert (refusal.value.missing_minor, refusal.value.currency) == (6, "EUR")
        assert wallet_of(customer).held_minor == 0
        assert_nothing_placed()

    def test_pays_from_the_wallet_of_its_currency_alone(self):
        open_market()

        with pytest.raises(InsufficientFunds):
            place(make_customer(amount_minor=100_00), currency=Currency.USD)

        assert_nothing_placed()


class TestAnImpossibleOrder:
    @pytest.mark.parametrize(
        ("field", "changes"),
        [
            ("gpu_model", {"gpu_model_slug": "abacus"}),
            ("gpus", {"gpus": 0}),
            ("gpus", {"gpus": -1}),
            ("gpus", {"gpus": 3}),
            ("hours", {"hours": 0}),
            ("hours", {"hours": 169}),
            ("currency", {"currency": "CHF"}),
            ("limit_price", {"limit_price_micro": None}),
            ("limit_price", {"limit_price_micro": 0}),
            ("limit_price", {"limit_price_micro": 9_000}),
            ("limit_price", {"limit_price_micro": 100_001_000}),
            ("limit_price", {"limit_price_micro": 400_500}),
            ("regions", {"regions": ("moon",)}),
            ("tiers", {"tiers": ("gold",)}),
            ("label", {"label": "x" * 61}),
            ("ssh_public_key", {"ssh_public_key": "not a key"}),
            ("ssh_public_key", {"ssh_public_key": ""}),
            ("earliest_start", {"earliest_start": T0 + timedelta(minutes=1)}),
            ("earliest_start", {"earliest_start": T0 - timedelta(minutes=15)}),
            ("earliest_start", {"earliest_start": T0 + 29 * DAY}),
            ("latest_start", {"latest_start": T0 + 29 * DAY}),
            ("latest_start", {"latest_start": T0 + timedelta(seconds=1)}),
            ("latest_start", {"earliest_start": T0 + DAY, "latest_start": T0 + HOUR}),
            ("latest_start", {"earliest_start": T0, "latest_start": T0}),
            ("idempotency_key", {"key": "x" * 65}),
        ],
    )
    def test_is_refused_by_its_field_and_changes_nothing(self, field, changes):
        open_market()
        ServerFactory.create(gpu_count=2)
        customer = make_customer(amount_minor=100_000_00)

        with pytest.raises(OrderRefused) as refusal:
            place(customer, **changes)

        assert refusal.value.field == field
        assert str(refusal.value.message)
        assert_nothing_placed()

    def test_names_the_size_of_the_largest_server(self):
        open_market()
        ServerFactory.create(gpu_count=2)

        with pytest.raises(OrderRefused, match="has 2 GPUs"):
            place(make_customer(), gpus=3)

    def test_without_a_billing_profile_asks_for_it(self):
        open_market()
        customer = MembershipFactory.create().organisation
        fund_wallet(customer, amount_minor=100_00)

        with pytest.raises(OrderRefused) as refusal:
            place(customer)

        assert refusal.value.field == "billing_profile"
        assert_nothing_placed()

    def test_of_a_frozen_organisation_is_refused(self):
        open_market()
        customer = make_customer()
        customer.is_frozen = True
        customer.save()

        with pytest.raises(OrderRefused) as refusal:
            place(customer)

        assert refusal.value.field == "organisation"
        assert_nothing_placed()

    def test_before_launch_is_refused(self):
        ServerFactory.create()

        with pytest.raises(OrderRefused, match="not open yet"):
            place(make_customer())

        assert_nothing_placed()

    def test_during_a_halt_is_refused(self):
        open_market()
        open_market(state=MarketState.State.HALTED)

        with pytest.raises(OrderRefused, match="halted"):
            place(make_customer())

        assert_nothing_placed()

    def test_a_buy_now_that_nothing_serves_is_refused(self):
        open_market()

        with pytest.raises(OrderRefused) as refusal:
            place(make_customer(), kind=Bid.Kind.BUY_NOW)

        assert refusal.value.field == "gpu_model"
        assert_nothing_placed()

    def test_a_buy_now_below_the_best_offer_is_refused(self):
        open_market()
        make_offer(ask_micro=500_000)
        match()

        with pytest.raises(OrderRefused) as refusal:
            place(make_customer(), kind=Bid.Kind.BUY_NOW, limit_price_micro=400_000)

        assert refusal.value.field == "limit_price"
        assert_nothing_placed()


class TestOpenOrders:
    def test_stop_at_five_before_the_first_top_up(self):
        open_market()
        customer = make_customer()
        for _ in range(5):
            place(customer)

        with pytest.raises(OrderRefused, match="5 open orders"):
            place(customer)

        assert Bid.objects.count() == 5

    def test_stop_at_fifty_after_it(self, monkeypatch):
        open_market()
        customer = make_customer()
        member = member_of(customer)
        journal = wallet_of(customer).postings.get().journal
        TopUp.objects.create(
            organisation=customer,
            user=member,
            currency="EUR",
            amount_minor=100_00,
            state=TopUp.State.PAID,
            idempotency_key="t",
            journal=journal,
            created_at=T0,
        )
        for _ in range(50):
            place(customer)

        with pytest.raises(OrderRefused, match="50 open orders"):
            place(customer)

        assert Bid.objects.count() == 50


class TestAPreview:
    def test_of_a_buy_now_shows_the_offers_price_start_and_hold(self):
        open_market()
        offer = make_offer(ask_micro=400_000)
        match()
        customer = make_customer(amount_minor=90)
        order = order_of(customer, kind=Bid.Kind.BUY_NOW, limit_price_micro=None)

        preview = preview_bid(order=order, now=T0)

        assert preview.would_fill is True
        assert preview.offer == offer
        assert (preview.price_micro, preview.limit_price_micro) == (400_000, 400_000)
        assert (preview.starts_at, preview.ends_at) == (T0 + HOUR, T0 + 3 * HOUR)
        assert (preview.net_minor, preview.vat_minor, preview.hold_minor) == (80, 16, 96)
        assert (preview.free_minor, preview.missing_minor) == (90, 6)

    def test_equals_the_hold_and_the_charge_of_the_order(self):
        open_market()
        make_offer(ask_micro=333_000)
        match()
        customer = make_customer()
        order = order_of(customer, kind=Bid.Kind.BUY_NOW, limit_price_micro=None, hours=7)
        preview = preview_bid(order=order, now=T0)
        bid = buy(customer, hours=7, limit_price_micro=preview.limit_price_micro)

        match()

        assert hold_of(bid).amount_minor == preview.hold_minor

    def test_of_a_low_bid_names_the_offer_that_a_higher_limit_would_take(self):
        open_market()
        offer = make_offer(ask_micro=500_000)
        match()

        preview = preview_bid(order=order_of(make_customer()), now=T0)

        assert (preview.would_fill, preview.reason) == (False, "price")
        assert preview.cheapest_fit == offer
        assert preview.price_micro == 400_000
        assert preview.latest_start == T0 + timedelta(minutes=15) + DAY

    def test_respects_the_filters(self):
        open_market()
        make_offer()
        match()
        order = order_of(make_customer(), kind=Bid.Kind.BUY_NOW, regions=("uk",))

        with pytest.raises(OrderRefused, match="No offer serves"):
            preview_bid(order=order, now=T0)

    def test_places_and_holds_nothing(self):
        open_market()
        make_offer()
        match()

        preview_bid(order=order_of(make_customer(), kind=Bid.Kind.BUY_NOW), now=T0)

        assert_nothing_placed()


class TestCancelling:
    def test_twice_leaves_one_command(self):
        open_market()
        customer = make_customer()
        bid = place(customer)
        facts: dict[str, Any] = {
            "organisation_id": customer.pk,
            "actor_id": member_of(customer).pk,
            "now": T0,
        }

        cancel_bid(bid_id=bid.pk, **facts)
        cancel_bid(bid_id=bid.pk, **facts)

        assert Command.objects.filter(kind="cancel_bid").count() == 1

    def test_a_strangers_bid_does_not_exist(self):
        open_market()
        bid = place(make_customer())
        stranger = make_customer()

        with pytest.raises(Bid.DoesNotExist):
            cancel_bid(
                bid_id=bid.pk,
                organisation_id=stranger.pk,
                actor_id=member_of(stranger).pk,
                now=T0,
            )

        assert not Command.objects.filter(kind="cancel_bid").exists()

    def test_a_filled_bid_is_refused(self):
        open_market()
        make_offer()
        customer = make_customer()
        bid = buy(customer)
        match()

        with pytest.raises(OrderRefused) as refusal:
            cancel_bid(
                bid_id=bid.pk, organisation_id=customer.pk, actor_id=bid.placed_by_id, now=T0
            )

        assert refusal.value.field == "bid"


def test_the_clean_line_of_the_key_is_kept():
    open_market()

    bid = place(make_customer(), ssh_public_key=f"  {SSH_KEY}\n")

    assert bid.ssh_public_key == SSH_KEY
