"""Money under real threads and processes: never more than there is, nothing twice, nothing lost."""

import os
import signal
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import get_context

import pytest
from django.db import connection, connections
from django.urls import reverse

from billing.models import Account, BillingProfile, Hold, Journal, Posting, StripeEvent, TopUp
from billing.money import Tally
from billing.operations.charges import HourCharge, charge_hours
from billing.operations.holds import (
    InsufficientFunds,
    change_holds,
    place_hold,
    release_holds,
)
from billing.operations.proofs import billing_differences
from billing.operations.topups import apply_checkout, set_gate, start_top_up
from billing.operations.wallets import open_wallet
from billing.tasks import apply_stripe_events, sweep_top_ups
from marketplace.accounts.clock import now
from tests.factories import T0, MembershipFactory, OrganisationFactory, fund_wallet

pytestmark = pytest.mark.django_db(transaction=True)

THREADS = 16
HOUR = Tally(net_minor=100, vat_minor=20, seller_minor=90)


def at_once(jobs: Sequence[Callable[[], object]]) -> list[object]:
    """Run the jobs in threads that start together; return their answers or exceptions."""
    barrier = threading.Barrier(len(jobs))

    def run(job: Callable[[], object]) -> object:
        try:
            barrier.wait(timeout=20)
            return job()
        except Exception as failure:  # the test looks at it
            return failure
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(jobs)) as pool:
        return list(pool.map(run, jobs))


def hold(organisation_id: int, purpose: str, amount_minor: int = 100) -> Hold:
    return place_hold(
        organisation_id=organisation_id,
        currency="EUR",
        amount_minor=amount_minor,
        purpose=purpose,
        now=T0,
    )


def hour(rental: int, number: int, *, seller_id: int) -> HourCharge:
    return HourCharge(
        key=f"charge:{rental}:{number}",
        hold_purpose=f"bid:{rental}",
        seller_id=seller_id,
        vat_country="FR",
        tally=HOUR,
        source_id=rental,
        occurred_at=T0,
    )


def balance(organisation_id: int) -> tuple[int, int]:
    wallet = open_wallet(organisation_id=organisation_id, currency="EUR")
    return wallet.posted_minor, wallet.held_minor


class TestHolds:
    def test_sixteen_buyers_of_a_wallet_for_five_place_five(self):
        buyer = OrganisationFactory.create()
        fund_wallet(buyer, amount_minor=599)

        answers = at_once([lambda n=n: hold(buyer.pk, f"bid:{n}") for n in range(THREADS)])

        refused = [a for a in answers if isinstance(a, InsufficientFunds)]
        assert sum(isinstance(a, Hold) for a in answers) == 5
        assert [r.missing_minor for r in refused] == [1] * 11
        assert balance(buyer.pk) == (599, 500)
        assert billing_differences() == []

    def test_one_purpose_asked_sixteen_times_is_one_hold(self):
        buyer = OrganisationFactory.create()
        fund_wallet(buyer, amount_minor=10_000)

        answers = at_once([lambda: hold(buyer.pk, "bid:1") for _ in range(THREADS)])

        assert {a.pk for a in answers if isinstance(a, Hold)} == {Hold.objects.get().pk}
        assert balance(buyer.pk) == (10_000, 100)

    def test_released_sixteen_times_is_freed_once(self):
        buyer = OrganisationFactory.create()
        fund_wallet(buyer, amount_minor=1_000)
        hold(buyer.pk, "bid:1", 400)

        answers = at_once(
            [lambda: release_holds(purposes=["bid:1"], now=T0) for _ in range(THREADS)]
        )

        assert (answers.count(0), answers.count(1)) == (15, 1)
        assert balance(buyer.pk) == (1_000, 0)


class TestCharges:
    def test_one_hour_charged_sixteen_times_is_taken_once(self):
        buyer, seller = OrganisationFactory.create(), OrganisationFactory.create()
        fund_wallet(buyer, amount_minor=1_000)
        hold(buyer.pk, "bid:1", 360)

        answers = at_once(
            [
                lambda: charge_hours(charges=[hour(1, 1, seller_id=seller.pk)])
                for _ in range(THREADS)
            ]
        )

        journal = Journal.objects.get(idem_key="charge:1:1")
        assert answers == [{"charge:1:1": journal.pk}] * THREADS
        assert balance(buyer.pk) == (880, 240)
        assert billing_differences() == []

    def test_batches_across_the_same_wallets_and_sellers_never_lock_each_other_out(self):
        people = [OrganisationFactory.create() for _ in range(8)]
        for rental, buyer in enumerate(people):
            fund_wallet(buyer, amount_minor=120 * THREADS)
            hold(buyer.pk, f"bid:{rental}", 120 * THREADS)

        def batch(number: int) -> object:
            rentals = list(range(8)) if number % 2 else list(reversed(range(8)))
            sellers = [people[(rental + 3) % 8].pk for rental in rentals]
            return charge_hours(
                charges=[
                    hour(rental, number, seller_id=seller)
                    for rental, seller in zip(rentals, sellers, strict=True)
                ]
            )

        answers = at_once([lambda n=n: batch(n) for n in range(THREADS)])

        assert [len(a) for a in answers if isinstance(a, dict)] == [8] * THREADS
        assert [balance(buyer.pk) for buyer in people] == [(0, 0)] * 8
        assert billing_differences() == []

    def test_charges_releases_orders_and_top_ups_at_once_keep_every_rule(self):
        buyer, seller = OrganisationFactory.create(), OrganisationFactory.create()
        fund_wallet(buyer, amount_minor=5_000)
        for rental in range(8):
            hold(buyer.pk, f"bid:{rental}", 240)

        jobs = [
            *(
                lambda n=n: charge_hours(charges=[hour(n, 1, seller_id=seller.pk)])
                for n in range(8)
            ),
            *(
                lambda n=n: change_holds(
                    amounts_minor={}, released=[f"bid:{n}", f"bid:{7 - n}"], now=T0
                )
                for n in range(4)
            ),
            *(lambda n=n: hold(buyer.pk, f"bid:{100 + n}", 900) for n in range(4)),
        ]
        at_once(jobs)

        charged = Journal.objects.filter(kind="hour_charge").count()
        posted, held = balance(buyer.pk)
        assert posted == 5_000 - 120 * charged
        assert 0 <= held <= posted
        assert billing_differences() == []


@pytest.fixture
def paid_top_up(stripe_double) -> TopUp:
    set_gate(is_open=True, now=T0)
    member = MembershipFactory.create()
    BillingProfile.objects.create(
        organisation=member.organisation, legal_name="B", country="FR", updated_at=T0
    )
    top_up = start_top_up(
        organisation_id=member.organisation_id,
        user_id=member.user_id,
        currency="EUR",
        amount_minor=2_000,
        key="k",
        locale="en",
        now=T0,
    )
    stripe_double.pay(top_up.checkout_session_id)
    return top_up


class TestTopUps:
    def test_the_same_webhook_ten_times_at_once_is_one_credit(
        self, live_server, stripe_double, paid_top_up
    ):
        stripe_double.send_webhooks_to(live_server.url + reverse("stripe-webhook"))
        (event,) = stripe_double.events("checkout.session.completed")

        statuses = stripe_double.resend(event["id"], copies=10)
        at_once([apply_stripe_events] * 4)

        assert statuses == [200] * 10
        assert StripeEvent.objects.count() == 1
        assert balance(paid_top_up.organisation_id) == (2_000, 0)
        assert Journal.objects.filter(kind="top_up").count() == 1

    def test_webhook_page_and_sweep_at_once_are_one_credit(self, paid_top_up):
        session_id = paid_top_up.checkout_session_id

        answers = at_once(
            [lambda: apply_checkout(session_id=session_id, now=now())] * 8 + [sweep_top_ups] * 2
        )

        assert [a for a in answers if isinstance(a, Exception)] == []
        assert balance(paid_top_up.organisation_id) == (2_000, 0)
        assert billing_differences() == []

    def test_every_webhook_dropped_the_sweep_credits(self, stripe_double, paid_top_up):
        assert stripe_double.deliveries() == []

        sweep_top_ups()

        assert balance(paid_top_up.organisation_id) == (2_000, 0)

    def test_a_worker_killed_in_the_middle_loses_nothing_and_doubles_nothing(self, paid_top_up):
        at = "billing.operations.topups.write_journals"

        code = run_and_die(paid_top_up.checkout_session_id, at=at)

        assert code == -signal.SIGKILL
        assert wait_until_forgotten()
        assert balance(paid_top_up.organisation_id) == (0, 0)
        apply_checkout(session_id=paid_top_up.checkout_session_id, now=now())
        assert balance(paid_top_up.organisation_id) == (2_000, 0)
        assert Posting.objects.count() == 2
        assert billing_differences() == []


def run_and_die(session_id: str, *, at: str) -> int | None:
    """Apply a payment in another process, which is killed after it has written the journal."""
    connections.close_all()
    process = get_context("fork").Process(target=_apply_and_die, args=(session_id, at))
    process.start()
    process.join(timeout=30)
    return process.exitcode


def _apply_and_die(session_id: str, at: str) -> None:
    from unittest.mock import patch

    from billing.operations.journals import write_journals

    def write_and_die(**arguments: object) -> None:
        write_journals(**arguments)  # type: ignore[arg-type]  # passed on as they came
        os.kill(os.getpid(), signal.SIGKILL)

    with patch(at, write_and_die):
        apply_checkout(session_id=session_id, now=T0)


def wait_until_forgotten() -> bool:
    """Wait until the server has noticed that the killed worker is gone."""
    with connection.cursor() as cursor:
        for _ in range(100):
            cursor.execute(
                "SELECT count(*) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
                " AND state LIKE 'idle in transaction%%'"
            )
            if cursor.fetchone() == (0,):
                return True
            cursor.execute("SELECT pg_sleep(0.05)")
    return False


def test_the_statement_of_a_busy_wallet_ends_at_its_balance():
    from billing.queries import statement_lines

    buyer, seller = OrganisationFactory.create(), OrganisationFactory.create()
    fund_wallet(buyer, amount_minor=10_000)
    for rental in range(8):
        hold(buyer.pk, f"bid:{rental}", 240)
    at_once(
        [
            *(
                lambda n=n: charge_hours(charges=[hour(n, 1, seller_id=seller.pk)])
                for n in range(8)
            ),
            *(lambda n=n: hold(buyer.pk, f"bid:{50 + n}", 10) for n in range(8)),
        ]
    )

    lines = statement_lines(organisation_id=buyer.pk, currency="EUR")

    wallet = Account.objects.get(organisation=buyer, kind="wallet")
    assert (lines[0].balance_minor, lines[0].held_minor) == (
        wallet.posted_minor,
        wallet.held_minor,
    )
    assert all(line.free_minor >= 0 for line in lines)
