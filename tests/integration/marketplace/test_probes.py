"""The heartbeat: one miss is nothing, two are a stop, and answers count once."""

import asyncio
import threading
from datetime import timedelta

import asyncssh
import pytest

from marketplace.gateways.ssh_probe import ProbeError, ProbeResult
from marketplace.models import DeliveryGap, Rental
from marketplace.operations import probes
from marketplace.operations.deliveries import HandOver, hand_over
from marketplace.operations.probes import probe_due, record_probe
from marketplace.operations.rentals import sweep_rentals
from tests.builders import FINGERPRINT, sell
from tests.factories import T0

pytestmark = pytest.mark.django_db

P = T0 + timedelta(hours=2)
GOOD = ProbeResult(is_ready=True, fingerprint=FINGERPRINT)
BAD = ProbeResult(is_ready=False, error=ProbeError.NO_ANSWER)


def at(minutes: float):
    return P + timedelta(minutes=minutes)


def handed_over(now=None, *, host="127.0.0.1", port=2222, fingerprint=FINGERPRINT) -> Rental:
    rental = sell()
    sweep_rentals(now=at(-60))
    hand_over(
        rental_id=rental.pk,
        organisation_id=rental.fill.seller_id,
        actor_id=rental.fill.bid.placed_by_id,
        access=HandOver(host=host, port=port, username="gpu", host_key_fingerprint=fingerprint),
        now=now or at(-5),
    )
    rental.refresh_from_db()
    return rental


def running() -> Rental:
    rental = handed_over()
    probe(rental, GOOD, at(-5))
    sweep_rentals(now=at(0))
    rental.refresh_from_db()
    return rental


def probe(rental: Rental, result: ProbeResult, now):
    record_probe(rental_id=rental.pk, result=result, now=now)
    rental.refresh_from_db()


class TestMisses:
    def test_one_miss_is_no_stop(self):
        rental = running()

        probe(rental, BAD, at(1))
        probe(rental, GOOD, at(2))

        assert (rental.state, rental.probe_misses) == ("running", 0)
        assert not DeliveryGap.objects.exists()

    def test_two_misses_in_a_row_are_a_stop_since_the_last_verified_moment(self):
        rental = running()
        probe(rental, GOOD, at(5))

        probe(rental, BAD, at(6))
        probe(rental, BAD, at(7))

        gap = DeliveryGap.objects.get()
        assert rental.state == Rental.State.INTERRUPTED
        assert (gap.starts_at, gap.noticed_at, gap.ends_at) == (at(5), at(7), None)
        assert gap.cause == DeliveryGap.Cause.UNKNOWN

    def test_two_misses_with_a_good_check_between_are_none(self):
        rental = running()

        for minute, result in ((1, BAD), (2, GOOD), (3, BAD)):
            probe(rental, result, at(minute))

        assert rental.state == Rental.State.RUNNING

    def test_further_misses_belong_to_the_same_stop(self):
        rental = running()

        for minute in range(1, 10):
            probe(rental, BAD, at(minute))

        assert DeliveryGap.objects.count() == 1

    def test_a_good_check_ends_the_stop(self):
        rental = running()
        for minute, result in ((1, BAD), (2, BAD), (9, GOOD)):
            probe(rental, result, at(minute))

        assert (rental.state, DeliveryGap.objects.get().ends_at) == ("running", at(9))

    def test_a_stop_before_access_keeps_it_shut_until_the_machine_is_back(self):
        rental = handed_over(now=at(-50))
        for minute, result in ((-50, GOOD), (-49, BAD), (-48, BAD)):
            probe(rental, result, at(minute))
        sweep_rentals(now=at(0))
        rental.refresh_from_db()
        before = (rental.state, rental.access_opened_at)

        probe(rental, GOOD, at(3))

        assert before == ("interrupted", None)
        assert (rental.state, rental.access_opened_at) == ("running", at(3))

    def test_time_without_checks_counts_as_delivered_when_both_ends_are_verified(self):
        rental = running()

        probe(rental, GOOD, at(50))

        assert not DeliveryGap.objects.exists()
        assert rental.last_verified_at == at(50)

    def test_one_miss_after_the_end_is_asked_again(self):
        rental = running()
        probe(rental, GOOD, at(40))

        probe(rental, BAD, at(121))
        sweep_rentals(now=at(121))
        rental.refresh_from_db()
        after_one = (rental.state, rental.next_probe_at)
        probe(rental, GOOD, at(121.2))

        assert after_one == ("running", at(121))
        assert (rental.state, rental.end_reason) == ("ended", "completed")
        assert not DeliveryGap.objects.exists()

    def test_two_misses_after_the_end_leave_the_rest_unverified(self):
        rental = running()
        probe(rental, GOOD, at(40))

        probe(rental, BAD, at(121))
        probe(rental, BAD, at(121.2))

        gap = DeliveryGap.objects.get()
        assert (rental.state, gap.starts_at, gap.ends_at) == ("ended", at(40), at(120))


class TestAnswers:
    def test_plan_the_next_check_a_minute_later(self):
        rental = running()

        probe(rental, GOOD, at(7))

        assert rental.next_probe_at == at(8)

    def test_before_ready_only_tell_what_is_wrong(self):
        rental = handed_over()

        probe(rental, BAD, at(-4))
        probe(rental, BAD, at(-3))

        assert (rental.state, rental.probe_error) == ("preparing", "no_answer")
        assert not DeliveryGap.objects.exists()

    def test_about_details_that_were_corrected_since_do_not_count(self):
        rental = handed_over(now=at(-5))

        probe(rental, GOOD, at(-5) - timedelta(seconds=1))

        assert rental.ready_at is None
        assert rental.next_probe_at == at(-5)

    def test_that_come_twice_count_once(self):
        rental = running()

        probe(rental, BAD, at(1))
        probe(rental, BAD, at(1) + timedelta(seconds=1))

        assert (rental.state, rental.probe_misses) == ("running", 1)

    def test_about_a_rental_that_is_over_do_not_count(self):
        rental = running()
        Rental.objects.update(ended_at=at(5), end_reason="admin", state="ended")

        probe(rental, GOOD, at(6))

        assert (rental.state, rental.last_verified_at) == ("ended", at(-5))


class TestSweep:
    def test_looks_at_what_is_due_and_at_nothing_twice(self):
        rental = handed_over()
        seen = []

        def look(targets):
            seen.append(dict(targets))
            again = probe_due(now=at(-5), look=look) if len(seen) == 1 else None
            assert again in {0, None}
            return dict.fromkeys(targets, GOOD)

        assert probe_due(now=at(-5), look=look) == 1
        rental.refresh_from_db()
        assert len(seen) == 1
        assert (seen[0][rental.pk].host, seen[0][rental.pk].port) == ("127.0.0.1", 2222)
        assert (rental.state, rental.next_probe_at) == ("ready", at(-4))

    def test_that_dies_leaves_its_checks_to_the_next_one(self):
        rental = handed_over()

        def die(targets):
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            probe_due(now=at(-5), look=die)
        at_once = probe_due(now=at(-4.9), look=lambda t: dict.fromkeys(t, GOOD))
        later = probe_due(now=at(-4.75), look=lambda t: dict.fromkeys(t, GOOD))

        rental.refresh_from_db()
        assert (at_once, later, rental.state) == (0, 1, "ready")

    def test_writes_every_answer_though_one_cannot_be_written(self, monkeypatch, caplog):
        first, second = handed_over(), handed_over()
        record = probes.record_probe

        def fail_once(*, rental_id, result, now):
            if rental_id == first.pk:
                raise RuntimeError
            record(rental_id=rental_id, result=result, now=now)

        monkeypatch.setattr(probes, "record_probe", fail_once)

        probe_due(now=at(-5), look=lambda t: dict.fromkeys(t, GOOD))

        second.refresh_from_db()
        assert second.state == Rental.State.READY
        assert [r.message for r in caplog.records] == ["A check could not be recorded."]

    def test_verifies_a_real_machine(self, ssh_machine):
        port, fingerprint = ssh_machine
        rental = handed_over(port=port, fingerprint=fingerprint)

        probe_due(now=at(-5))

        rental.refresh_from_db()
        assert (rental.state, rental.probe_error) == ("ready", "")

    def test_refuses_a_machine_with_another_key(self, ssh_machine):
        port, _fingerprint = ssh_machine
        rental = handed_over(port=port)

        probe_due(now=at(-5))

        rental.refresh_from_db()
        assert (rental.state, rental.probe_error) == ("preparing", "other_host_key")

    def test_refuses_a_private_address(self, ssh_machine, settings):
        port, fingerprint = ssh_machine
        rental = handed_over(port=port, fingerprint=fingerprint)
        settings.PROBE_ALLOW_PRIVATE = False

        probe_due(now=at(-5))

        rental.refresh_from_db()
        assert (rental.state, rental.probe_error) == ("preparing", "address_refused")


@pytest.fixture
def ssh_machine():
    """A real SSH server on this machine: its port, and its host key's fingerprint."""
    key = asyncssh.generate_private_key("ssh-ed25519")
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    server = asyncio.run_coroutine_threadsafe(_listen(key), loop).result(5)
    yield server.get_port(), key.get_fingerprint()
    asyncio.run_coroutine_threadsafe(_close(server), loop).result(5)
    loop.call_soon_threadsafe(loop.stop)
    thread.join(5)
    loop.close()


async def _listen(key: asyncssh.SSHKey) -> asyncssh.SSHAcceptor:
    return await asyncssh.listen("127.0.0.1", 0, server_host_keys=[key], config=None)


async def _close(server: asyncssh.SSHAcceptor) -> None:
    server.close()
    await server.wait_closed()
