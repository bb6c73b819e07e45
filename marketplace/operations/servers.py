"""Servers: a seller's machines, and what the exchange knows of them."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from catalog.models import GpuModel
from marketplace.accounts.operations.audit import record_act
from marketplace.locks import lock_organisation, lock_server
from marketplace.models import Command, Seller, Server
from marketplace.operations.commands import submit_command
from marketplace.operations.refusals import Refusal
from marketplace.queries.exchange import MAX_GPUS_PER_SERVER

MAX_NAME_LENGTH = 60
# Wiping and preparing by hand takes up to an hour; the agent does it within one slot.
SETUP_SLOTS = {Server.Delivery.BY_HAND: 4, Server.Delivery.AGENT: 1}
# Above any machine of today; catches a figure typed in the wrong unit.
MAX_RAM_GB = 32_768
MAX_VCPUS = 2_048
MAX_DISK_GB = 1_000_000


class ServerRefused(Refusal):
    """The server cannot be added or changed so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerDescription:
    """What a seller says about a machine. Memory and disk in GB; zero means not stated."""

    name: str
    gpu_model_slug: str
    gpu_count: int
    region: str
    tier: str = Server.Tier.STANDARD
    delivery: str = Server.Delivery.BY_HAND
    ram_gb: int = 0
    vcpus: int = 0
    disk_gb_per_gpu: int = 0
    has_nvlink: bool = False


@transaction.atomic
def add_server(
    *, organisation_id: int, description: ServerDescription, actor_id: int, now: datetime
) -> Server:
    """Add a machine to a seller's list. The exchange learns of it with its first offer.

    Raises
    ------
    ServerRefused
        Names the field and the way out; nothing is added.
    """
    lock_organisation(organisation_id=organisation_id)
    gpu_model = _check_description(description, organisation_id=organisation_id)
    facts = asdict(description) | {"name": description.name.strip()}
    del facts["gpu_model_slug"]
    server = Server.objects.create(
        organisation_id=organisation_id,
        gpu_model=gpu_model,
        setup_slots=SETUP_SLOTS[Server.Delivery(description.delivery)],
        created_at=now,
        **facts,
    )
    _record(server, action="server.add", actor_id=actor_id, now=now)
    return server


@transaction.atomic
def suspend_server(
    *,
    server_id: int,
    actor_id: int | None,
    now: datetime,
    suspension: Server.Suspension = Server.Suspension.STAFF,
    rental_id: int | None = None,
) -> bool:
    """Stop a server's sales until staff let it sell again; say whether it was selling.

    Safe to repeat: the first reason stays. Sold rentals go on.
    """
    server = lock_server(server_id=server_id)
    if server.is_suspended:
        return False
    server.is_suspended, server.suspended_at = True, now
    server.suspension, server.suspended_after_id = suspension, rental_id
    _write_suspension(server, action="server.suspend", actor_id=actor_id, now=now)
    return True


@transaction.atomic
def resume_server(*, server_id: int, actor_id: int | None, now: datetime) -> bool:
    """Let a suspended server sell again; say whether it was suspended. Safe to repeat."""
    server = lock_server(server_id=server_id)
    if not server.is_suspended:
        return False
    server.is_suspended, server.suspended_at = False, None
    server.suspension, server.suspended_after_id = "", None
    _write_suspension(server, action="server.resume", actor_id=actor_id, now=now)
    return True


def tell_exchange(*, server: Server, seller: Seller, actor_id: int | None, now: datetime) -> None:
    """Submit what the book keeps of a server: its GPUs, set-up slots and whether it may sell."""
    submit_command(
        kind=Command.Kind.CHANGE_SERVER,
        server_id=server.pk,
        organisation_id=server.organisation_id,
        actor_id=actor_id,
        payload={
            "capacity": server.gpu_count,
            "setup_slots": server.setup_slots,
            "suspended": server.is_suspended or seller.state != Seller.State.VERIFIED,
        },
        now=now,
    )


def _write_suspension(server: Server, *, action: str, actor_id: int | None, now: datetime) -> None:
    server.save(update_fields=["is_suspended", "suspended_at", "suspension", "suspended_after"])
    tell_exchange(server=server, seller=server.organisation.seller, actor_id=actor_id, now=now)
    details = {"reason": server.suspension, "rental": server.suspended_after_id}
    _record(
        server,
        action=action,
        actor_id=actor_id,
        now=now,
        details={name: fact for name, fact in details.items() if fact},
    )


def _check_description(description: ServerDescription, *, organisation_id: int) -> GpuModel:
    seller = Seller.objects.filter(organisation_id=organisation_id).first()
    if seller is None or seller.state == Seller.State.REJECTED:
        raise ServerRefused("organisation", _("Apply as a seller first."))
    _check_name(description.name, organisation_id=organisation_id)
    _check_sizes(description)
    _check_choices(description, seller=seller)
    gpu_model = GpuModel.objects.filter(slug=description.gpu_model_slug, is_listed=True).first()
    if gpu_model is None:
        raise ServerRefused("gpu_model", _("Choose a GPU model of the catalogue."))
    return gpu_model


def _check_name(name: str, *, organisation_id: int) -> None:
    if not name.strip() or len(name) > MAX_NAME_LENGTH:
        raise ServerRefused("name", _("Give the server a name of 1 to 60 characters."))
    if Server.objects.filter(organisation_id=organisation_id, name=name.strip()).exists():
        raise ServerRefused("name", _("You have a server with this name already."))


def _check_sizes(description: ServerDescription) -> None:
    if not 1 <= description.gpu_count <= MAX_GPUS_PER_SERVER:
        raise ServerRefused("gpu_count", _("A server has 1 to 16 GPUs."))
    if not 0 <= description.ram_gb <= MAX_RAM_GB:
        raise ServerRefused("ram_gb", _("Give the RAM in GB, at most 32,768."))
    if not 0 <= description.vcpus <= MAX_VCPUS:
        raise ServerRefused("vcpus", _("Give the number of vCPUs, at most 2,048."))
    if not 0 <= description.disk_gb_per_gpu <= MAX_DISK_GB:
        raise ServerRefused("disk_gb_per_gpu", _("Give the disk per GPU in GB, at most 1,000,000."))


def _check_choices(description: ServerDescription, *, seller: Seller) -> None:
    if description.region not in Server.Region.values:
        raise ServerRefused("region", _("Choose a region of the list."))
    if description.tier not in Server.Tier.values:
        raise ServerRefused("tier", _("Choose a tier of the list."))
    if description.delivery != Server.Delivery.BY_HAND:
        raise ServerRefused("delivery", _("Choose delivery by hand: the agent is not ready yet."))
    if not seller.delivers_by_hand:
        raise ServerRefused(
            "delivery", _("Delivery by hand must be enabled by our staff: please write to us.")
        )


def _record(
    server: Server,
    *,
    action: str,
    actor_id: int | None,
    now: datetime,
    details: Mapping[str, object] | None = None,
) -> None:
    record_act(
        actor_id=actor_id,
        organisation_id=server.organisation_id,
        action=action,
        object_type="server",
        object_id=server.pk,
        details=details,
        now=now,
    )
