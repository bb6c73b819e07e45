"""Handing over and keys: addresses that lead inside, commands in names, private keys."""

import pytest
from django.test import Client

from marketplace.accounts.models import AuditEntry, SshKey
from marketplace.models import Bid, Rental
from tests.builders import FINGERPRINT
from tests.functional.typed_forms import accepted, errors_of, review_address
from tests.functional.whole_market import (
    HOST,
    WholeMarket,
    address_of,
    counted,
    make_whole_market,
)

pytestmark = pytest.mark.django_db

BODY = "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gt"
# No key: the shapes alone matter.
PRIVATE_KEYS = (
    f"-----BEGIN OPENSSH PRIVATE KEY-----\n{BODY}\n-----END OPENSSH PRIVATE KEY-----",
    f"-----BEGIN OPENSSH PRIVATE KEY----- {BODY}",
    BODY,
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEAwzebra\n-----END RSA PRIVATE KEY-----",
    "MIIEpAIBAAKCAQEAwzebraNotAKeyAtAllButOfItsShape",
    "-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIIFHDBOzebra",
    "PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nComment: zebra",
    f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5 -----BEGIN PRIVATE KEY----- {BODY}",
    "-----BEGIN RSA PRIVATE KEY-----\n" + "zebra" * 5_000,
)

LEAD_INSIDE = (
    "127.0.0.1",
    "127.1",
    "0.0.0.0",
    "0",
    "2130706433",
    "0x7f000001",
    "0177.0.0.1",
    "10.0.0.1",
    "172.16.5.4",
    "192.168.1.1",
    "100.64.0.1",
    "169.254.169.254",
    "198.18.0.1",
    "192.0.2.1",
    "224.0.0.1",
    "255.255.255.255",
    "::1",
    "[::1]",
    "::",
    "fe80::1",
    "fe80::1%eth0",
    "fc00::1",
    "fd00:ec2::254",
    "fec0::1",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "64:ff9b::7f00:1",
    "2002:7f00:1::",
    "localhost",
    "LOCALHOST",
    "localhost.",
    "localhost.localdomain",
    "db.localhost",
    "printer.local",
    "metadata.google.internal",
    "router.lan",
    "nas.home.arpa",
    "postgres",
    "ip6-localhost",
)
NO_HOSTS = (
    "",
    " ",
    "gpu example.com",
    "gpu.example.com;id",
    "$(id).example.com",
    "`id`.example.com",
    "gpu.example.com -oProxyCommand=id",
    "-oProxyCommand=id",
    "-gpu.example.com",
    "user@gpu.example.com",
    "ssh://gpu.example.com",
    "gpu.example.com:22",
    "gpu.example.com/x",
    "gpu..example.com",
    "gpu_1.example.com",
    "<b>.example.com",
    "gpu.example.com\nHost: x",
    "é.example.com",
    "💻.example.com",
    "x" * 64 + ".example.com",
    "x." * 200,
)
BREAK_THE_COMMAND = (
    ("username", ""),
    ("username", "-oProxyCommand=id"),
    ("username", "--help"),
    ("username", "root;id"),
    ("username", "$(id)"),
    ("username", "a b"),
    ("username", "root@evil.example"),
    ("username", "été"),
    ("username", "x" * 33),
    ("port", ""),
    ("port", "0"),
    ("port", "-22"),
    ("port", "65536"),
    ("port", "22; id"),
    ("port", "99999999999999999999"),
    ("host_key_fingerprint", ""),
    ("host_key_fingerprint", "SHA256:"),
    ("host_key_fingerprint", "SHA256:" + "A" * 42),
    ("host_key_fingerprint", "SHA256:" + "A" * 44),
    ("host_key_fingerprint", "SHA256:" + "!" * 43),
    ("host_key_fingerprint", "MD5:" + ":".join(["aa"] * 16)),
    ("host_key_fingerprint", "sha256:" + "A" * 43),
    ("host_key_fingerprint", "x" * 5_000),
)


@pytest.fixture
def market() -> WholeMarket:
    made = make_whole_market()
    Rental.objects.filter(pk=made.rental.pk).update(ready_at=None, access_opened_at=None)
    return made


@pytest.fixture
def seller(market) -> Client:
    return market.browser_of("seller")


def hand_over(market, seller: Client, **changes: object):
    form = {
        "host": "gpu.example.com",
        "port": 22,
        "username": "root",
        "host_key_fingerprint": FINGERPRINT,
    }
    return seller.post(address_of("marketplace:sale", market.rental.pk), form | changes)


class TestHandOver:
    def test_addresses_that_lead_inside_are_refused(self, market, seller, settings):
        settings.PROBE_ALLOW_PRIVATE = False
        before = counted()

        for host in LEAD_INSIDE:
            answer = hand_over(market, seller, host=host)
            assert (host, list(errors_of(answer))) == (host, ["host"])

        assert counted() == before

    def test_what_is_no_host_is_refused(self, market, seller):
        before = counted()

        for host in NO_HOSTS:
            answer = hand_over(market, seller, host=host)
            assert (host, list(errors_of(answer))) == (host, ["host"])

        assert counted() == before

    def test_what_would_break_the_shown_command_is_refused(self, market, seller):
        before = counted()

        for field, value in BREAK_THE_COMMAND:
            answer = hand_over(market, seller, **{field: value})
            assert (value, list(errors_of(answer))) == (value, [field])

        assert counted() == before

    def test_the_whole_line_of_ssh_keygen_may_be_pasted(self, market, seller):
        line = f"256 {FINGERPRINT} root@gpu-1.example.com (ED25519)"

        answer = hand_over(market, seller, host_key_fingerprint=line)

        assert answer.status_code == 302
        market.rental.refresh_from_db()
        assert market.rental.host_key_fingerprint == FINGERPRINT

    def test_a_sellers_viewer_hands_nothing_over(self, market):
        market.sellers.memberships.update(role="viewer")
        before = counted()

        answer = hand_over(market, market.browser_of("seller"))

        assert answer.status_code == 404
        assert counted() == before

    def test_details_of_a_ready_machine_stay(self, market, seller):
        from marketplace.accounts.clock import now

        Rental.objects.filter(pk=market.rental.pk).update(ready_at=now())
        before = counted()

        answer = hand_over(market, seller, host="other.example.com")

        assert errors_of(answer) == {
            "host": ["The machine is ready: its access details are settled."]
        }
        assert counted() == before
        market.rental.refresh_from_db()
        assert market.rental.host == HOST


class TestPrivateKeys:
    """A private key pasted by mistake is refused, and neither stored nor sent back."""

    def refused(self, answer, text: str, *, field: str) -> None:
        page = answer.content.decode()
        assert "This is a private key: never paste it anywhere." in errors_of(answer)[field][0]
        # Whatever of it is longer than a word.
        assert [line for line in text.split() if len(line) > 20 and line in page] == []

    def test_among_the_keys(self, market):
        page, client = address_of("accounts:keys"), market.browser_of("buyer")
        before = counted()

        for text in PRIVATE_KEYS:
            answer = client.post(page, {"name": "laptop", "public_key": text})
            self.refused(answer, text, field="public_key")

        assert counted() == before

    def test_in_an_order(self, market):
        client = market.browser_of("buyer")
        before = counted()

        for text in PRIVATE_KEYS:
            answer = client.post(review_address(), accepted(new_key=text))
            self.refused(answer, text, field="new_key")

        assert counted() == before

    def test_as_a_fingerprint(self, market, seller):
        before = counted()

        for text in PRIVATE_KEYS:
            answer = hand_over(market, seller, host_key_fingerprint=text)
            self.refused(answer, text, field="host_key_fingerprint")

        assert counted() == before


class TestPublicKeys:
    def test_a_refused_public_key_may_be_mended_where_it_was_typed(self, market):
        typed = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJxw customer"

        answer = market.browser_of("buyer").post(
            address_of("accounts:keys"), {"name": "laptop", "public_key": typed}
        )

        assert typed in answer.content.decode()

    @pytest.mark.parametrize("text", ["ssh-dss AAAA", "x", "ssh-ed25519", "ssh-rsa " + "A" * 9_000])
    def test_what_is_no_key_is_not_kept(self, market, text):
        before = counted()
        acts = AuditEntry.objects.count()

        answer = market.browser_of("buyer").post(
            address_of("accounts:keys"), {"name": "laptop", "public_key": text}
        )

        assert list(errors_of(answer)) == ["public_key"]
        assert (counted(), AuditEntry.objects.count()) == (before, acts)

    def test_a_key_added_twice_is_kept_once(self, market):
        client = market.browser_of("buyer")

        answer = client.post(
            address_of("accounts:keys"), {"name": "again", "public_key": market.key.public_key}
        )

        assert errors_of(answer) == {"public_key": ["You have added this key already."]}
        assert (SshKey.objects.count(), Bid.objects.count()) == (1, 2)
