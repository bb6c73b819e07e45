"""Rows that the system cannot run without. Safe to repeat; run after migrate and after each flush."""

from marketplace.accounts.clock import now
from marketplace.accounts.models import ClockOffset
from marketplace.accounts.operations.legal import load_legal_texts
from marketplace.models import MAIN_SHARD, MarketState, Shard


def ensure_reference_rows() -> None:
    """Create what is missing: clock, shard, the market's state (before launch), legal texts."""
    ClockOffset.objects.get_or_create(id=1)
    Shard.objects.get_or_create(id=MAIN_SHARD)
    MarketState.objects.get_or_create(
        gpu_model=None,
        defaults={"state": MarketState.State.PRELAUNCH, "changed_at": now()},
    )
    load_legal_texts(now=now())
