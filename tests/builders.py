"""Whole situations for tests, made by the real operations: a rental that was sold."""

from datetime import datetime, timedelta
from itertools import count

from billing.models import Account
from billing.money import Currency, hold_minor
from billing.operations.taxes import tax_for
from marketplace.accounts.models import Organisation
from marketplace.models import Bid, MarketState, Offer, Rental, Server
from tests.exchange import make_customer, make_offer, match, open_market, place
from tests.factories import T0, GpuModelFactory, ServerFactory, fund_wallet

FINGERPRINT = "SHA256:" + "A" * 43

_models = count(1)


def make_server(**fields: object) -> Server:
    """Return a server of a GPU model of its own: no other offer competes with its."""
    model = GpuModelFactory.create(slug=f"gpu-{next(_models)}", name="RTX 4090")
    server: Server = ServerFactory.create(gpu_model=model, **fields)
    return server


def sell(
    *,
    starts_at: datetime = T0 + timedelta(hours=2),
    hours: int = 2,
    gpus: int = 1,
    price_micro: int = 500_000,
    min_hours: int = 1,
    filled_at: datetime = T0,
    server: Server | None = None,
    customer: Organisation | None = None,
) -> Rental:
    """Sell hours of a server at ``price_micro``; the wallet gets exactly what the bid holds."""
    server = server or make_server(gpu_count=max(2, gpus))
    customer = customer or make_customer(amount_minor=0)
    _list_hours(server, price_micro=price_micro, min_hours=min_hours, now=filled_at)
    tax = tax_for(organisation_id=customer.pk, on=filled_at.date())
    amount = hold_minor(price_micro=price_micro, gpus=gpus, hours=hours, vat_bps=tax.rate_bps)
    fund_wallet(customer, amount_minor=amount)
    bid = place(
        customer,
        now=filled_at,
        gpu_model_slug=server.gpu_model.slug,
        kind=Bid.Kind.LIMIT,
        gpus=gpus,
        hours=hours,
        currency=Currency.EUR,
        limit_price_micro=price_micro,
        earliest_start=starts_at,
        latest_start=starts_at,
    )
    match(filled_at)
    return Rental.objects.select_related("fill__bid", "server").get(fill__bid=bid)


def seller_account_of(rental: Rental) -> Account:
    return Account.objects.get(organisation=rental.fill.seller_id, kind="seller_pending")


def _list_hours(server: Server, *, price_micro: int, min_hours: int, now: datetime) -> None:
    if not MarketState.objects.filter(state=MarketState.State.OPEN).exists():
        open_market(now=now)
    if Offer.objects.filter(server=server, status=Offer.Status.OPEN).exists():
        return
    windows = ((now, now + timedelta(days=20)),)
    make_offer(server=server, ask_micro=price_micro, windows=windows, min_hours=min_hours, now=now)
