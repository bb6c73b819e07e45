"""Live through the demo's history: the real operations, one step after the other, no worker.

Every row comes from the operation that a page, a task or a seller would have called, with the
step's time as its ``now`` and the clock's offset set to agree. A step is a minute in which
something is due: acts of the plan, a machine to hand over, an hour to charge, a rental's end.
"""

import heapq
from collections import defaultdict
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from config.demo.acts import Fate, Listing, Order
from config.demo.delivery import deliver, deliver_waiting
from config.demo.founding import World
from config.demo.plan import Plan
from config.demo.traders import Traders
from marketplace.accounts import clock
from marketplace.accounts.operations.mails import send_due_mails
from marketplace.gateways.ssh_probe import ProbeResult, ProbeTarget, look_at
from marketplace.models import Bid, Rental
from marketplace.operations.charging import charge_due_hours
from marketplace.operations.match_mails import tell_of_matches
from marketplace.operations.matching import match_shard
from marketplace.operations.probes import probe_due
from marketplace.operations.rentals import RentalIsOver, stop_rental, sweep_rentals
from marketplace.operations.servers import resume_server
from marketplace.operations.settlement import settle_due_hours
from marketplace.rental_time import HOUR, READY_WITHIN

MINUTE = timedelta(minutes=1)
# Orders of one minute come this far apart: all of them before a buy-now grows stale.
BETWEEN_ORDERS = timedelta(seconds=2)
# Sellers hand over when access may open; one is late, one forgets.
BEFORE_START = timedelta(minutes=14)
LATE_BY = timedelta(minutes=7)
STOPPED_INTO_HOUR = timedelta(minutes=20)
CANCELLED_AFTER = timedelta(hours=3)
# A server whose seller failed sells nothing until staff have had it tested again.
RETESTED_AFTER = timedelta(hours=2)
SETTLED_EVERY_HOURS = 6


@dataclass(slots=True)
class Due:
    """What a step has to do."""

    listings: list[Listing] = field(default_factory=list)
    orders: list[Order] = field(default_factory=list)
    cancels: list[Bid] = field(default_factory=list)
    stops: list[Rental] = field(default_factory=list)
    retests: list[Rental] = field(default_factory=list)
    deliveries: list[Rental] = field(default_factory=list)
    checks: set[int] = field(default_factory=set)
    is_charged: bool = False
    is_settled: bool = False


class History:
    """Runs a plan from its first minute to ``ends_at``."""

    def __init__(self, *, plan: Plan, world: World, ends_at: datetime) -> None:
        self._ends_at = ends_at
        self._traders = Traders(world=world)
        self._staff_id = world.admin.pk
        self._agenda: dict[datetime, Due] = defaultdict(Due)
        self._times: list[datetime] = []
        self._fates: dict[int, Fate] = {}
        self._last_rental_id = 0
        self.fills = 0
        for act in plan.acts:
            due = self._at(ends_at - act.minute * MINUTE)
            if isinstance(act, Listing):
                due.listings.append(act)
            else:
                due.orders.append(act)

    def run(self, *, told: Callable[[datetime], None]) -> None:
        """Take every step up to the end; ``told`` hears of each."""
        while self._times and self._times[0] <= self._ends_at:
            moment = heapq.heappop(self._times)
            set_clock(moment)
            self._step(self._agenda.pop(moment), now=moment)
            told(moment)

    def _at(self, moment: datetime) -> Due:
        if moment not in self._agenda:
            heapq.heappush(self._times, moment)
        return self._agenda[moment]

    def _step(self, due: Due, *, now: datetime) -> None:
        self._trade(due, now=now)
        if due.deliveries:
            # A machine is checked only once its set-up has begun.
            sweep_rentals(now=now)
        for rental in due.deliveries:
            deliver(rental, now=now)
        if due.checks:
            probe_due(now=now, look=_look_only_at(due.checks))
        sweep_rentals(now=now)
        if due.is_charged:
            charge_due_hours(now=now)
        for rental in due.stops:
            self._stop(rental, now=now)
        if due.is_settled:
            settle_due_hours(now=now)
            self._match(now=now)
            _send_mails(now=now)

    def _trade(self, due: Due, *, now: datetime) -> None:
        for listing in due.listings:
            if self._traders.withdraw(listing.machine, now=now):
                self._at(now + MINUTE).listings.append(listing)
            else:
                self._traders.list(listing, now=now)
        moment = now
        for order in due.orders:
            moment += BETWEEN_ORDERS
            self._order(order, now=moment)
        for bid in due.cancels:
            self._traders.cancel(bid, now=now)
        for rental in due.retests:
            resume_server(server_id=rental.server_id, actor_id=self._staff_id, now=now)
        if due.listings or due.orders or due.cancels or due.retests:
            self._match(now=moment)

    def _order(self, order: Order, *, now: datetime) -> None:
        bid = self._traders.order(order, now=now)
        if bid is None:
            return
        self._fates[bid.pk] = order.fate
        if order.fate == Fate.CANCELLED:
            self._at(_whole_minute(now) + CANCELLED_AFTER).cancels.append(bid)

    def _match(self, *, now: datetime) -> None:
        while match_shard(now=now).has_more:
            pass
        tell_of_matches(now=now)
        new = Rental.objects.filter(pk__gt=self._last_rental_id).select_related("fill")
        for rental in new.order_by("pk"):
            self._last_rental_id = rental.pk
            self.fills += 1
            self._expect(rental, fate=self._fates[rental.fill.bid_id])

    def _expect(self, rental: Rental, *, fate: Fate) -> None:
        """Note when a sold rental needs somebody or something."""
        start, end = rental.starts_at, rental.ends_at
        if fate == Fate.NEVER_DELIVERED:
            self._at(start + READY_WITHIN).is_settled = True
            self._at(start + RETESTED_AFTER).retests.append(rental)
            return
        ready_at = start + LATE_BY if fate == Fate.LATE else start - BEFORE_START
        handed_over = self._at(ready_at)
        handed_over.deliveries.append(rental)
        handed_over.checks.add(rental.pk)
        for number in range(rental.fill.hours):
            self._at(start + number * HOUR).is_charged = True
        self._at(end).checks.add(rental.pk)
        # Nobody waits for the settlement of hours that were delivered whole.
        settled_at = end if fate == Fate.LATE else end + -end.hour % SETTLED_EVERY_HOURS * HOUR
        self._at(settled_at).is_settled = True
        if fate == Fate.LATE:
            handed_over.is_charged = True
        if fate == Fate.STOPPED:
            halfway = max(1, rental.fill.hours // 2)
            stopped = self._at(start + halfway * HOUR + STOPPED_INTO_HOUR)
            stopped.stops.append(rental)
            stopped.is_settled = True

    def _stop(self, rental: Rental, *, now: datetime) -> None:
        with suppress(RentalIsOver):
            stop_rental(
                rental_id=rental.pk,
                organisation_id=rental.organisation_id,
                actor_id=rental.fill.bid.placed_by_id,
                now=now,
            )


def catch_up(*, now: datetime) -> None:
    """Bring everything to this moment, as the sweeps of a running site would have."""
    sweep_rentals(now=now)
    deliver_waiting(now=now)
    probe_due(now=now, look=_look_once)
    sweep_rentals(now=now)
    charge_due_hours(now=now)
    settle_due_hours(now=now)
    while match_shard(now=now).has_more:
        pass
    tell_of_matches(now=now)
    _send_mails(now=now)


def set_clock(moment: datetime) -> None:
    """Let the site's clock show this moment."""
    real = datetime.now(tz=UTC)  # noqa: TID251  the distance to real time is what is set
    clock.set_offset(offset_seconds=round((moment - real).total_seconds()))


def _send_mails(*, now: datetime) -> None:
    while send_due_mails(now=now):
        pass


def _look_only_at(
    wanted: set[int],
) -> Callable[[Mapping[int, ProbeTarget]], dict[int, ProbeResult]]:
    """Check these rentals now; the others wait, as if the site itself had been away."""

    def look(targets: Mapping[int, ProbeTarget]) -> dict[int, ProbeResult]:
        return _look_once({pk: target for pk, target in targets.items() if pk in wanted})

    return look


def _look_once(targets: Mapping[int, ProbeTarget]) -> dict[int, ProbeResult]:
    """Look at each address over the network once, however many rentals are there."""
    first = {target: pk for pk, target in targets.items()}
    seen = look_at(targets={pk: target for target, pk in first.items()}) if first else {}
    return {pk: seen[first[target]] for pk, target in targets.items()}


def _whole_minute(moment: datetime) -> datetime:
    return moment.replace(second=0, microsecond=0)
