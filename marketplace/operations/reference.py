"""Rows that the system cannot run without. Safe to repeat; run after migrate and after each flush."""

from marketplace.accounts.clock import now
from marketplace.accounts.models import ClockOffset
from marketplace.models import MAIN_SHARD, MarketState, Shard


def ensure_reference_rows() -> None:
    """Create what is missing: the clock's offset, the shard, the market's state (before launch)."""
    ClockOffset.objects.get_or_create(id=1)
    Shard.objects.get_or_create(id=MAIN_SHARD)
    MarketState.objects.get_or_create(
        gpu_model=None,
        defaults={"state": MarketState.State.PRELAUNCH, "changed_at": now()},
    )
