"""The market's state as pages show it: read once for many pages, forgotten when staff change it."""

from dataclasses import dataclass

from django.conf import settings
from django.core.cache import cache
from django.db import transaction
from redis.exceptions import RedisError

from marketplace.accounts.public_pages import pages_changed
from marketplace.models import MarketState

STATES_KEY = "market-states"


@dataclass(frozen=True, slots=True)
class ShownState:
    """A state and its reason; both empty while nobody has set one."""

    state: str
    reason: str


NOT_SET = ShownState(state="", reason="")


def whole_market_now() -> ShownState:
    """Return the whole market's state."""
    return _states().get("", NOT_SET)


def model_now(*, slug: str) -> ShownState:
    """Return the state that counts for a model: the market's own while it is not open."""
    states = _states()
    whole = states.get("", NOT_SET)
    if whole.state != MarketState.State.OPEN:
        return whole
    return states.get(slug, whole)


def forget_market_now() -> None:
    """Let pages read the states anew, once the caller's transaction is committed."""
    transaction.on_commit(_forget)
    pages_changed()


def _forget() -> None:
    try:
        cache.delete(STATES_KEY)
    except RedisError:
        # Without a cache nothing is kept.
        return


def _states() -> dict[str, ShownState]:
    """Return the states by model, the whole market's under the empty name."""
    try:
        kept = cache.get_or_set(STATES_KEY, _stored, settings.MARKET_STATE_SECONDS)
    except RedisError:
        # Without a cache the pages are slower, not gone.
        kept = _stored()
    assert isinstance(kept, dict)
    return {slug: ShownState(*facts) for slug, facts in kept.items()}


def _stored() -> dict[str, tuple[str, str]]:
    rows = MarketState.objects.values_list("gpu_model__slug", "state", "reason")
    return {slug or "": (state, reason) for slug, state, reason in rows}
