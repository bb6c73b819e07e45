"""A payment by card becomes a balance once, whoever tells us and however often."""

import json
from datetime import timedelta

import pytest
from django.urls import reverse

from billing.models import Account, BillingProfile, Journal, Posting, StripeEvent, TopUp
from billing.operations import events
from billing.operations.accounts import account
from billing.operations.topups import (
    AmountOutOfBounds,
    BillingProfileMissing,
    KeyReused,
    PaymentMismatch,
    PaymentPageUnavailable,
    TopUpsClosed,
    UnknownCheckout,
    apply_checkout,
    set_gate,
    start_top_up,
)
from billing.operations.wallets import ledger_account, open_wallet
from billing.posting import AccountKind, AccountRef
from billing.tasks import apply_stripe_events, sweep_top_ups
from marketplace.accounts.clock import now
from marketplace.accounts.models import AuditEntry
from tests.factories import T0, MembershipFactory, post_correction
from tests.stripe_double_fixture import CARD_AUTHENTICATED, CARD_DECLINED

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("check_deferred_rules")]


@pytest.fixture(autouse=True)
def _open_gate(db):
    set_gate(is_open=True, now=T0)


@pytest.fixture
def buyer():
    member = MembershipFactory.create()
    BillingProfile.objects.create(
        organisation=member.organisation, legal_name="Buyers", country="FR", updated_at=T0
    )
    return member


def start(buyer, *, amount_minor: int = 2_000, key: str = "k1", currency: str = "EUR") -> TopUp:
    return start_top_up(
        organisation_id=buyer.organisation_id,
        user_id=buyer.user_id,
        currency=currency,
        amount_minor=amount_minor,
        key=key,
        locale="fr",
        now=T0,
    )


def open_debt(buyer, *, amount_minor: int) -> Account:
    owed = account(ref=AccountRef(AccountKind.RECEIVABLE, "EUR", buyer.organisation_id))
    clearing = ledger_account(kind=Account.Kind.STRIPE_CLEARING, currency="EUR")
    post_correction((owed, -amount_minor), (clearing, amount_minor))
    return owed


def apply(top_up: TopUp) -> TopUp:
    return apply_checkout(session_id=session_of(top_up), now=T0)


def session_of(top_up: TopUp) -> str:
    return str(top_up.checkout_session_id)


def balance(buyer, currency: str = "EUR") -> int:
    return open_wallet(organisation_id=buyer.organisation_id, currency=currency).posted_minor


def deliver(client, stripe_double, event_id: str, *, at: int | None = None):
    webhook = stripe_double.signed_webhook(event_id, at=at)
    return client.post(
        reverse("stripe-webhook"),
        data=webhook.body,
        content_type="application/json",
        headers={"stripe-signature": webhook.signature},
    )


def completed_event(stripe_double) -> str:
    return str(stripe_double.events("checkout.session.completed")[0]["id"])


class TestStart:
    def test_opens_a_payment_page_for_the_amount(self, buyer, stripe_double):
        top_up = start(buyer)

        (session,) = stripe_double.objects("checkout_sessions")
        assert (top_up.state, top_up.checkout_session_id) == ("redirected", session["id"])
        assert (session["amount_total"], session["currency"]) == (2_000, "eur")
        assert session["client_reference_id"] == str(top_up.pk)
        assert session["success_url"].endswith(f"/fr/recharger/{top_up.pk}/")
        assert top_up.checkout_url.startswith(stripe_double.url)
        assert balance(buyer) == 0

    def test_again_with_the_same_key_is_the_same_top_up(self, buyer, stripe_double):
        first = start(buyer)

        second = start(buyer)

        assert second.pk == first.pk
        assert TopUp.objects.count() == 1
        assert len(stripe_double.objects("checkout_sessions")) == 1

    def test_refuses_the_same_key_for_another_amount(self, buyer, stripe_double):
        start(buyer)

        with pytest.raises(KeyReused):
            start(buyer, amount_minor=3_000)

        assert TopUp.objects.get().amount_minor == 2_000

    @pytest.mark.parametrize("amount_minor", [999, 500_001])
    def test_refuses_amounts_outside_of_our_bounds(self, buyer, stripe_double, amount_minor):
        with pytest.raises(AmountOutOfBounds):
            start(buyer, amount_minor=amount_minor)

        assert not TopUp.objects.exists()

    def test_refuses_before_the_market_opens(self, buyer, stripe_double):
        set_gate(is_open=False, now=T0)

        with pytest.raises(TopUpsClosed):
            start(buyer)

        assert not TopUp.objects.exists()

    def test_asks_for_the_billing_profile_first(self, buyer, stripe_double):
        BillingProfile.objects.all().delete()

        with pytest.raises(BillingProfileMissing):
            start(buyer)

        assert not TopUp.objects.exists()

    def test_goes_on_with_the_same_row_after_an_outage(self, buyer, stripe_double):
        stripe_double.break_api("unavailable", calls=5, path="/v1/checkout")
        with pytest.raises(PaymentPageUnavailable):
            start(buyer)
        assert TopUp.objects.get().state == "created"
        stripe_double.calm()

        top_up = start(buyer)

        assert top_up.state == "redirected"
        assert TopUp.objects.count() == 1

    def test_finds_its_page_again_when_the_answer_was_lost(self, buyer, stripe_double):
        stripe_double.break_api("lost_reply", calls=1, path="/v1/checkout")

        start(buyer)

        assert len(stripe_double.objects("checkout_sessions")) == 1


class TestApplyCheckout:
    def test_credits_a_paid_session_against_the_providers_account(self, buyer, stripe_double):
        top_up = start(buyer)
        stripe_double.pay(session_of(top_up))

        applied = apply(top_up)

        clearing = ledger_account(kind=Account.Kind.STRIPE_CLEARING, currency="EUR")
        legs = Posting.objects.filter(journal=applied.journal_id).values_list(
            "account_id", "amount_minor"
        )
        wallet = open_wallet(organisation_id=buyer.organisation_id, currency="EUR")
        assert applied.state == "paid"
        assert applied.journal is not None
        assert applied.journal.idem_key == f"topup:{top_up.pk}"
        assert sorted(legs) == sorted([(clearing.pk, -2_000), (wallet.pk, 2_000)])
        assert wallet.posted_minor == 2_000
        assert AuditEntry.objects.filter(action="top_up.paid").count() == 1

    def test_credits_once_however_often_it_is_asked(self, buyer, stripe_double):
        top_up = start(buyer)
        stripe_double.pay(session_of(top_up))

        for _ in range(3):
            apply(top_up)

        assert balance(buyer) == 2_000
        assert Journal.objects.count() == 1

    def test_credits_a_card_that_the_bank_had_to_authenticate(self, buyer, stripe_double):
        top_up = start(buyer)
        stripe_double.pay(session_of(top_up), card=CARD_AUTHENTICATED)

        apply(top_up)

        assert balance(buyer) == 2_000

    def test_credits_nothing_while_the_page_is_open(self, buyer, stripe_double):
        top_up = start(buyer)

        applied = apply(top_up)

        assert applied.state == "redirected"
        assert balance(buyer) == 0

    def test_credits_nothing_after_a_decline(self, buyer, stripe_double):
        top_up = start(buyer)
        page = stripe_double.pay(session_of(top_up), card=CARD_DECLINED)

        applied = apply(top_up)

        assert "refusée" in page.alert
        assert applied.state == "redirected"
        assert balance(buyer) == 0

    def test_repays_what_the_customer_owes_first(self, buyer, stripe_double):
        owed = open_debt(buyer, amount_minor=500)
        top_up = start(buyer)
        stripe_double.pay(session_of(top_up))

        apply(top_up)

        owed.refresh_from_db()
        assert (owed.posted_minor, balance(buyer)) == (0, 1_500)

    def test_lets_a_debt_take_all_of_it(self, buyer, stripe_double):
        owed = open_debt(buyer, amount_minor=5_000)
        top_up = start(buyer)
        stripe_double.pay(session_of(top_up))

        apply(top_up)

        owed.refresh_from_db()
        assert (owed.posted_minor, balance(buyer)) == (-3_000, 0)

    @pytest.mark.parametrize("change", [{"amount_minor": 1_900}, {"currency": "USD"}])
    def test_credits_nothing_when_the_payment_is_not_ours(self, buyer, stripe_double, change):
        top_up = start(buyer)
        stripe_double.pay(session_of(top_up))
        TopUp.objects.update(**change)

        with pytest.raises(PaymentMismatch):
            apply(top_up)

        assert TopUp.objects.get().state == "redirected"
        assert not Journal.objects.exists()

    def test_credits_nothing_for_another_session_with_our_number(self, buyer, stripe_double):
        top_up = start(buyer)
        stripe_double.pay(session_of(top_up))
        TopUp.objects.update(checkout_session_id="cs_test_other")

        with pytest.raises(PaymentMismatch):
            apply(top_up)

        assert not Journal.objects.exists()

    def test_knows_no_session_of_a_row_that_is_gone(self, buyer, stripe_double):
        top_up = start(buyer)
        TopUp.objects.all().delete()

        with pytest.raises(UnknownCheckout):
            apply(top_up)

    def test_finds_the_row_when_the_session_was_never_written_down(self, buyer, stripe_double):
        top_up = start(buyer)
        session_id = session_of(top_up)
        stripe_double.pay(session_id)
        TopUp.objects.update(checkout_session_id=None, checkout_url="", state="created")

        applied = apply_checkout(session_id=session_id, now=T0)

        assert (applied.state, applied.checkout_session_id) == ("paid", session_id)
        assert balance(buyer) == 2_000


class TestWebhook:
    def test_is_kept_and_applied_by_the_task(self, client, buyer, stripe_double):
        top_up = start(buyer)
        stripe_double.pay(session_of(top_up))

        answer = deliver(client, stripe_double, completed_event(stripe_double))

        assert answer.status_code == 200
        assert balance(buyer) == 0
        apply_stripe_events()
        assert balance(buyer) == 2_000
        assert StripeEvent.objects.get().processed_at is not None

    def test_that_comes_twice_is_kept_once(self, client, buyer, stripe_double):
        top_up = start(buyer)
        stripe_double.pay(session_of(top_up))
        event = completed_event(stripe_double)

        statuses = [deliver(client, stripe_double, event).status_code for _ in range(2)]
        apply_stripe_events()
        deliver(client, stripe_double, event)
        apply_stripe_events()

        assert statuses == [200, 200]
        assert StripeEvent.objects.count() == 1
        assert balance(buyer) == 2_000

    @pytest.mark.parametrize("signature", ["", "t=1,v1=00", "nonsense"])
    def test_of_a_stranger_is_refused_and_forgotten(self, client, stripe_double, signature):
        answer = client.post(
            reverse("stripe-webhook"),
            data=json.dumps({"id": "evt_1", "type": "checkout.session.completed"}),
            content_type="application/json",
            headers={"stripe-signature": signature},
        )

        assert answer.status_code == 400
        assert not StripeEvent.objects.exists()

    def test_that_is_an_old_recording_is_refused(self, client, buyer, stripe_double):
        top_up = start(buyer)
        stripe_double.pay(session_of(top_up))

        answer = deliver(client, stripe_double, completed_event(stripe_double), at=1_700_000_000)

        assert answer.status_code == 400
        assert not StripeEvent.objects.exists()

    def test_of_the_other_mode_is_refused(self, client, buyer, stripe_double, settings):
        top_up = start(buyer)
        stripe_double.pay(session_of(top_up))
        settings.STRIPE_LIVEMODE = True

        assert deliver(client, stripe_double, completed_event(stripe_double)).status_code == 400
        assert not StripeEvent.objects.exists()

    def test_that_is_not_utf8_is_refused(self, client, stripe_double):
        answer = client.post(
            reverse("stripe-webhook"), data=b"\xff\xfe\x00", content_type="application/json"
        )

        assert answer.status_code == 400

    def test_cannot_be_read(self, client):
        assert client.get(reverse("stripe-webhook")).status_code == 405

    def test_of_a_type_that_we_do_not_use_is_done_with(self, client, buyer, stripe_double):
        top_up = start(buyer)
        stripe_double.pay(session_of(top_up))
        other = next(e for e in stripe_double.events() if e["type"] not in events.CHECKOUT_EVENTS)

        deliver(client, stripe_double, other["id"])
        apply_stripe_events()

        assert StripeEvent.objects.get().processed_at is not None
        assert balance(buyer) == 0


class TestEvents:
    def test_that_cannot_be_applied_are_kept_with_the_reason_and_tried_again(
        self, client, buyer, stripe_double
    ):
        top_up = start(buyer)
        stripe_double.pay(session_of(top_up))
        deliver(client, stripe_double, completed_event(stripe_double))
        stripe_double.break_api("unavailable", calls=9)

        assert apply_stripe_events() == 0
        event = StripeEvent.objects.get()
        assert (event.processed_at, event.attempts) == (None, 1)
        assert event.error.startswith("GatewayUnavailable")
        assert balance(buyer) == 0

        stripe_double.calm()
        StripeEvent.objects.update(due_at=now())
        assert apply_stripe_events() == 1
        event.refresh_from_db()
        assert (event.error, event.attempts) == ("", 2)
        assert balance(buyer) == 2_000

    def test_of_an_unexpected_failure_do_not_keep_the_others_waiting(
        self, client, buyer, stripe_double
    ):
        top_up = start(buyer)
        stripe_double.pay(session_of(top_up))
        StripeEvent.objects.create(
            event_id="evt_broken",
            type="checkout.session.completed",
            object_id="cs_unknown",
            payload={},
            received_at=T0,
            due_at=T0,
        )
        deliver(client, stripe_double, completed_event(stripe_double))

        assert apply_stripe_events() == 1

        broken = StripeEvent.objects.get(pk="evt_broken")
        assert (broken.processed_at, broken.error[:14]) == (None, "GatewayRefused")
        assert balance(buyer) == 2_000

    def test_are_left_alone_while_another_worker_has_them(self, client, buyer, stripe_double):
        top_up = start(buyer)
        stripe_double.pay(session_of(top_up))
        deliver(client, stripe_double, completed_event(stripe_double))
        at = now()

        first = events.claim_events(now=at)
        second = events.claim_events(now=at)
        later = events.claim_events(now=at + events.LEASE)

        assert [len(claimed) for claimed in (first, second, later)] == [1, 0, 1]


class TestSweep:
    def test_credits_what_no_webhook_told(self, buyer, stripe_double):
        top_up = start(buyer)
        stripe_double.pay(session_of(top_up))

        settled = sweep_top_ups()

        assert settled == 1
        assert balance(buyer) == 2_000

    def test_stores_the_events_that_were_missed(self, buyer, stripe_double):
        top_up = start(buyer)
        stripe_double.pay(session_of(top_up))

        events.fetch_missed_events(now=now())
        apply_stripe_events()

        assert StripeEvent.objects.count() == len(stripe_double.events())
        assert balance(buyer) == 2_000

    def test_leaves_a_payment_of_this_moment_to_its_webhook(self, buyer, stripe_double):
        top_up = start(buyer)
        stripe_double.pay(session_of(top_up))

        events.sweep_top_ups(now=T0 + timedelta(seconds=29))

        assert balance(buyer) == 0

    def test_goes_on_after_one_that_cannot_be_asked(self, buyer, stripe_double):
        lost, paid = start(buyer), start(buyer, key="k2")
        stripe_double.pay(session_of(paid))
        TopUp.objects.filter(pk=lost.pk).update(checkout_session_id="cs_test_gone")

        settled = events.sweep_top_ups(now=T0 + timedelta(minutes=5))

        assert settled == 1
        assert balance(buyer) == 2_000

    def test_gives_up_a_row_that_never_got_a_page(self, buyer, stripe_double):
        stripe_double.break_api("unavailable", calls=5)
        with pytest.raises(PaymentPageUnavailable):
            start(buyer)
        stripe_double.calm()

        events.sweep_top_ups(now=T0 + timedelta(hours=26))

        assert TopUp.objects.get().state == "expired"
