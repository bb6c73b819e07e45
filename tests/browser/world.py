"""Makes the small world by the real operations: ``python -m tests.browser.world``."""

from datetime import datetime, timedelta

import django

if __name__ == "__main__":
    django.setup()

from billing.money import Currency
from config.demo.cast import CAMILLE, FEATURED, Company, Machine, machines
from config.demo.checkout import pay_in, silence_webhooks
from config.demo.founding import Party, World, found_world
from config.demo.memory_test import keep_camilles_memory_test
from config.demo.plan import Plan
from marketplace.accounts import clock
from marketplace.accounts.models import Organisation, User
from marketplace.accounts.operations.organisations import create_organisation
from marketplace.accounts.operations.people import create_verified_user
from marketplace.models import Bid, Server
from marketplace.operations.bids import BidOrder, place_bid
from marketplace.operations.offers import OfferTerms, list_offer
from marketplace.operations.sellers import (
    allow_delivery_by_hand,
    apply_as_seller,
    verify_seller,
)
from marketplace.operations.slots import slot_at, time_of
from tests.browser.people import PASSWORD, SELLER, SHOPPERS

TOP_UP_MINOR = 150_00
# As far ahead as an offer may reach, less the time that the walks take off the clock.
OFFERED = timedelta(days=27)


def make_world(*, now: datetime) -> None:
    """Open a market with the demo's RTX 4090 and H100, and people who can sign in."""
    fleet = machines(FEATURED[:2])
    plan = Plan(days=0, machines=fleet, customers=(CAMILLE, *SHOPPERS), acts=())
    world = found_world(plan, now=now)
    for machine in fleet:
        _offer(machine, server=world.servers[machine.name], world=world, now=now)
    for customer in plan.customers:
        party = world.customers[customer.key]
        for currency in customer.currencies:
            key = f"world:{customer.key}:{currency}"
            pay_in(payer=party, currency=currency, amount_minor=TOP_UP_MINOR, key=key, now=now)
    for shopper in SHOPPERS:
        _give_password(world.customers[shopper.key].user)
    _seller_without_servers(SELLER, admin=world.admin, now=now)
    _camilles_orders(world.customers[CAMILLE.key], now=now)
    keep_camilles_memory_test(world.customers[CAMILLE.key], now=now)


def _offer(machine: Machine, *, server: Server, world: World, now: datetime) -> None:
    start = time_of(slot_at(now))
    list_offer(
        server_id=server.pk,
        organisation_id=server.organisation_id,
        terms=OfferTerms(
            ask_price_micro=machine.ask_micro,
            currency=machine.currency,
            windows=((start, start + OFFERED),),
            min_hours=machine.min_hours,
            gpu_step=machine.gpu_step,
        ),
        actor_id=world.sellers[machine.company.key].user.pk,
        now=now,
    )


def _give_password(user: User) -> None:
    user.set_password(PASSWORD)
    user.save(update_fields=["password"])


def _seller_without_servers(company: Company, *, admin: User, now: datetime) -> None:
    owner = create_verified_user(
        email=company.email,
        password=PASSWORD,
        name=company.owner,
        language=company.language,
        now=now,
    )
    organisation = create_organisation(
        owner_id=owner.pk, name=company.name, kind=Organisation.Kind.COMPANY, now=now
    )
    seller = apply_as_seller(organisation_id=organisation.pk, actor_id=owner.pk, now=now)
    allow_delivery_by_hand(seller_id=seller.pk, staff_id=admin.pk, now=now)
    verify_seller(seller_id=seller.pk, staff_id=admin.pk, now=now)


def _camilles_orders(camille: Party, *, now: datetime) -> None:
    """Leave one order that fills when the exchange starts, and one that waits."""
    for slug, currency, hours, price_micro in (
        ("rtx-4090", Currency.USD, 12, 400_000),
        ("h100-sxm", Currency.EUR, 3, 2_000_000),
    ):
        order = BidOrder(
            organisation_id=camille.organisation.pk,
            gpu_model_slug=slug,
            kind=Bid.Kind.LIMIT,
            gpus=1,
            hours=hours,
            currency=currency,
            limit_price_micro=price_micro,
            ssh_public_key=camille.public_key,
            label="LoRA 13B",
        )
        place_bid(order=order, actor_id=camille.user.pk, key=f"world:{slug}", now=now)


if __name__ == "__main__":
    silence_webhooks(are_silent=True)
    make_world(now=clock.now())
    silence_webhooks(are_silent=False)
