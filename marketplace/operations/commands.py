"""Requests to the exchange: rows without a number, which the matcher numbers later."""

import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from hashlib import sha256

from marketplace.models import MAIN_SHARD, Command

# A request that is repeated later is a new one.
KEYS_KEPT = timedelta(days=30)


class KeyReused(Exception):
    """The idempotency key came before, with another body."""


def submit_command(  # noqa: PLR0913  the facts of a command
    *,
    kind: Command.Kind,
    now: datetime,
    organisation_id: int | None = None,
    actor_id: int | None = None,
    bid_id: int | None = None,
    offer_id: int | None = None,
    server_id: int | None = None,
    payload: Mapping[str, object] | None = None,
    key: str | None = None,
    fingerprint: str = "",
    not_before: datetime | None = None,
    shard_id: int = MAIN_SHARD,
) -> Command:
    """Add a command to the exchange's inbox, inside the transaction of the act that it tells of.

    Takes no lock of the exchange. The matcher numbers commands in the order of their ids; one with
    ``not_before`` waits until then and lets the others pass.
    """
    return Command.objects.create(
        shard_id=shard_id,
        kind=kind,
        organisation_id=organisation_id,
        actor_id=actor_id,
        bid_id=bid_id,
        offer_id=offer_id,
        server_id=server_id,
        payload=dict(payload or {}),
        idempotency_key=key,
        fingerprint=fingerprint,
        placed_at=now,
        not_before=not_before,
    )


def fingerprint_of(body: Mapping[str, object]) -> str:
    """Return a digest of a request's body, the same for equal values in any order."""
    text = json.dumps(body, sort_keys=True, default=str, ensure_ascii=True)
    return sha256(text.encode()).hexdigest()


def earlier_command(*, organisation_id: int, key: str, fingerprint: str) -> Command | None:
    """Return the command that this key made before, or None.

    Raises
    ------
    KeyReused
        The key came with another body.
    """
    command = Command.objects.filter(organisation_id=organisation_id, idempotency_key=key).first()
    if command is not None and command.fingerprint != fingerprint:
        raise KeyReused(key)
    return command


def forget_old_keys(*, now: datetime) -> int:
    """Free the keys of requests that are too old to come again; return how many.

    The commands stay: they are the log. Safe to repeat.
    """
    old = Command.objects.filter(idempotency_key__isnull=False, placed_at__lte=now - KEYS_KEPT)
    return old.update(idempotency_key=None, fingerprint="")
