"""The probe against real SSH servers on this machine, and against what is none."""

import asyncio
import ipaddress
from collections.abc import Awaitable, Callable

import asyncssh
import pytest

from marketplace.gateways import ssh_probe
from marketplace.gateways.ssh_probe import (
    ProbeError,
    ProbeResult,
    ProbeTarget,
    is_public,
    probe_hosts,
)
from tests.loops import run_apart

HOST = "127.0.0.1"
ED25519 = asyncssh.generate_private_key("ssh-ed25519")
ECDSA = asyncssh.generate_private_key("ecdsa-sha2-nistp256")
OTHER = asyncssh.generate_private_key("ssh-ed25519").get_fingerprint()


class NoVisitors(asyncssh.SSHServer):
    """Counts who tries to sign in: the probe must not."""

    sign_ins = 0

    def begin_auth(self, username: str) -> bool:
        NoVisitors.sign_ins += 1
        return True


async def look(port: int, fingerprint: str, host: str = HOST) -> ProbeResult:
    target = ProbeTarget(host=host, port=port, fingerprint=fingerprint)
    return (await probe_hosts(targets={1: target}))[1]


async def with_ssh_server(
    keys: list[asyncssh.SSHKey], act: Callable[[int], Awaitable[ProbeResult]]
) -> ProbeResult:
    server = await asyncssh.listen(
        HOST, 0, server_factory=NoVisitors, server_host_keys=keys, config=None
    )
    try:
        return await act(server.get_port())
    finally:
        server.close()
        await server.wait_closed()


async def with_server(
    reply: bytes | None, act: Callable[[int], Awaitable[ProbeResult]]
) -> ProbeResult:
    """Run ``act`` beside a server that says ``reply``, or nothing at all, and then waits."""
    done = asyncio.Event()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if reply is not None:
            writer.write(reply)
        await done.wait()
        writer.close()

    server = await asyncio.start_server(answer, HOST, 0)
    async with server:
        result = await act(server.sockets[0].getsockname()[1])
        done.set()
        return result


def test_a_machine_with_the_expected_host_key_is_ready():
    expected = ED25519.get_fingerprint()

    result = run_apart(with_ssh_server([ED25519], lambda port: look(port, expected)))

    assert result == ProbeResult(is_ready=True, fingerprint=expected)


def test_nobody_signs_in():
    NoVisitors.sign_ins = 0

    run_apart(with_ssh_server([ED25519], lambda port: look(port, ED25519.get_fingerprint())))

    assert NoVisitors.sign_ins == 0


def test_each_kind_of_key_is_asked_for():
    expected = ECDSA.get_fingerprint()

    result = run_apart(with_ssh_server([ED25519, ECDSA], lambda port: look(port, expected)))

    assert result == ProbeResult(is_ready=True, fingerprint=expected)


def test_another_host_key_is_told_with_the_key_that_was_shown():
    result = run_apart(with_ssh_server([ED25519], lambda port: look(port, OTHER)))

    assert result == ProbeResult(
        is_ready=False, error=ProbeError.OTHER_HOST_KEY, fingerprint=ED25519.get_fingerprint()
    )


def test_a_closed_port_is_told():
    async def closed_port() -> ProbeResult:
        server = await asyncio.start_server(lambda r, w: None, HOST, 0)
        port = server.sockets[0].getsockname()[1]
        server.close()
        await server.wait_closed()
        return await look(port, OTHER)

    assert run_apart(closed_port()).error == ProbeError.CONNECTION_REFUSED


def test_a_server_of_something_else_is_told():
    reply = b"HTTP/1.1 400 Bad Request\r\n" + b"x" * 9000 + b"\r\n"

    result = run_apart(with_server(reply, lambda port: look(port, OTHER)))

    assert result == ProbeResult(is_ready=False, error=ProbeError.NOT_SSH)


def test_a_silent_server_costs_no_more_than_the_time_limit(monkeypatch):
    monkeypatch.setattr(ssh_probe, "PROBE_TIMEOUT_SECONDS", 0.2)

    result = run_apart(with_server(None, lambda port: look(port, OTHER)))

    assert result == ProbeResult(is_ready=False, error=ProbeError.NO_ANSWER)


def test_a_name_that_does_not_exist_is_told(monkeypatch):
    def fail(*args: object, **kwargs: object) -> None:
        raise ssh_probe.socket.gaierror

    monkeypatch.setattr(ssh_probe.socket, "getaddrinfo", fail)

    assert run_apart(look(22, OTHER, host="nowhere.invalid")).error == ProbeError.UNKNOWN_HOST


class TestPrivateAddresses:
    @pytest.fixture(autouse=True)
    def _as_in_production(self, settings):
        settings.PROBE_ALLOW_PRIVATE = False

    def test_this_machine_is_refused_without_a_connection(self):
        expected = ED25519.get_fingerprint()

        result = run_apart(with_ssh_server([ED25519], lambda port: look(port, expected)))

        assert result == ProbeResult(is_ready=False, error=ProbeError.ADDRESS_REFUSED)

    def test_a_name_with_one_private_address_among_public_ones_is_refused(self, monkeypatch):
        monkeypatch.setattr(ssh_probe, "_look_up", lambda host, port: ["8.8.8.8", "10.0.0.1"])

        result = run_apart(look(22, OTHER, host="two-faced.example"))

        assert result == ProbeResult(is_ready=False, error=ProbeError.ADDRESS_REFUSED)

    @pytest.mark.parametrize(
        "text",
        [
            "127.0.0.1",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "0.0.0.0",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "::1",
            "::",
            "fe80::1",
            "fc00::1",
            "fec0::1",
            "ff0e::1",
            "2001:db8::1",
            "::ffff:127.0.0.1",
            "64:ff9b::7f00:1",
            "2002:7f00:1::",
        ],
    )
    def test_no_address_of_a_private_network_is_public(self, text):
        assert not is_public(ipaddress.ip_address(text))

    @pytest.mark.parametrize("text", ["8.8.8.8", "2606:4700::1111", "64:ff9b::808:808"])
    def test_addresses_of_the_internet_are_public(self, text):
        assert is_public(ipaddress.ip_address(text))


def test_every_error_has_words_for_the_seller():
    from marketplace.models import Rental

    assert set(Rental.ProbeError.values) == {error.value for error in ProbeError}
