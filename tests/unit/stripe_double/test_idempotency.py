"""Idempotency keys and API faults, through Stripe's own SDK."""

import threading
from typing import Any

import pytest
import stripe

from billing.gateways.stripe_double import idempotency
from tests.stripe_double_fixture import DoubleHandle
from tests.unit.stripe_double.orders import open_session, sdk_client, session_form


class TestSameKey:
    def test_gives_the_first_session_again(self, client: Any, double: DoubleHandle) -> None:
        first = client.v1.checkout.sessions.create(session_form(), {"idempotency_key": "k1"})

        second = client.v1.checkout.sessions.create(session_form(), {"idempotency_key": "k1"})

        assert second.id == first.id
        assert second.last_response.headers["Idempotent-Replayed"] == "true"
        assert len(double.objects("checkout_sessions")) == 1

    def test_replays_the_answer_as_it_was_not_as_it_became(
        self, client: Any, double: DoubleHandle
    ) -> None:
        first = client.v1.checkout.sessions.create(session_form(), {"idempotency_key": "k1"})
        double.pay(first.id)

        second = client.v1.checkout.sessions.create(session_form(), {"idempotency_key": "k1"})

        assert (second.status, second.url) == ("open", first.url)

    def test_replays_a_refusal(self, client: Any, double: DoubleHandle) -> None:
        session = open_session(client)
        double.pay(session.id)
        (intent,) = double.objects("payment_intents")
        too_much = {"payment_intent": intent["id"], "amount": 2_001}
        with pytest.raises(stripe.InvalidRequestError):
            client.v1.refunds.create(too_much, {"idempotency_key": "r1"})

        with pytest.raises(stripe.InvalidRequestError) as refused:
            client.v1.refunds.create(too_much, {"idempotency_key": "r1"})

        assert (refused.value.headers or {})["Idempotent-Replayed"] == "true"
        assert refused.value.param == "amount"

    def test_does_not_remember_a_request_that_failed_validation(self, client: Any) -> None:
        with pytest.raises(stripe.InvalidRequestError):
            client.v1.checkout.sessions.create(session_form(mode=None), {"idempotency_key": "k1"})

        session = client.v1.checkout.sessions.create(session_form(), {"idempotency_key": "k1"})

        assert session.status == "open"

    def test_refuses_other_parameters(self, client: Any, double: DoubleHandle) -> None:
        client.v1.checkout.sessions.create(session_form(), {"idempotency_key": "k1"})

        with pytest.raises(stripe.IdempotencyError, match="same parameters"):
            client.v1.checkout.sessions.create(
                session_form(client_reference_id="18"), {"idempotency_key": "k1"}
            )

        assert len(double.objects("checkout_sessions")) == 1

    def test_refuses_another_endpoint(self, client: Any) -> None:
        client.v1.checkout.sessions.create(session_form(), {"idempotency_key": "k1"})

        with pytest.raises(stripe.IdempotencyError, match="same endpoint"):
            client.v1.customers.create({}, {"idempotency_key": "k1"})

    def test_is_busy_while_the_first_request_runs(self, client: Any, double: DoubleHandle) -> None:
        double.break_api("slow", delay_seconds=0.8)
        first = threading.Thread(
            target=lambda: sdk_client(double).v1.checkout.sessions.create(
                session_form(), {"idempotency_key": "k1"}
            )
        )
        first.start()
        threading.Event().wait(0.3)

        with pytest.raises(stripe.APIError) as busy:
            client.v1.checkout.sessions.create(session_form(), {"idempotency_key": "k1"})

        first.join()
        assert busy.value.error is not None
        assert (busy.value.http_status, busy.value.error.code) == (409, "idempotency_key_in_use")
        assert len(double.objects("checkout_sessions")) == 1

    def test_is_free_again_after_a_day(
        self, client: Any, double: DoubleHandle, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        first = client.v1.checkout.sessions.create(session_form(), {"idempotency_key": "k1"})
        monkeypatch.setattr(idempotency, "KEPT_SECONDS", 0)

        second = client.v1.checkout.sessions.create(session_form(), {"idempotency_key": "k1"})

        assert second.id != first.id

    def test_may_not_be_longer_than_255_characters(self, client: Any) -> None:
        with pytest.raises(stripe.InvalidRequestError, match="255"):
            client.v1.customers.create({}, {"idempotency_key": "k" * 256})

    def test_many_requests_at_once_make_one_session(self, double: DoubleHandle) -> None:
        failures: list[Exception] = []

        def create() -> None:
            try:
                sdk_client(double, retries=5).v1.checkout.sessions.create(
                    session_form(), {"idempotency_key": "k1"}
                )
            except stripe.StripeError as failed:
                failures.append(failed)

        threads = [threading.Thread(target=create) for _number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert failures == []
        assert len(double.objects("checkout_sessions")) == 1


class TestFaults:
    def test_an_error_is_remembered_under_its_key(self, client: Any, double: DoubleHandle) -> None:
        double.break_api("error")
        for _again in range(2):
            with pytest.raises(stripe.APIError) as failed:
                client.v1.checkout.sessions.create(session_form(), {"idempotency_key": "k1"})
            assert failed.value.http_status == 500

        assert double.objects("checkout_sessions") == []
        assert client.v1.checkout.sessions.create(session_form(), {"idempotency_key": "k2"}).id

    def test_the_sdk_outlives_a_short_outage(self, double: DoubleHandle) -> None:
        double.break_api("unavailable")

        session = open_session(sdk_client(double, retries=1))

        assert session.status == "open"

    def test_a_lost_reply_is_found_again_by_its_key(self, double: DoubleHandle) -> None:
        double.break_api("lost_reply")

        sdk_client(double, retries=1).v1.checkout.sessions.create(
            session_form(), {"idempotency_key": "k1"}
        )

        assert len(double.objects("checkout_sessions")) == 1

    def test_a_fault_meets_only_the_path_it_names(self, client: Any, double: DoubleHandle) -> None:
        double.break_api("error", path="/v1/refunds")

        assert open_session(client).status == "open"


class TestDoor:
    def test_refuses_a_wrong_key(self, double: DoubleHandle) -> None:
        with pytest.raises(stripe.AuthenticationError, match="Invalid API Key"):
            open_session(sdk_client(double, api_key="sk_test_other"))

    def test_refuses_a_live_key(self, double: DoubleHandle) -> None:
        with pytest.raises(stripe.AuthenticationError, match="never send it a live API key"):
            open_session(sdk_client(double, api_key="sk_live_x"))

    def test_refuses_another_release_of_the_api(self, client: Any) -> None:
        with pytest.raises(stripe.InvalidRequestError, match=r"2026-10-28\.endive"):
            client.v1.checkout.sessions.create(session_form(), {"stripe_version": "2024-06-20"})

    def test_answers_404_where_it_knows_nothing(self, client: Any) -> None:
        with pytest.raises(stripe.InvalidRequestError, match="Unrecognized request URL"):
            client.v1.products.list()
