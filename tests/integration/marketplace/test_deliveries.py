"""Handing over a machine: who may, when, and what is refused."""

from dataclasses import replace
from datetime import timedelta

import pytest

from marketplace.accounts.models import AuditEntry
from marketplace.models import Rental
from marketplace.operations.deliveries import (
    AddressRefused,
    AlreadyReady,
    HandOver,
    HandOverRefused,
    RentalNotFound,
    check_access,
    hand_over,
)
from marketplace.operations.rentals import sweep_rentals
from tests.builders import FINGERPRINT, sell
from tests.exchange import make_customer
from tests.factories import T0

P = T0 + timedelta(hours=2)
ACCESS = HandOver(
    host="gpu1.example.com", port=22, username="ubuntu", host_key_fingerprint=FINGERPRINT
)


def give(rental: Rental, now=P, access: HandOver = ACCESS, organisation_id: int | None = None):
    return hand_over(
        rental_id=rental.pk,
        organisation_id=organisation_id or rental.fill.seller_id,
        actor_id=rental.fill.bid.placed_by_id,
        access=access,
        now=now,
    )


class TestAccessDetails:
    @pytest.mark.parametrize("host", ["gpu1.example.com", "GPU1.example.com.", " 8.8.8.8 "])
    def test_a_name_or_an_address_is_kept_in_one_form(self, host):
        kept = {"gpu1.example.com", "8.8.8.8"}
        assert check_access(replace(ACCESS, host=host)).host in kept

    @pytest.mark.parametrize(
        "host",
        [
            "",
            "gpu 1",
            "https://gpu1.example.com",
            "gpu1.example.com:22",
            "-gpu.example.com",
            "user@gpu.example.com",
            "a" * 64 + ".example.com",
            "a." * 130,
            "127.1",
            "127.1.",
            "0x7f.1",
            "2130706433",
            "gpu\u0661.example.com",
            "fe80::1%eth0",
            "gpu..example.com",
        ],
    )
    def test_what_is_no_host_is_refused(self, host):
        with pytest.raises(AddressRefused) as refused:
            check_access(replace(ACCESS, host=host))
        assert refused.value.field == "host"

    @pytest.mark.parametrize(
        "host", ["127.0.0.1", "10.0.0.1", "169.254.169.254", "[::1]", "localhost", "LOCALHOST."]
    )
    def test_private_addresses_are_refused(self, host, settings):
        settings.PROBE_ALLOW_PRIVATE = False

        with pytest.raises(AddressRefused, match="can be reached from the Internet"):
            check_access(replace(ACCESS, host=host))

    def test_private_addresses_serve_demo_and_tests(self):
        assert check_access(replace(ACCESS, host="127.0.0.1")).host == "127.0.0.1"

    @pytest.mark.parametrize("port", [0, -1, 65_536])
    def test_what_is_no_port_is_refused(self, port):
        with pytest.raises(HandOverRefused) as refused:
            check_access(replace(ACCESS, port=port))
        assert refused.value.field == "port"

    @pytest.mark.parametrize("username", ["", "a b", "-oProxyCommand=x", "a" * 33, "root;id"])
    def test_what_is_no_user_name_is_refused(self, username):
        with pytest.raises(HandOverRefused) as refused:
            check_access(replace(ACCESS, username=username))
        assert refused.value.field == "username"

    @pytest.mark.parametrize(
        "fingerprint", ["", "SHA256:short", "MD5:aa:bb", "A" * 43, FINGERPRINT + "A"]
    )
    def test_what_is_no_fingerprint_is_refused(self, fingerprint):
        with pytest.raises(HandOverRefused) as refused:
            check_access(replace(ACCESS, host_key_fingerprint=fingerprint))
        assert refused.value.field == "host_key_fingerprint"

    @pytest.mark.parametrize(
        "typed", [f" {FINGERPRINT} ", f"256 {FINGERPRINT} root@gpu1 (ED25519)", FINGERPRINT + "="]
    )
    def test_the_line_that_ssh_keygen_prints_may_be_pasted(self, typed):
        checked = check_access(replace(ACCESS, host_key_fingerprint=typed))
        assert checked.host_key_fingerprint == FINGERPRINT


@pytest.mark.django_db
class TestHandOver:
    def test_has_the_machine_checked_at_once_when_the_set_up_has_begun(self):
        rental = sell()
        sweep_rentals(now=P - timedelta(minutes=60))

        give(rental, now=P - timedelta(minutes=50))

        rental.refresh_from_db()
        assert (rental.host, rental.port, rental.username) == ("gpu1.example.com", 22, "ubuntu")
        assert rental.next_probe_at == P - timedelta(minutes=50)
        assert AuditEntry.objects.filter(action="rental.hand_over").count() == 1

    def test_before_the_set_up_has_the_machine_checked_when_it_begins(self):
        rental = sell()

        give(rental, now=T0)

        rental.refresh_from_db()
        before = rental.next_probe_at
        sweep_rentals(now=P - timedelta(minutes=59))
        rental.refresh_from_db()
        assert before is None
        assert rental.next_probe_at == P - timedelta(minutes=59)

    def test_may_be_corrected_until_ready(self):
        rental = sell()
        give(rental, now=T0)

        give(rental, now=T0, access=replace(ACCESS, port=2222))

        rental.refresh_from_db()
        assert rental.port == 2222

    def test_is_settled_once_ready(self):
        rental = sell()
        Rental.objects.update(ready_at=P, state="running", port=22)

        with pytest.raises(AlreadyReady):
            give(rental, access=replace(ACCESS, port=2222))

        rental.refresh_from_db()
        assert rental.port == 22

    def test_by_another_organisation_finds_nothing(self):
        rental = sell()

        with pytest.raises(RentalNotFound):
            give(rental, organisation_id=make_customer().pk)
        with pytest.raises(RentalNotFound):
            give(rental, organisation_id=rental.organisation_id)

        rental.refresh_from_db()
        assert rental.handed_over_at is None

    def test_of_a_rental_that_is_over_or_too_late_finds_nothing(self):
        rental = sell()
        with pytest.raises(RentalNotFound):
            give(rental, now=P + timedelta(minutes=15))
        Rental.objects.update(ended_at=P, end_reason="completed")

        with pytest.raises(RentalNotFound):
            give(rental, now=P)

    def test_with_wrong_details_changes_nothing(self):
        rental = sell()

        with pytest.raises(AddressRefused):
            give(rental, access=replace(ACCESS, host="no host"))

        rental.refresh_from_db()
        assert (rental.host, rental.handed_over_at) == ("", None)
        assert not AuditEntry.objects.filter(action="rental.hand_over").exists()
