"""Delivery by hand: the seller says where the machine is, and the site goes and looks."""

import ipaddress
import re
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext_lazy as _

from marketplace.accounts.operations.audit import record_act
from marketplace.gateways.ssh_probe import is_public
from marketplace.locks import lock_rental
from marketplace.models import Rental
from marketplace.operations.refusals import Refusal
from marketplace.rental_time import READY_WITHIN

MAX_HOST_LENGTH = 253
MAX_PORT = 65_535
LABEL = r"(?!-)[A-Za-z0-9-]{1,63}(?<!-)"
HOST_NAME = re.compile(rf"{LABEL}(?:\.{LABEL})*", re.ASCII)
# Names that the public's name servers do not know, of this machine or of somebody's own network.
PRIVATE_NAMES = re.compile(r"[^.]+|.*\.(?:localhost|localdomain|local|internal|lan|home\.arpa)")
# What ends in a number is an address that somebody mistyped, or an old way to write one.
DIGITS = re.compile(r"0x[0-9a-f]*|[0-9]+")
USERNAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,31}", re.ASCII)
# As ssh-keygen -l prints it; the whole printed line may be pasted.
FINGERPRINT = re.compile(r"(?:^|\s)(SHA256:[A-Za-z0-9+/]{43})=?(?=\s|$)", re.ASCII)


class RentalNotFound(Exception):
    """There is no such rental to hand over for this organisation."""


class HandOverRefused(Refusal):
    """The access details cannot be right."""


class AddressRefused(HandOverRefused):
    """The host is no name, or an address that is not reachable from the Internet."""


class AlreadyReady(HandOverRefused):
    """The machine was verified: its access details are settled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HandOver:
    """What the seller types: where the customer connects, and the key the machine shows."""

    host: str
    port: int
    username: str
    host_key_fingerprint: str


@transaction.atomic
def hand_over(
    *, rental_id: int, organisation_id: int, actor_id: int, access: HandOver, now: datetime
) -> Rental:
    """Note the access details of a rental and have the machine checked at once.

    The check begins with the set-up; until it succeeds the seller may correct the details.

    Raises
    ------
    RentalNotFound
        Another seller's rental, none at all, or one that is over or too late to deliver.
    AddressRefused, HandOverRefused, AlreadyReady
        Nothing is written; the refusal names the field.
    """
    rental = lock_rental(rental_id=rental_id)
    if rental is None or not _may_hand_over(rental, organisation_id=organisation_id, now=now):
        raise RentalNotFound
    if rental.ready_at is not None:
        raise AlreadyReady("host", _("The machine is ready: its access details are settled."))
    checked = check_access(access)
    rental.host = checked.host
    rental.port = checked.port
    rental.username = checked.username
    rental.host_key_fingerprint = checked.host_key_fingerprint
    rental.handed_over_at = now
    rental.probe_error = ""
    rental.next_probe_at = now if rental.state == Rental.State.PREPARING else None
    rental.save()
    record_act(
        actor_id=actor_id,
        organisation_id=organisation_id,
        action="rental.hand_over",
        object_type="rental",
        object_id=rental.pk,
        now=now,
    )
    return rental


def check_access(access: HandOver) -> HandOver:
    """Return the details as they are kept.

    Raises
    ------
    AddressRefused, HandOverRefused
        Names the first field that cannot be right.
    """
    host = _checked_host(access.host.strip())
    if not 1 <= access.port <= MAX_PORT:
        raise HandOverRefused("port", _("Give a port between 1 and 65535."))
    username = access.username.strip()
    if not USERNAME.fullmatch(username):
        raise HandOverRefused(
            "username",
            _("Give the user name with which the customer signs in, without spaces."),
        )
    fingerprint = FINGERPRINT.search(access.host_key_fingerprint)
    if fingerprint is None:
        raise HandOverRefused(
            "host_key_fingerprint",
            _("Paste the SHA256 fingerprint of the host key, as ssh-keygen -l prints it."),
        )
    return HandOver(
        host=host,
        port=access.port,
        username=username,
        host_key_fingerprint=fingerprint.group(1),
    )


def _may_hand_over(rental: Rental, *, organisation_id: int, now: datetime) -> bool:
    is_own = rental.fill.seller_id == organisation_id
    is_late = rental.ready_at is None and now >= rental.starts_at + READY_WITHIN
    return is_own and rental.ended_at is None and not is_late


def _checked_host(host: str) -> str:
    address = _address_of(host)
    if address is not None:
        if not settings.PROBE_ALLOW_PRIVATE and not is_public(address):
            raise AddressRefused(
                "host", _("Give an address that can be reached from the Internet.")
            )
        return str(address)
    name = host.removesuffix(".").lower()
    last_label = name.rsplit(".", maxsplit=1)[-1]
    if len(name) > MAX_HOST_LENGTH or not HOST_NAME.fullmatch(name) or DIGITS.fullmatch(last_label):
        raise AddressRefused("host", _("Give a host name or an IP address, without a port."))
    if not settings.PROBE_ALLOW_PRIVATE and PRIVATE_NAMES.fullmatch(name):
        raise AddressRefused("host", _("Give an address that can be reached from the Internet."))
    return name


def _address_of(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        address = ipaddress.ip_address(host.removeprefix("[").removesuffix("]"))
    except ValueError:
        return None
    is_scoped = isinstance(address, ipaddress.IPv6Address) and address.scope_id is not None
    return None if is_scoped else address
