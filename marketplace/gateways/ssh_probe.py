"""Look at a seller's machine from outside: does it speak SSH and show the expected host key.

Nothing is sent that identifies anybody: the connection ends after the key exchange, before any
user name. Names are resolved once, every address is judged, and the connection goes to an address
that was judged, so that a name cannot change in between.
"""

import asyncio
import ipaddress
import logging
import socket
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import StrEnum, unique

import asyncssh
from django.conf import settings

# The whole of one check: resolving, connecting, the key exchange of each kind of key.
PROBE_TIMEOUT_SECONDS = 5
CLIENT_VERSION = "probe"

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

# A machine has a key of each kind and shows the first kind that both sides know.
KEY_KINDS: tuple[tuple[str, ...], ...] = (
    ("ssh-ed25519",),
    ("ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521"),
    ("rsa-sha2-512", "rsa-sha2-256"),
)

# Addresses of the network's own translators, which lead to whatever IPv4 address they carry.
NAT64 = ipaddress.ip_network("64:ff9b::/96")
SITE_LOCAL = ipaddress.ip_network("fec0::/10")


# It would write each machine's address into our logs.
asyncssh.set_log_level(logging.WARNING)


@unique
class ProbeError(StrEnum):
    """Why a machine is not ready, as seen from here."""

    UNKNOWN_HOST = "unknown_host"
    ADDRESS_REFUSED = "address_refused"
    NO_ANSWER = "no_answer"
    CONNECTION_REFUSED = "connection_refused"
    NOT_SSH = "not_ssh"
    OTHER_HOST_KEY = "other_host_key"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeTarget:
    """Where to look, and the fingerprint (``SHA256:…``) that the machine should show."""

    host: str
    port: int
    fingerprint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeResult:
    """What was seen. ``error`` is empty when ready; ``fingerprint`` is the key that was shown."""

    is_ready: bool
    error: str = ""
    fingerprint: str = ""


def is_public(address: Address) -> bool:
    """Say whether an address is one of the public Internet, whatever it is wrapped in."""
    inner = _carried_address(address)
    if inner is not None:
        return is_public(inner)
    if address in SITE_LOCAL:
        return False
    refused = address.is_multicast or address.is_reserved or address.is_unspecified
    return address.is_global and not refused


def _carried_address(address: Address) -> Address | None:
    if isinstance(address, ipaddress.IPv4Address):
        return None
    if address in NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour


async def probe_host(*, target: ProbeTarget, resolver: ThreadPoolExecutor) -> ProbeResult:
    """Look at one machine. Faults of the other side are results, never exceptions."""
    try:
        async with asyncio.timeout(PROBE_TIMEOUT_SECONDS):
            return await _look(target, resolver)
    except TimeoutError:
        return _miss(ProbeError.NO_ANSWER)


def look_at(*, targets: Mapping[int, ProbeTarget]) -> dict[int, ProbeResult]:
    """Look at many machines at once, within the time limit of one; answers under the same keys."""
    # In a thread of its own: the caller's may run an event loop already.
    with ThreadPoolExecutor(max_workers=1) as runner:
        return runner.submit(asyncio.run, probe_hosts(targets=targets)).result()


async def probe_hosts(*, targets: Mapping[int, ProbeTarget]) -> dict[int, ProbeResult]:
    """Look at many machines at once; the answers come under the targets' keys."""
    # A resolver that hangs must not hold the others up, nor the end of the batch.
    resolver = ThreadPoolExecutor(max_workers=max(1, len(targets)))
    try:
        results = await asyncio.gather(
            *(probe_host(target=target, resolver=resolver) for target in targets.values())
        )
    finally:
        resolver.shutdown(wait=False, cancel_futures=True)
    return dict(zip(targets, results, strict=True))


async def _look(target: ProbeTarget, resolver: ThreadPoolExecutor) -> ProbeResult:
    try:
        addresses = await _resolve(target, resolver)
    except (OSError, UnicodeError):
        return _miss(ProbeError.UNKNOWN_HOST)
    if not settings.PROBE_ALLOW_PRIVATE and not all(map(is_public, addresses)):
        return _miss(ProbeError.ADDRESS_REFUSED)
    return await _compare_keys(target, addresses)


async def _resolve(target: ProbeTarget, resolver: ThreadPoolExecutor) -> Sequence[Address]:
    loop = asyncio.get_running_loop()
    found = await loop.run_in_executor(resolver, _look_up, target.host, target.port)
    # A scope ("fe80::1%eth0") is the resolver's word, not the machine's.
    return [ipaddress.ip_address(text.partition("%")[0]) for text in found]


def _look_up(host: str, port: int) -> list[str]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


async def _compare_keys(target: ProbeTarget, addresses: Sequence[Address]) -> ProbeResult:
    """Ask for each kind of key until the right one is shown, at the first address that answers."""
    answer = _miss(ProbeError.NO_ANSWER)
    for address in addresses:
        answer = await _compare_at(target, address)
        if answer.is_ready or answer.fingerprint:
            return answer
    return answer


async def _compare_at(target: ProbeTarget, address: Address) -> ProbeResult:
    seen = ""
    for kinds in KEY_KINDS:
        try:
            fingerprint = await _host_key(address, target.port, kinds)
        except asyncssh.KeyExchangeFailed:
            continue
        except ConnectionRefusedError:
            return _miss(ProbeError.CONNECTION_REFUSED)
        except asyncssh.Error:
            # A machine that showed a key before is SSH, even when it drops a later question.
            break
        except OSError:
            if not seen:
                return _miss(ProbeError.NO_ANSWER)
            break
        if fingerprint == target.fingerprint:
            return ProbeResult(is_ready=True, fingerprint=fingerprint)
        seen = seen or fingerprint
    return _miss(ProbeError.OTHER_HOST_KEY if seen else ProbeError.NOT_SSH, fingerprint=seen)


async def _host_key(address: Address, port: int, kinds: tuple[str, ...]) -> str:
    # Without ``config=None`` the settings of this machine's own user would be read.
    key = await asyncssh.get_server_host_key(
        str(address),
        port,
        client_version=CLIENT_VERSION,
        server_host_key_algs=list(kinds),
        config=None,
    )
    return str(key.get_fingerprint()) if key is not None else ""


def _miss(error: ProbeError, *, fingerprint: str = "") -> ProbeResult:
    return ProbeResult(is_ready=False, error=error, fingerprint=fingerprint)
