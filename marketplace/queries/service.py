"""How the service is doing: the ages of what should be young. No names, no amounts, no secrets."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.core.cache import cache
from django.db.models import Max, Min
from redis.exceptions import RedisError

from billing.models import StripeEvent
from catalog.models import GpuModel, MarketFigures, Quote
from catalog.queries import STALE_AFTER
from marketplace.accounts.models import Mail
from marketplace.heartbeats import seconds_since_success
from marketplace.models import Command, MarketState

# Several times the seconds between two sweeps: one slow sweep is no trouble.
LATE_SECONDS = 60
# What is due is done within seconds; a minute of waiting is worth telling.
WAITS_AT_MOST = timedelta(minutes=1)
CACHED_SECONDS = 5
CACHE_KEY = "service-status"

OK, LATE, DOWN, UNKNOWN = "ok", "late", "down", "unknown"

# Each part of the service, and the sweeps that must run for it. The payments' own is a minute apart.
SWEEPS: dict[str, tuple[str, ...]] = {
    "matching": ("marketplace.tasks.match_shards",),
    "rentals": ("marketplace.tasks.sweep_rentals", "marketplace.tasks.charge_hours"),
    "checks": ("marketplace.tasks.probe_rentals",),
    "payments": ("billing.tasks.apply_stripe_events", "billing.tasks.sweep_top_ups"),
    "mail": ("marketplace.accounts.tasks.send_mails",),
}
SLOW_SWEEPS = {"billing.tasks.sweep_top_ups": 3 * LATE_SECONDS}


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One part of the service. ``since`` is when it last ran, ``waits_since`` its oldest open work."""

    key: str
    state: str
    seconds_ago: int | None = None
    waits_since: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelState:
    """A model whose book is not open though the market is."""

    name: str
    state: str
    reason: str
    changed_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceStatus:
    """The whole picture, as of ``read_at``."""

    read_at: datetime
    market: str
    market_reason: str
    market_changed_at: datetime | None
    models: tuple[ModelState, ...]
    model_count: int
    prices: str
    prices_as_of: datetime | None
    last_trade_at: datetime | None
    parts: tuple[Part, ...]
    broker_answers: bool

    @property
    def is_well(self) -> bool:
        states = {part.state for part in self.parts} | {self.prices}
        return self.broker_answers and states == {OK}


def service_status(*, now: datetime) -> ServiceStatus:
    """Return how the service is doing, as of a few seconds ago at most."""
    try:
        kept = cache.get(CACHE_KEY)
    except RedisError:
        return _read(now=now)
    if isinstance(kept, ServiceStatus):
        return kept
    status = _read(now=now)
    try:
        cache.set(CACHE_KEY, status, CACHED_SECONDS)
    except RedisError:
        return status
    return status


def _read(*, now: datetime) -> ServiceStatus:
    states = list(MarketState.objects.select_related("gpu_model").order_by("pk"))
    whole = next((row for row in states if row.gpu_model is None), None)
    oldest = Quote.objects.filter(gpu_model__is_listed=True).aggregate(at=Min("as_of"))["at"]
    successes = _successes()
    return ServiceStatus(
        read_at=now,
        market=whole.state if whole else MarketState.State.PRELAUNCH,
        market_reason=whole.reason if whole else "",
        market_changed_at=whole.changed_at if whole else None,
        models=tuple(_closed_models(states)),
        model_count=GpuModel.objects.filter(is_listed=True).count(),
        prices=_freshness(oldest, now=now),
        prices_as_of=oldest,
        last_trade_at=_last_trade_at(),
        parts=tuple(_parts(successes, now=now)),
        broker_answers=successes is not None,
    )


def _closed_models(states: list[MarketState]) -> list[ModelState]:
    return [
        ModelState(
            name=row.gpu_model.name,
            state=row.state,
            reason=row.reason,
            changed_at=row.changed_at,
        )
        for row in states
        if row.gpu_model is not None and row.state != MarketState.State.OPEN
    ]


def _freshness(oldest: datetime | None, *, now: datetime) -> str:
    if oldest is None:
        return UNKNOWN
    return OK if now - oldest <= STALE_AFTER else LATE


def _last_trade_at() -> datetime | None:
    latest: datetime | None = MarketFigures.objects.aggregate(at=Max("last_fill_at"))["at"]
    return latest


def _successes() -> dict[str, int] | None:
    tasks = [task for sweeps in SWEEPS.values() for task in sweeps]
    try:
        return seconds_since_success(tasks=tasks)
    except RedisError:
        return None


def _parts(successes: dict[str, int] | None, *, now: datetime) -> list[Part]:
    waiting = {
        "matching": Command.objects.filter(
            sequence__isnull=True, not_before__isnull=True
        ).aggregate(at=Min("placed_at"))["at"],
        "payments": StripeEvent.objects.filter(processed_at__isnull=True).aggregate(
            at=Min("received_at")
        )["at"],
        "mail": Mail.objects.filter(sent_at__isnull=True).aggregate(at=Min("created_at"))["at"],
    }
    return [
        _part(key, successes=successes, waits_since=waiting.get(key), now=now) for key in SWEEPS
    ]


def _part(
    key: str, *, successes: dict[str, int] | None, waits_since: datetime | None, now: datetime
) -> Part:
    ages = {task: (successes or {}).get(task) for task in SWEEPS[key]}
    known = [age for age in ages.values() if age is not None]
    if len(known) < len(ages):
        state = UNKNOWN
    elif any(age > SLOW_SWEEPS.get(task, LATE_SECONDS) for task, age in ages.items() if age):
        state = DOWN
    elif waits_since is not None and now - waits_since > WAITS_AT_MOST:
        state = LATE
    else:
        state = OK
    return Part(
        key=key,
        state=state,
        seconds_ago=max(known, default=None),
        waits_since=waits_since if state == LATE else None,
    )
