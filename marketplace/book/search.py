"""Find the offer that serves a bid: walk offers in book order, stop at the first that fits."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from marketplace.book.calendar import ServerCalendar, earliest_paid_start
from marketplace.book.outcomes import Exclusion, Rule
from marketplace.book.prices import is_within_limit
from marketplace.book.types import Bid, Offer, Server

# A page can show about this many offers; the record stays small whatever the size of the book.
MAX_LISTED_EXCLUSIONS = 20
ANY_PRICE_MICRO = 10**18


@dataclass(slots=True, kw_only=True)
class Search:
    """What one walk over the offers found, and what it passed on the way."""

    chosen: Offer | None = None
    start_slot: int | None = None
    excluded: list[Exclusion] = field(default_factory=list)
    unlisted: int = 0

    def exclude(self, *, offer: Offer, rule: Rule) -> None:
        """Note an offer that cannot serve the bid."""
        if len(self.excluded) < MAX_LISTED_EXCLUSIONS:
            self.excluded.append(Exclusion(offer_id=offer.id, rule=rule))
        else:
            self.unlisted += 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Supply:
    """Where a search looks: the offers in book order, the calendars behind them, the time."""

    offers: Sequence[Offer]
    calendars: Mapping[int, ServerCalendar]
    now_seconds: int


def search(*, bid: Bid, supply: Supply) -> Search:
    """Walk the offers until one serves the bid at its earliest possible start."""
    found = Search()
    for offer in supply.offers:
        calendar = supply.calendars[offer.server_id]
        rule = _excluding_rule(bid=bid, offer=offer, server=calendar.server)
        if rule is None:
            start_slot = _earliest_start(bid=bid, offer=offer, calendar=calendar, supply=supply)
            if start_slot is not None:
                found.chosen, found.start_slot = offer, start_slot
                return found
            rule = Rule.START
        found.exclude(offer=offer, rule=rule)
    return found


def cheapest_fit(*, bid: Bid, supply: Supply) -> Offer | None:
    """Return the first offer in book order that would serve the bid at any price."""
    return search(bid=replace(bid, limit_micro=ANY_PRICE_MICRO), supply=supply).chosen


def _excluding_rule(*, bid: Bid, offer: Offer, server: Server) -> Rule | None:
    """Return the first rule, in the order of `Rule`, that excludes the offer at any start."""
    rule = excluding_filter(bid=bid, offer=offer, server=server)
    if rule is not None:
        return rule
    if not sells_gpus(offer=offer, server=server, gpus=bid.gpus):
        return Rule.GPUS
    if bid.hours < offer.min_hours:
        return Rule.HOURS
    return None if is_within_limit(offer=offer, bid=bid) else Rule.PRICE


def excluding_filter(*, bid: Bid, offer: Offer, server: Server) -> Rule | None:
    """Return the first rule, other than of size, price and time, that excludes the offer."""
    if server.suspended:
        return Rule.SUSPENDED
    if offer.seller_group == bid.buyer_group:
        return Rule.RELATED
    if bid.regions and offer.region not in bid.regions:
        return Rule.REGION
    if bid.tiers and offer.tier not in bid.tiers:
        return Rule.TIER
    return None


def sells_gpus(*, offer: Offer, server: Server, gpus: int) -> bool:
    """Say whether the offer sells this number of GPUs together, free or not."""
    return offer.min_gpus <= gpus <= server.capacity and gpus % offer.gpu_step == 0


def quoted_start(
    *, offer: Offer, calendar: ServerCalendar, gpus: int, hours: int, now_seconds: int
) -> int | None:
    """Return the offer's own next P when this can be bought from it at its ask, else None."""
    server = calendar.server
    if server.suspended or hours < offer.min_hours:
        return None
    if not sells_gpus(offer=offer, server=server, gpus=gpus):
        return None
    at_ask = calendar.at_price(price_micro=offer.ask_micro, currency=offer.currency)
    start_slot = at_ask.next_start(
        gpus=gpus, hours=hours, windows=offer.windows, now_seconds=now_seconds
    )
    if start_slot is None:
        return None
    return at_ask.earliest_start(
        gpus=gpus, hours=hours, windows=offer.windows, first=start_slot, last=start_slot
    )


def _earliest_start(
    *, bid: Bid, offer: Offer, calendar: ServerCalendar, supply: Supply
) -> int | None:
    reachable = earliest_paid_start(
        now_seconds=supply.now_seconds, setup_slots=calendar.server.setup_slots
    )
    at_ask = calendar.at_price(price_micro=offer.ask_micro, currency=offer.currency)
    return at_ask.earliest_start(
        gpus=bid.gpus,
        hours=bid.hours,
        windows=offer.windows,
        first=max(bid.earliest_start, reachable),
        last=bid.latest_start,
    )
