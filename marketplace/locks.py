"""Row locks, and the only place that takes them.

Order: shard, bids by id, rentals by id, servers, wallets by id.
"""

from collections.abc import Collection

from django.db.models import QuerySet

from marketplace.accounts.models import Organisation
from marketplace.models import Bid, Fill, OpeningNotice, Rental, Server, Shard


def lock_shard(*, shard_id: int) -> Shard:
    """Become the single writer of a shard until the transaction ends."""
    return Shard.objects.select_for_update().get(pk=shard_id)


def lock_organisation(*, organisation_id: int) -> Organisation:
    """Let one order of an organisation in at a time: its key, limits and balance are checked then.

    Without the key's lock: rows that point at the organisation can still be written.
    """
    return Organisation.objects.select_for_update(no_key=True).get(pk=organisation_id)


def lock_server(*, server_id: int, organisation_id: int | None = None) -> Server:
    """Let one change of a server or of its offers in at a time.

    Raises ``Server.DoesNotExist`` when the server belongs to somebody else than the organisation.
    """
    servers = Server.objects.select_for_update(of=("self",), no_key=True)
    if organisation_id is not None:
        servers = servers.filter(organisation_id=organisation_id)
    return servers.select_related("organisation").get(pk=server_id)


def lock_rental(*, rental_id: int) -> Rental | None:
    """Be the only one to change a rental until the transaction ends; None when there is none."""
    return _whole_rentals().filter(pk=rental_id).first()


def claim_rentals(*, due: QuerySet[Rental], ids: Collection[int]) -> list[Rental]:
    """Lock those of ``ids`` that are still due and that nobody works on, in order of their ids."""
    claimed = _lock_rows(due.filter(pk__in=ids), skip_locked=True)
    facts = ("fill__bid__placed_by", "server__gpu_model")
    return list(claimed.select_related(*facts).order_by("pk"))


def claim_rental(*, rental_id: int) -> Rental | None:
    """Lock a rental unless somebody works on it."""
    found = claim_rentals(due=Rental.objects.all(), ids=[rental_id])
    return found[0] if found else None


def claim_untold_fills(*, ids: Collection[int]) -> list[Fill]:
    """Lock the fills that nobody has told of or is telling of, with all that a mail says."""
    fills = Fill.objects.select_for_update(of=("self",), no_key=True, skip_locked=True)
    facts = ("bid__placed_by", "bid__gpu_model", "server", "rental")
    return list(fills.filter(pk__in=ids, told_at=None).select_related(*facts).order_by("pk"))


def claim_untold_bids(*, ids: Collection[int]) -> list[Bid]:
    """Lock the expired bids that nobody has told of or is telling of, with all that a mail says."""
    bids = Bid.objects.select_for_update(of=("self",), no_key=True, skip_locked=True)
    facts = ("placed_by", "gpu_model")
    return list(bids.filter(pk__in=ids, expiry_told_at=None).select_related(*facts).order_by("pk"))


def claim_untold_openings(*, ids: Collection[int]) -> list[OpeningNotice]:
    """Lock the opening notices that nobody has settled or is settling, with their readers."""
    notices = OpeningNotice.objects.select_for_update(of=("self",), no_key=True, skip_locked=True)
    return list(notices.filter(pk__in=ids, told_at=None).select_related("user").order_by("pk"))


def _whole_rentals() -> QuerySet[Rental]:
    return _lock_rows(Rental.objects.all(), skip_locked=False).select_related("fill__bid", "server")


def _lock_rows(rentals: QuerySet[Rental], *, skip_locked: bool) -> QuerySet[Rental]:
    # Without the key's lock, and of the rental alone: rows that point at it can still be written.
    return rentals.select_for_update(of=("self",), no_key=True, skip_locked=skip_locked)
