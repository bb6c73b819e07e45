"""The double as a process of its own: its line, its switches, its memory."""

import http.client
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import stripe

from billing.gateways.stripe_double import DoubleConfig, LiveKeyRefused
from tests.stripe_double_fixture import DoubleHandle, running_double
from tests.unit.stripe_double.orders import open_session, sdk_client, session_form
from tests.unit.stripe_double.receiver import running_receiver

MODULE = "billing.gateways.stripe_double"


@contextmanager
def process(*arguments: str) -> Iterator[str]:
    child = subprocess.Popen(
        [sys.executable, "-m", MODULE, "--port", "0", *arguments],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    try:
        yield child.stdout.readline().strip()
    finally:
        child.terminate()
        child.wait(timeout=10)
        child.stdout.close()


def ask(double: DoubleHandle, method: str, path: str, body: Any = None) -> tuple[int, Any]:
    parts = urlsplit(double.url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=10)
    headers = {"Authorization": f"Bearer {double.api_key}"}
    try:
        connection.request(method, path, body=json.dumps(body or {}), headers=headers)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        connection.close()


class TestProcess:
    def test_prints_its_address_and_answers_there(self) -> None:
        with process() as url:
            client: Any = stripe.StripeClient("sk_test_double", base_addresses={"api": url})

            session = client.v1.checkout.sessions.create(session_form())

        assert url.startswith("http://127.0.0.1:")
        assert session.status == "open"

    def test_does_not_import_django(self) -> None:
        script = (
            f"import {MODULE}, sys; sys.exit('django' in sys.modules or 'stripe' in sys.modules)"
        )

        assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0

    def test_refuses_to_start_with_a_live_key(self) -> None:
        command = [sys.executable, "-m", MODULE, "--api-key", "sk_live_x"]

        refused = subprocess.run(command, capture_output=True, text=True, check=False)

        assert refused.returncode == 2
        assert "A live key was given" in refused.stderr
        with pytest.raises(LiveKeyRefused):
            DoubleConfig(api_key="rk_live_x")

    def test_says_when_the_port_is_taken(self, double: DoubleHandle) -> None:
        port = str(urlsplit(double.url).port)
        command = [sys.executable, "-m", MODULE, "--port", port]

        refused = subprocess.run(command, capture_output=True, text=True, check=False)

        assert refused.returncode == 1
        assert f"Cannot listen on 127.0.0.1:{port}" in refused.stderr


class TestMemory:
    def test_a_restart_keeps_sessions_payments_and_keys(self, tmp_path: Path) -> None:
        state = tmp_path / "stripe.jsonl"
        with running_double(state_file=state) as before:
            client = sdk_client(before)
            client.v1.checkout.sessions.create(session_form(), {"idempotency_key": "k1"})
            paid = open_session(client)
            before.pay(paid.id)

        with running_double(state_file=state) as after:
            client = sdk_client(after)
            again = client.v1.checkout.sessions.create(session_form(), {"idempotency_key": "k1"})
            known = client.v1.checkout.sessions.retrieve(paid.id)
            refund = client.v1.refunds.create({"payment_intent": known.payment_intent})

        assert again.last_response.headers["Idempotent-Replayed"] == "true"
        assert known.payment_status == "paid"
        assert refund.amount == 2_000

    def test_a_half_written_last_line_is_forgotten(self, tmp_path: Path) -> None:
        state = tmp_path / "stripe.jsonl"
        with running_double(state_file=state) as before:
            session = open_session(sdk_client(before))
        with state.open("a", encoding="utf-8") as file:
            file.write('{"collection": "che')

        with running_double(state_file=state) as after:
            assert sdk_client(after).v1.checkout.sessions.retrieve(session.id).status == "open"

    def test_a_restart_sends_what_was_not_delivered(self, tmp_path: Path) -> None:
        state = tmp_path / "stripe.jsonl"
        with running_receiver() as gone:
            address = gone.url
        with running_double(state_file=state, webhook_url=address) as before:
            sdk_client(before).v1.customers.create({})

        with (
            running_receiver() as receiver,
            running_double(state_file=state, webhook_url=receiver.url) as after,
        ):
            assert after.wait_for_webhooks()

            assert receiver.types == ["customer.created"]


class TestSwitches:
    def test_webhooks_can_be_dropped_and_sent_again(self, double: DoubleHandle) -> None:
        with running_receiver() as receiver:
            double.send_webhooks_to(receiver.url)
            assert ask(double, "POST", "/_double/webhooks", {"mode": "drop"})[0] == 200
            sdk_client(double).v1.customers.create({})
            event_id = double.events()[0]["id"]

            sent = ask(double, "POST", f"/_double/events/{event_id}/resend", {"copies": 2})

            assert sent == (200, {"statuses": [200, 200]})
            assert receiver.types == ["customer.created"] * 2

    def test_the_api_can_be_broken_and_calmed(self, double: DoubleHandle) -> None:
        assert ask(double, "POST", "/_double/api", {"fault": "error", "calls": 9})[0] == 200
        with pytest.raises(stripe.APIError):
            open_session(sdk_client(double))

        status, switches = ask(double, "POST", "/_double/calm")

        assert (status, switches["api"]) == (200, None)
        assert open_session(sdk_client(double)).status == "open"

    def test_the_state_shows_objects_deliveries_and_switches(self, double: DoubleHandle) -> None:
        session = open_session(sdk_client(double))

        status, state = ask(double, "GET", "/_double/state")

        assert status == 200
        assert [found["id"] for found in state["objects"]["checkout_sessions"]] == [session.id]
        assert state["deliveries"] == []
        assert state["chaos"]["webhooks"]["mode"] == "normal"

    def test_a_reset_empties_the_double(self, double: DoubleHandle) -> None:
        open_session(sdk_client(double))

        assert ask(double, "POST", "/_double/reset")[0] == 200

        assert double.objects("checkout_sessions") == []

    def test_fees_and_refunds_can_be_settled_later(self, double: DoubleHandle) -> None:
        client = sdk_client(double)
        ask(double, "POST", "/_double/fees", {"late": True})
        double.pay(open_session(client).id, "4000 0000 0000 7726")
        (charge,) = double.objects("charges")
        refund = client.v1.refunds.create({"charge": charge["id"]})

        settled = ask(double, "POST", f"/_double/charges/{charge['id']}/settle")
        ended = ask(double, "POST", f"/_double/refunds/{refund.id}/settle", {"status": "succeeded"})

        assert (settled[0], settled[1]["fee"]) == (200, 55)
        assert (ended[0], ended[1]["status"]) == (200, "succeeded")
        assert ask(double, "POST", f"/_double/charges/{charge['id']}/settle")[0] == 400

    @pytest.mark.parametrize(
        ("path", "body", "status"),
        [
            ("/_double/webhooks", {"mode": "explode"}, 400),
            ("/_double/webhooks", {"mode": "duplicate", "copies": 21}, 400),
            ("/_double/webhooks", {"mode": "delay", "delay_seconds": -1}, 400),
            ("/_double/webhooks", [], 400),
            ("/_double/api", {"fault": "slow", "calls": 0}, 400),
            ("/_double/events/evt_nobody/resend", {}, 404),
            ("/_double/nothing", {}, 404),
        ],
    )
    def test_refuses_a_switch_that_makes_no_sense(
        self, double: DoubleHandle, path: str, body: Any, status: int
    ) -> None:
        answer = ask(double, "POST", path, body or {"mode": None})

        assert answer[0] == status
        assert answer[1]["error"]["type"] == "invalid_request_error"

    def test_needs_the_key(self, double: DoubleHandle) -> None:
        parts = urlsplit(double.url)
        connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=10)
        connection.request("GET", "/_double/state")

        status = connection.getresponse().status

        connection.close()
        assert status == 401


class TestBadBytes:
    @pytest.mark.parametrize(
        ("body", "headers", "status"),
        [
            (b"a=" + b"x" * 70_000, {}, 413),
            (b"\xff\xfe", {}, 400),
            (b"mode[a][b][c][d][e][f][g]=1", {}, 400),
            (b"mode=a&mode[b]=c", {}, 400),
            (b"", {"Content-Length": "many"}, 400),
        ],
    )
    def test_are_refused(
        self, double: DoubleHandle, body: bytes, headers: dict[str, str], status: int
    ) -> None:
        parts = urlsplit(double.url)
        connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=10)
        key = {"Authorization": f"Bearer {double.api_key}"}
        try:
            connection.request("POST", "/v1/checkout/sessions", body=body, headers=key | headers)
            answer = connection.getresponse()
            document = json.loads(answer.read())
        finally:
            connection.close()

        assert answer.status == status
        assert document["error"]["type"] == "invalid_request_error"
