"""What every page knows."""

from django.conf import settings
from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from marketplace.market_now import whole_market_now


def site(request: HttpRequest) -> dict[str, object]:
    return {
        "SITE_NAME": settings.SITE_NAME,
        "SELLER_PROGRAMME_NAME": settings.SELLER_PROGRAMME_NAME,
        "IS_DEMO": settings.IS_DEMO,
        "organisation": getattr(request, "organisation", None),
        "whole_market": SimpleLazyObject(whole_market_now),
    }
