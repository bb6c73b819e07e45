"""Intentions: saved before the opening by the rules of an order, with no money; added up for sellers."""

from datetime import timedelta
from typing import Any

import pytest

from billing.models import Hold, Journal
from billing.money import Currency
from marketplace.accounts.models import AuditEntry, Organisation
from marketplace.models import Bid, Command, Intention, MarketState
from marketplace.operations.intentions import (
    MAX_INTENTIONS,
    IntentionTerms,
    KeyReused,
    OrderRefused,
    save_intention,
    withdraw_intention,
)
from marketplace.queries.intentions import demand, order_query
from tests.exchange import HOUR, member_of, open_market
from tests.factories import T0, GpuModelFactory, MembershipFactory, OrganisationFactory

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def card():
    return GpuModelFactory.create()


def customer() -> Organisation:
    return MembershipFactory.create().organisation


def save(organisation: Organisation, *, key: str = "one", **changes: Any) -> Intention:
    facts: dict[str, Any] = {
        "organisation_id": organisation.pk,
        "gpu_model_slug": "rtx-4090",
        "gpus": 2,
        "hours": 12,
        "currency": Currency.EUR,
        "limit_price_micro": 350_000,
    }
    terms = IntentionTerms(**(facts | changes))
    return save_intention(terms=terms, actor_id=member_of(organisation).pk, key=key, now=T0)


class TestSaving:
    def test_keeps_the_order_that_would_be_placed_and_moves_no_money(self):
        organisation = customer()

        intention = save(organisation, wanted_start=T0 + HOUR, label=" LoRA ")

        kept = Intention.objects.get()
        assert kept == intention
        assert (kept.gpus, kept.hours, kept.currency) == (2, 12, "EUR")
        assert (kept.limit_price_micro, kept.wanted_start) == (350_000, T0 + HOUR)
        assert (kept.label, kept.saved_by, kept.saved_at) == (
            "LoRA",
            member_of(organisation),
            T0,
        )
        assert AuditEntry.objects.get().action == "intention.save"
        for model in (Bid, Command, Hold, Journal):
            assert model.objects.count() == 0

    def test_twice_with_one_key_is_once(self):
        organisation = customer()

        first, again = save(organisation), save(organisation)

        assert first == again
        assert Intention.objects.count() == 1
        assert AuditEntry.objects.count() == 1

    def test_with_the_key_of_another_intention_is_refused(self):
        organisation = customer()
        save(organisation)

        with pytest.raises(KeyReused):
            save(organisation, hours=13)

        assert Intention.objects.get().hours == 12

    @pytest.mark.parametrize(
        ("changes", "field"),
        [
            ({"gpu_model_slug": "nothing"}, "gpu_model"),
            ({"gpus": 0}, "gpus"),
            ({"gpus": 17}, "gpus"),
            ({"hours": 169}, "hours"),
            ({"limit_price_micro": 9_999}, "limit_price"),
            ({"limit_price_micro": 350_500}, "limit_price"),
            ({"wanted_start": T0 - HOUR}, "earliest_start"),
            ({"wanted_start": T0 + timedelta(minutes=7)}, "earliest_start"),
            ({"wanted_start": T0 + timedelta(days=29)}, "earliest_start"),
            ({"label": "x" * 61}, "label"),
            ({"key": ""}, "idempotency_key"),
        ],
    )
    def test_refuses_what_an_order_refuses_and_keeps_nothing(self, changes, field):
        with pytest.raises(OrderRefused) as refused:
            save(customer(), **changes)

        assert refused.value.field == field
        assert Intention.objects.count() == 0

    @pytest.mark.parametrize("state", ["open", "halted"])
    def test_is_refused_once_the_market_has_opened(self, state):
        open_market(state=MarketState.State(state))

        with pytest.raises(OrderRefused) as refused:
            save(customer())

        assert refused.value.field == "market"
        assert Intention.objects.count() == 0

    def test_ends_at_fifty(self):
        organisation = customer()
        for number in range(MAX_INTENTIONS):
            save(organisation, key=str(number))

        with pytest.raises(OrderRefused) as refused:
            save(organisation, key="more")

        assert str(refused.value.message) == "You have 50 intentions: withdraw one before the next."
        assert Intention.objects.count() == 50

    def test_of_a_frozen_organisation_is_refused(self):
        organisation = customer()
        Organisation.objects.update(is_frozen=True)

        with pytest.raises(OrderRefused) as refused:
            save(organisation)

        assert refused.value.field == "organisation"
        assert Intention.objects.count() == 0


class TestWithdrawing:
    def test_forgets_it_in_any_state(self):
        organisation = customer()
        intention = save(organisation)
        open_market()

        withdraw_intention(
            intention_id=intention.pk,
            organisation_id=organisation.pk,
            actor_id=member_of(organisation).pk,
            now=T0,
        )

        assert Intention.objects.count() == 0
        assert AuditEntry.objects.filter(action="intention.withdraw").count() == 1

    def test_knows_no_intention_of_others(self):
        intention = save(customer())
        stranger = customer()

        with pytest.raises(Intention.DoesNotExist):
            withdraw_intention(
                intention_id=intention.pk,
                organisation_id=stranger.pk,
                actor_id=member_of(stranger).pk,
                now=T0,
            )

        assert Intention.objects.count() == 1


class TestDemand:
    def test_adds_up_by_model_and_currency_most_hours_first(self):
        first, second = customer(), customer()
        save(first, gpus=1, hours=10)
        save(first, key="two", gpus=2, hours=3, currency=Currency.USD)
        save(second, gpus=4, hours=5, limit_price_micro=None)

        rows = [(row.currency, row.intentions, row.gpu_hours) for row in demand()]

        assert rows == [("EUR", 2, 30), ("USD", 1, 6)]

    def test_shows_no_price_of_fewer_than_three_organisations(self):
        first, second = customer(), customer()
        for number, owner in enumerate((first, first, first, second)):
            save(owner, key=str(number), limit_price_micro=100_000 * (number + 1))
        save(customer(), limit_price_micro=None)

        (row,) = demand()

        assert (row.intentions, row.gpu_hours) == (5, 120)
        assert (row.lower_micro, row.median_micro, row.upper_micro) == (None, None, None)

    def test_shows_the_quartiles_of_three_and_more(self):
        for price in (400_000, 200_000, 300_000, 100_000):
            save(customer(), limit_price_micro=price)

        (row,) = demand()

        assert (row.lower_micro, row.median_micro, row.upper_micro) == (100_000, 200_000, 300_000)

    def test_asks_twice_however_many_there_are(self, django_assert_num_queries):
        for number in range(3):
            GpuModelFactory.create(slug=f"card-{number}")
            save(OrganisationFactory.create(), gpu_model_slug=f"card-{number}")

        with django_assert_num_queries(2):
            assert len(demand()) == 3


class TestTheTicketOfAnIntention:
    def test_is_filled_in_with_all_that_was_saved(self):
        intention = save(customer(), wanted_start=T0 + HOUR, label="LoRA 13B")

        query = order_query(intention, now=T0)

        assert query == (
            "kind=limit&gpus=2&hours=12&currency=EUR&limit_price=0.35"
            "&earliest_start=2026-11-02T10%3A00&label=LoRA+13B"
        )

    def test_without_a_limit_buys_at_the_best_offer_and_leaves_a_past_start_out(self):
        intention = save(customer(), limit_price_micro=None, wanted_start=T0 + HOUR)

        query = order_query(intention, now=T0 + 2 * HOUR)

        assert query == "kind=buy_now&gpus=2&hours=12&currency=EUR"
