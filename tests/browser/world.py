"""Makes the small world by the real operations: ``python -m tests.browser.world``."""

from datetime import datetime, timedelta

import django
from django.db import transaction

CAMILLES_WALLETS_MINOR = {"EUR": 300_00, "USD": 300_00}
SHOPPERS_WALLET_MINOR = 100_00
# As far ahead as an offer may reach, less the time that the walks take off the clock.
OFFERED = timedelta(days=27)
SLOT = timedelta(minutes=15)


def main() -> None:
    django.setup()
    from marketplace.accounts.clock import now

    with transaction.atomic():
        make_world(now=now())


def make_world(*, now: datetime) -> None:
    """Open a market with the demo's RTX 4090 and H100, and people who can sign in."""
    from config.demo.cast import CAMILLE, FEATURED, machines
    from config.demo.founding import found_world
    from config.demo.plan import Plan
    from tests.browser.people import KEYBOARD_USER, SCRIPTLESS_USER, SELLER, WAITING_CUSTOMER
    from tests.factories import fund_wallet

    fleet = machines(FEATURED[:2])
    plan = Plan(days=0, machines=fleet, customers=(CAMILLE,), acts=())
    world = found_world(plan, now=now)
    for machine in fleet:
        _offer(machine, server=world.servers[machine.name], world=world, now=now)
    camille = world.customers[CAMILLE.key]
    for currency, minor in CAMILLES_WALLETS_MINOR.items():
        fund_wallet(camille.organisation, amount_minor=minor, currency=currency)
    for shopper in (WAITING_CUSTOMER, KEYBOARD_USER, SCRIPTLESS_USER):
        _shopper(shopper, now=now)
    _founder(SELLER, admin=world.admin, now=now)
    _camilles_orders(camille, now=now)


def _offer(machine, *, server, world, now: datetime) -> None:
    from marketplace.operations.offers import OfferTerms, list_offer

    start = now - (now - datetime.min.replace(tzinfo=now.tzinfo)) % SLOT
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


def _shopper(shopper, *, now: datetime) -> None:
    from billing.operations.profiles import ProfileDetails, save_profile
    from config.demo.keys import PASSWORD, public_line_of
    from marketplace.accounts.operations.keys import add_ssh_key
    from marketplace.accounts.operations.people import create_verified_user
    from tests.factories import fund_wallet

    user = create_verified_user(
        email=shopper.email, password=PASSWORD, name=shopper.name, language="en", now=now
    )
    organisation = user.personal_organisation
    details = ProfileDetails(
        kind="person",
        legal_name=shopper.name,
        address="",
        postal_code="",
        city="",
        country="FR",
        vat_id="",
    )
    save_profile(
        organisation_id=organisation.pk, actor_id=user.pk, details=details, now=now
    )
    add_ssh_key(
        user_id=user.pk, name="laptop", public_key=public_line_of(shopper.email), now=now
    )
    fund_wallet(organisation, amount_minor=SHOPPERS_WALLET_MINOR, currency=shopper.currency)


def _founder(founder, *, admin, now: datetime) -> None:
    from config.demo.keys import PASSWORD
    from marketplace.accounts.models import Organisation
    from marketplace.accounts.operations.organisations import create_organisation
    from marketplace.accounts.operations.people import create_verified_user
    from marketplace.operations.sellers import (
        allow_delivery_by_hand,
        apply_as_seller,
        verify_seller,
    )

    user = create_verified_user(
        email=founder.email, password=PASSWORD, name=founder.name, language="en", now=now
    )
    company = create_organisation(
        owner_id=user.pk, name=founder.company, kind=Organisation.Kind.COMPANY, now=now
    )
    seller = apply_as_seller(organisation_id=company.pk, actor_id=user.pk, now=now)
    allow_delivery_by_hand(seller_id=seller.pk, staff_id=admin.pk, now=now)
    verify_seller(seller_id=seller.pk, staff_id=admin.pk, now=now)


def _camilles_orders(camille, *, now: datetime) -> None:
    """Leave one order that fills when the exchange starts, and one that waits."""
    from billing.money import Currency
    from marketplace.models import Bid
    from marketplace.operations.bids import BidOrder, place_bid

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
    main()
