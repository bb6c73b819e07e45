"""What every page knows."""

from django.conf import settings
from django.http import HttpRequest


def site(request: HttpRequest) -> dict[str, object]:
    return {
        "SITE_NAME": settings.SITE_NAME,
        "SELLER_PROGRAMME_NAME": settings.SELLER_PROGRAMME_NAME,
        "IS_DEMO": settings.IS_DEMO,
        "organisation": getattr(request, "organisation", None),
    }
