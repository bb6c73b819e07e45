"""The rule of the market and the method of its published prices, told with the code's own figures."""

from datetime import datetime, timedelta
from decimal import Decimal

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from billing.money import BPS, PRICE_MAX_MICRO, PRICE_MIN_MICRO, TICK_MICRO
from billing.tax import standard_rate_bps
from catalog.operations.market import MAX_PUBLISHED_OFFERS
from catalog.queries import EIGHT_GPUS, STALE_AFTER
from marketplace.accounts.public_pages import public_page
from marketplace.accounts.rate_limits import RATES, Limit
from marketplace.book.types import (
    BUY_NOW_STALE_SECONDS,
    HORIZON_DAYS,
    MAX_HOURS,
    SETUP_MARGIN_SECONDS,
    SLOT_MINUTES,
)
from marketplace.models import Server
from marketplace.operations.bid_checks import (
    MAX_OPEN_BIDS,
    MAX_OPEN_BIDS_BEFORE_TOP_UP,
    WAITS_BY_DEFAULT,
)
from marketplace.operations.market_state import CANCELLING_ALONE
from marketplace.operations.rentals import FREE_STOP_NOTICE, FREE_STOP_WITHIN, FREE_STOPS_A_DAY
from marketplace.operations.servers import SETUP_SLOTS
from marketplace.queries.market import LEAST_CUSTOMERS, LEAST_FILLS, LEAST_SELLERS
from marketplace.rental_time import (
    AUTOMATIC_END_AFTER,
    CHAIN_WINDOW,
    CUSTOMER_MAY_END_AFTER,
    EARLY_ACCESS,
    FEWEST_CREDITED_MINUTES,
    HOUR,
    MISSES_TO_STOP,
    PROBE_INTERVAL,
    READY_WITHIN,
    Period,
)
from marketplace.worked_example import CURRENCY, Rates, WorkedExample, work_example

# A quiet Monday: no clock changes anywhere, and the tax of that day.
EXAMPLE_DAY = datetime(2026, 11, 2)  # noqa: DTZ001  the reader's zone is added when it is shown
MINUTE = timedelta(minutes=1)
WHOLE_PERCENT = Decimal(100)
# A hair between two hours, in percent of the picture's width.
BETWEEN_BARS = Decimal("0.30")


@require_safe
@public_page
def method(request: HttpRequest) -> HttpResponse:
    """Show how every published price and figure is computed."""
    context = {
        "rules": published_rules(),
        "method": {
            "eight_gpus": EIGHT_GPUS,
            "stale_minutes": STALE_AFTER // MINUTE,
            "most_offers": MAX_PUBLISHED_OFFERS,
            "least_fills": LEAST_FILLS,
            "least_sellers": LEAST_SELLERS,
            "least_customers": LEAST_CUSTOMERS,
        },
    }
    return render(request, "marketplace/method.html", context)


@require_safe
@public_page
def rule(request: HttpRequest) -> HttpResponse:
    """Show how orders meet, what is held and charged, and what failures and early ends cost."""
    example = _example()
    context = {
        "rules": published_rules(),
        "example": example,
        "currency": CURRENCY,
        "endings": _endings(example),
        "timeline": _timeline(example),
    }
    return render(request, "marketplace/rule.html", context)


def published_rules() -> dict[str, object]:
    """Return every number that the page names, read from where the code reads it."""
    return {
        "slot_minutes": SLOT_MINUTES,
        "margin_minutes": SETUP_MARGIN_SECONDS // 60,
        "setup_minutes": SETUP_SLOTS[Server.Delivery.BY_HAND] * SLOT_MINUTES,
        "max_hours": MAX_HOURS,
        "horizon_days": HORIZON_DAYS,
        "waits_hours": WAITS_BY_DEFAULT // HOUR,
        "stale_seconds": BUY_NOW_STALE_SECONDS,
        "early_access_minutes": EARLY_ACCESS // MINUTE,
        "chain_hours": CHAIN_WINDOW // HOUR,
        "ready_within_minutes": READY_WITHIN // MINUTE,
        "probe_seconds": PROBE_INTERVAL.seconds,
        "misses_to_stop": MISSES_TO_STOP,
        "may_end_minutes": CUSTOMER_MAY_END_AFTER // MINUTE,
        "ends_after_minutes": AUTOMATIC_END_AFTER // MINUTE,
        "fewest_minutes": FEWEST_CREDITED_MINUTES,
        "break_fee": Decimal(settings.BREAK_FEE_BPS) / BPS,
        "platform_fee": Decimal(settings.PLATFORM_FEE_BPS) / BPS,
        "take_back_minutes": FREE_STOP_WITHIN // MINUTE,
        "take_back_notice_minutes": FREE_STOP_NOTICE // MINUTE,
        "take_backs_a_day": FREE_STOPS_A_DAY,
        "reopening_minutes": CANCELLING_ALONE // MINUTE,
        "tick_micro": TICK_MICRO,
        "price_min_micro": PRICE_MIN_MICRO,
        "price_max_micro": PRICE_MAX_MICRO,
        "open_bids": MAX_OPEN_BIDS,
        "open_bids_before_top_up": MAX_OPEN_BIDS_BEFORE_TOP_UP,
        "orders_a_minute": RATES[Limit.ORDER][0].times,
        "cancels_a_minute": RATES[Limit.CANCEL][0].times,
        "top_up_min_minor": settings.TOP_UP_MIN_MINOR,
        "top_up_max_minor": settings.TOP_UP_MAX_MINOR,
    }


def example_rates() -> Rates:
    """Return what the site has set, and the tax of a private customer in its own country."""
    return Rates(
        vat_bps=standard_rate_bps(settings.MERCHANT_COUNTRY, on=EXAMPLE_DAY.date()),
        fee_bps=settings.PLATFORM_FEE_BPS,
        break_fee_bps=settings.BREAK_FEE_BPS,
        setup_slots=SETUP_SLOTS[Server.Delivery.BY_HAND],
    )


def _example() -> WorkedExample:
    midnight = EXAMPLE_DAY.replace(tzinfo=timezone.get_current_timezone())
    return work_example(midnight=midnight, rates=example_rates())


def _endings(example: WorkedExample) -> list[dict[str, int]]:
    """Return what ending in each hour costs, in all, tax included."""
    total_minor = example.price_minor.gross_minor
    hour_minor = [step.paid_minor for step in example.steps if step.act == "hour"]
    return [
        {
            "begun": begun,
            "due_minor": sum(hour_minor[: ending.due_hours]),
            "fee_minor": ending.fee.gross_minor,
            "free_minor": total_minor
            - sum(hour_minor[: ending.due_hours])
            - ending.fee.gross_minor,
        }
        for begun, ending in enumerate(example.endings)
    ]


def _timeline(example: WorkedExample) -> dict[str, object]:
    """Return the picture's bars: positions and widths in percent of the time shown."""
    shown = Period(example.setup_starts_at, example.last_hour.ends_at)
    setup = Period(example.setup_starts_at, example.first_hour.starts_at)
    moments = [*(hour.starts_at for hour in example.hours), example.last_hour.ends_at]
    return {
        "placed_x": _share(example.placed_at, shown),
        "setup": _bar(setup, shown),
        "hours": [_bar(hour, shown) for hour in example.hours],
        "lost": _bar(example.stopped, shown),
        "ticks": [{"x": _share(moment, shown), "at": moment} for moment in moments],
    }


def _bar(period: Period, shown: Period) -> dict[str, str]:
    start, end = _percent(period.starts_at, shown), _percent(period.ends_at, shown)
    return {
        "x": _text(start),
        "width": _text(end - start),
        "inner": _text(end - start - BETWEEN_BARS),
        "middle": _text((start + end) / 2),
    }


def _share(moment: datetime, shown: Period) -> str:
    return _text(_percent(moment, shown))


def _percent(moment: datetime, shown: Period) -> Decimal:
    whole = (shown.ends_at - shown.starts_at) // MINUTE
    return WHOLE_PERCENT * ((moment - shown.starts_at) // MINUTE) / whole


def _text(percent: Decimal) -> str:
    """Return an attribute of a picture: a point before the decimals in every language."""
    return f"{percent:.2f}%"
