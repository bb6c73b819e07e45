"""A small market for tests: open it, bring sellers and customers, order, match."""

from datetime import datetime, timedelta
from itertools import count
from typing import Any

from billing.models import Account, BillingProfile, Hold
from billing.money import Currency
from marketplace.accounts.models import Organisation, User
from marketplace.models import Bid, MarketState, Offer, Server
from marketplace.operations.bids import BidOrder, place_bid
from marketplace.operations.market_state import set_market_state
from marketplace.operations.matching import MatchReport, match_shard
from marketplace.operations.offers import OfferTerms, list_offer, withdraw_offer
from tests.factories import (
    T0,
    GpuModelFactory,
    MembershipFactory,
    ServerFactory,
    UserFactory,
    fund_wallet,
)

SSH_KEY = (
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJxwZ2Nmn1bR0Tn4mzAeHb7Fqv8Qh2L3o6pXr0Zt1c9V customer"
)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)

_keys = count(1)


def open_market(*, now: datetime = T0, state: MarketState.State = MarketState.State.OPEN) -> None:
    GpuModelFactory.create()
    staff = User.objects.filter(is_staff=True).first() or UserFactory.create(is_staff=True)
    set_market_state(state=state, reason="Test", staff_id=staff.pk, now=now)


def make_customer(
    *,
    amount_minor: int = 100_00,
    currency: str = "EUR",
    country: str = "FR",
    **owner: str,
) -> Organisation:
    """Return an organisation with money in its wallet; ``owner`` describes its person."""
    user = UserFactory.create(**owner)
    organisation: Organisation = MembershipFactory.create(user=user).organisation
    BillingProfile.objects.create(
        organisation=organisation, legal_name="Customer", country=country, updated_at=T0
    )
    if amount_minor:
        fund_wallet(organisation, amount_minor=amount_minor, currency=currency)
    return organisation


def member_of(organisation: Organisation) -> User:
    member = organisation.memberships.order_by("pk").first()
    if member is None:
        member = MembershipFactory.create(organisation=organisation)
    return member.user


def make_offer(
    *,
    server: Server | None = None,
    ask_micro: int = 400_000,
    currency: Currency = Currency.EUR,
    windows: tuple[tuple[datetime, datetime], ...] | None = None,
    now: datetime = T0,
    **terms: int,
) -> Offer:
    server = server or ServerFactory.create()
    windows = windows or ((now, now + DAY),)
    return list_offer(
        server_id=server.pk,
        organisation_id=server.organisation_id,
        terms=OfferTerms(ask_price_micro=ask_micro, currency=currency, windows=windows, **terms),
        actor_id=member_of(server.organisation).pk,
        now=now,
    )


def withdraw(offer: Offer, *, now: datetime = T0) -> Offer:
    return withdraw_offer(
        offer_id=offer.pk,
        organisation_id=offer.organisation_id,
        actor_id=member_of(offer.organisation).pk,
        now=now,
    )


def order_of(customer: Organisation, **changes: Any) -> BidOrder:
    facts: dict[str, Any] = {
        "organisation_id": customer.pk,
        "gpu_model_slug": "rtx-4090",
        "kind": Bid.Kind.LIMIT,
        "gpus": 1,
        "hours": 2,
        "currency": Currency.EUR,
        "limit_price_micro": 400_000,
        "ssh_public_key": SSH_KEY,
    }
    return BidOrder(**(facts | changes))


def place(
    customer: Organisation, *, now: datetime = T0, key: str | None = None, **changes: Any
) -> Bid:
    return place_bid(
        order=order_of(customer, **changes),
        actor_id=member_of(customer).pk,
        key=key or f"key-{next(_keys)}",
        now=now,
    )


def buy(customer: Organisation, *, now: datetime = T0, **changes: Any) -> Bid:
    """Buy now from the start that a server with four set-up slots reaches on a quiet grid."""
    facts: dict[str, Any] = {"kind": Bid.Kind.BUY_NOW, "earliest_start": now + HOUR} | changes
    return place(customer, now=now, **facts)


def match(now: datetime = T0) -> MatchReport:
    return match_shard(now=now)


def hold_of(bid: Bid) -> Hold:
    return Hold.objects.get(purpose=bid.hold_purpose)


def wallet_of(organisation: Organisation, currency: str = "EUR") -> Account:
    return Account.objects.get(
        organisation=organisation, kind=Account.Kind.WALLET, currency=currency
    )
