"""What every page knows."""

from django.conf import settings
from django.core.cache import cache
from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

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
    state = cache.get(MARKET_STATE_KEY)
    if state is None:
        row = MarketState.objects.filter(gpu_model=None).first()
        state = {"state": row.state, "reason": row.reason} if row else {"state": "", "reason": ""}
        cache.set(MARKET_STATE_KEY, state, MARKET_STATE_SECONDS)
    assert isinstance(state, dict)
    return state
