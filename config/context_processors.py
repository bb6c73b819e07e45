"""What every page knows."""

from django.conf import settings
from django.core.cache import cache
from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject
from redis.exceptions import RedisError

from marketplace.models import MarketState

MARKET_STATE_KEY = "market-state"
# A change of the market's state reaches every page within this time.
MARKET_STATE_SECONDS = 2


def site(request: HttpRequest) -> dict[str, object]:
    return {
        "SITE_NAME": settings.SITE_NAME,
        "SELLER_PROGRAMME_NAME": settings.SELLER_PROGRAMME_NAME,
        "IS_DEMO": settings.IS_DEMO,
        "organisation": getattr(request, "organisation", None),
        "whole_market": SimpleLazyObject(_whole_market),
    }


def _whole_market() -> dict[str, str]:
    """Return the whole market's state and its reason, as of a moment ago."""
    try:
        state = cache.get_or_set(MARKET_STATE_KEY, _stored_state, MARKET_STATE_SECONDS)
    except RedisError:
        # Without a cache the pages are slower, not gone.
        return _stored_state()
    assert isinstance(state, dict)
    return state


def _stored_state() -> dict[str, str]:
    row = MarketState.objects.filter(gpu_model=None).first()
    return {"state": row.state, "reason": row.reason} if row else {"state": "", "reason": ""}
