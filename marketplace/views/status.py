"""The status page: how the service is doing, in words and ages."""

from http import HTTPStatus

from django.db.utils import Error as DatabaseError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from marketplace.accounts.clock import now as market_now
from marketplace.models import MarketState
from marketplace.queries.service import DOWN, LATE, OK, UNKNOWN, Part, service_status

PART_NAMES: dict[str, str | Promise] = {
    "matching": _("Matching of orders"),
    "rentals": _("Rentals and hourly charges"),
    "checks": _("Checks of rented machines"),
    "payments": _("Payments"),
    "mail": _("Mail"),
}
# The word and the shape of a state: disc, half disc, cross.
STATES: dict[str, tuple[str | Promise, str]] = {
    OK: (_("Works"), "ok"),
    LATE: (_("Slow"), "tight"),
    DOWN: (_("Does not run"), "no"),
    UNKNOWN: (_("Not known"), "tight"),
}
PRICE_STATES: dict[str, tuple[str | Promise, str]] = {
    OK: (_("Fresh"), "ok"),
    LATE: (_("Out of date"), "tight"),
    UNKNOWN: (_("None yet"), "tight"),
}
MARKET_STATES: dict[str, tuple[str | Promise, str]] = {
    MarketState.State.OPEN: (_("Open"), "ok"),
    MarketState.State.REOPENING: (_("Opens soon: only cancelling"), "tight"),
    MarketState.State.HALTED: (_("Trading halted"), "no"),
    MarketState.State.PRELAUNCH: (_("Before launch"), "tight"),
}


@never_cache
@require_safe
def status(request: HttpRequest) -> HttpResponse:
    """Show how the service is doing; without its database say that, and nothing else."""
    try:
        now = market_now()
        service = service_status(now=now)
        context = {
            "service": service,
            "now": now,
            "market": _shown(MARKET_STATES[service.market]),
            "prices": _shown(PRICE_STATES[service.prices]),
            "parts": [_part(part) for part in service.parts],
            "models": [
                {"row": model, "label": MARKET_STATES[model.state][0]} for model in service.models
            ],
        }
        return render(request, "marketplace/status.html", context)
    except DatabaseError:
        return render(
            request, "marketplace/status_down.html", status=HTTPStatus.SERVICE_UNAVAILABLE
        )


def _part(part: Part) -> dict[str, object]:
    return _shown(STATES[part.state]) | {"name": PART_NAMES[part.key], "part": part}


def _shown(state: tuple[str | Promise, str]) -> dict[str, object]:
    label, kind = state
    return {"label": label, "kind": kind}
