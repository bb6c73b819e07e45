"""The demo's sellers and customers at the exchange: they list, order, pay and take back."""

from dataclasses import replace
from datetime import datetime, timedelta

from billing.operations.holds import InsufficientFunds
from config.demo.acts import Listing, Order
from config.demo.cast import Machine
from config.demo.checkout import pay_in
from config.demo.founding import Party, World
from marketplace.book.types import HORIZON_DAYS
from marketplace.models import Bid, Offer
from marketplace.operations.bids import BidOrder, OrderRefused, cancel_bid, place_bid, preview_bid
from marketplace.operations.offers import OfferTerms, list_offer, withdraw_offer
from marketplace.operations.slots import slot_at, time_of

HORIZON = timedelta(days=HORIZON_DAYS)
MINUTE = timedelta(minutes=1)
# A customer who is short pays the missing amount and something for the next orders.
PAID_AHEAD_MINOR = 250_00
STEP_MINOR = 50_00


class Traders:
    """Acts for the parties of a world. ``refused`` counts orders that nobody could serve."""

    def __init__(self, *, world: World) -> None:
        self._world = world
        self._offers: dict[str, Offer] = {}
        self._orders = 0
        self._top_ups = 0
        self.refused = 0

    def list(self, listing: Listing, *, now: datetime) -> None:
        """Offer all hours of a machine up to the horizon."""
        machine = listing.machine
        seller = self._world.sellers[machine.company.key]
        terms = OfferTerms(
            ask_price_micro=listing.ask_micro,
            currency=machine.currency,
            windows=((time_of(slot_at(now)), time_of(slot_at(now + HORIZON))),),
            gpu_step=machine.gpu_step,
            min_gpus=machine.gpu_step,
            min_hours=machine.min_hours,
        )
        self._offers[machine.name] = list_offer(
            server_id=self._world.servers[machine.name].pk,
            organisation_id=seller.organisation.pk,
            terms=terms,
            actor_id=seller.user.pk,
            now=now,
        )

    def withdraw(self, machine: Machine, *, now: datetime) -> bool:
        """Withdraw a machine's offer; say whether there was one."""
        offer = self._offers.pop(machine.name, None)
        if offer is None:
            return False
        seller = self._world.sellers[machine.company.key]
        withdraw_offer(
            offer_id=offer.pk,
            organisation_id=seller.organisation.pk,
            actor_id=seller.user.pk,
            now=now,
        )
        return True

    def order(self, order: Order, *, now: datetime) -> Bid | None:
        """Place an order, after a top-up when the wallet is short; None when nothing serves it."""
        party = self._world.customers[order.customer.key]
        wanted = _wanted(order, party=party, now=now)
        if order.limit_micro is None:
            try:
                seen = preview_bid(order=wanted, now=now)
            except OrderRefused:
                self.refused += 1
                return None
            wanted = replace(
                wanted,
                limit_price_micro=seen.limit_price_micro,
                earliest_start=seen.earliest_start,
            )
        self._orders += 1
        return self._placed(wanted, party=party, now=now)

    def cancel(self, bid: Bid, *, now: datetime) -> None:
        """Take a waiting order back, unless it was served or has expired."""
        try:
            cancel_bid(
                bid_id=bid.pk,
                organisation_id=bid.organisation_id,
                actor_id=bid.placed_by_id,
                now=now,
            )
        except OrderRefused:
            self.refused += 1

    def _placed(self, wanted: BidOrder, *, party: Party, now: datetime) -> Bid:
        key = f"order-{self._orders}"
        try:
            return place_bid(order=wanted, actor_id=party.user.pk, key=key, now=now)
        except InsufficientFunds as short:
            self._pay(party, currency=wanted.currency, missing_minor=short.missing_minor, now=now)
        return place_bid(order=wanted, actor_id=party.user.pk, key=key, now=now)

    def _pay(self, party: Party, *, currency: str, missing_minor: int, now: datetime) -> None:
        self._top_ups += 1
        wanted_minor = missing_minor + PAID_AHEAD_MINOR
        pay_in(
            payer=party,
            currency=currency,
            amount_minor=-(-wanted_minor // STEP_MINOR) * STEP_MINOR,
            key=f"top-up-{self._top_ups}",
            now=now,
        )


def _wanted(order: Order, *, party: Party, now: datetime) -> BidOrder:
    """Return the plan's order as the ticket's form would send it."""
    starts_at = None if order.starts_in is None else now + order.starts_in * MINUTE
    waits_to = None if order.waits is None else now + order.waits * MINUTE
    return BidOrder(
        organisation_id=party.organisation.pk,
        gpu_model_slug=order.card.slug,
        kind=Bid.Kind.BUY_NOW if order.limit_micro is None else Bid.Kind.LIMIT,
        gpus=order.gpus,
        hours=order.hours,
        currency=order.currency,
        limit_price_micro=order.limit_micro,
        ssh_public_key=party.public_key,
        earliest_start=time_of(slot_at(starts_at)) if starts_at else None,
        latest_start=time_of(slot_at(waits_to)) if waits_to else None,
        tiers=order.tiers,
        label=order.label,
    )
