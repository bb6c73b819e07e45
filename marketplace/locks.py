"""Row locks, and the only place that takes them. Order: shard, bids by id, wallets by id."""

from marketplace.accounts.models import Organisation
from marketplace.models import Server, Shard


def lock_shard(*, shard_id: int) -> Shard:
    """Become the single writer of a shard until the transaction ends."""
    return Shard.objects.select_for_update().get(pk=shard_id)


def lock_organisation(*, organisation_id: int) -> Organisation:
    """Let one order of an organisation in at a time: its key, limits and balance are checked then.

    Without the key's lock: rows that point at the organisation can still be written.
    """
    return Organisation.objects.select_for_update(no_key=True).get(pk=organisation_id)


def lock_server(*, server_id: int, organisation_id: int) -> Server:
    """Let one change of a server's offers in at a time.

    Raises ``Server.DoesNotExist`` when the server belongs to somebody else.
    """
    servers = Server.objects.select_for_update(of=("self",), no_key=True)
    return servers.select_related("organisation").get(pk=server_id, organisation_id=organisation_id)
