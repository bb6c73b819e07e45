"""Whole situations for tests: a funded wallet, a server, a rental that was sold."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from billing.models import Account, Hold, Journal, Posting
from billing.money import hold_minor
from billing.operations.holds import place_hold
from billing.operations.wallets import ledger_account, open_wallet
from marketplace.accounts.models import Organisation, User
from marketplace.models import (
    SLOTS_PER_DAY,
    Bid,
    Fill,
    Offer,
    Rental,
    Server,
    ServerDay,
)
from marketplace.operations.slots import slot_at, time_of
from tests.factories import T0, MembershipFactory, OrganisationFactory, ServerFactory, UserFactory

FINGERPRINT = "SHA256:" + "A" * 43


@dataclass(frozen=True)
class Customer:
    user: User
    organisation: Organisation


def make_customer(**fields: object) -> Customer:
    user = UserFactory.create(**fields)
    organisation = OrganisationFactory.create(personal_of=user)
    MembershipFactory.create(organisation=organisation, user=user)
    return Customer(user, organisation)


def fund_wallet(organisation: Organisation, minor: int, currency: str = "EUR") -> Account:
    """Post a top-up, as a paid one does."""
    wallet = open_wallet(organisation_id=organisation.pk, currency=currency)
    clearing = ledger_account(kind=Account.Kind.STRIPE_CLEARING, currency=currency)
    journal = Journal.objects.create(
        kind=Journal.Kind.TOP_UP,
        idem_key=f"topup:test:{Journal.objects.count()}",
        fingerprint="f",
        source_type="test",
        source_id=1,
        occurred_at=T0,
    )
    Posting.objects.bulk_create(
        Posting(journal=journal, account=account, currency=currency, amount_minor=amount)
        for account, amount in ((wallet, minor), (clearing, -minor))
    )
    return wallet


def sell(
    *,
    starts_at: datetime = T0 + timedelta(hours=2),
    hours: int = 2,
    gpus: int = 1,
    price_micro: int = 500_000,
    vat_bps: int = 2000,
    min_hours: int = 1,
    filled_at: datetime = T0,
    server: Server | None = None,
    customer: Customer | None = None,
    currency: str = "EUR",
) -> Rental:
    """Write what a match writes: a filled bid with its hold, a fill, a rental, the calendar."""
    server = server or ServerFactory.create()
    customer = customer or make_customer()
    amount = hold_minor(price_micro=price_micro, gpus=gpus, hours=hours, vat_bps=vat_bps)
    fund_wallet(customer.organisation, amount, currency)
    offer = Offer.objects.create(
        server=server,
        organisation=server.organisation,
        gpu_model=server.gpu_model,
        group_id=server.organisation_id,
        ask_price_micro=price_micro,
        currency=currency,
        min_hours=min_hours,
        status=Offer.Status.WITHDRAWN,
        created_at=filled_at,
        closed_at=filled_at,
    )
    bid = Bid.objects.create(
        organisation=customer.organisation,
        placed_by=customer.user,
        gpu_model=server.gpu_model,
        group_id=customer.organisation.pk,
        kind=Bid.Kind.BUY_NOW,
        gpus=gpus,
        hours=hours,
        currency=currency,
        limit_price_micro=price_micro,
        earliest_start=starts_at,
        latest_start=starts_at,
        ssh_public_key="ssh-ed25519 AAAA",
        vat_bps=vat_bps,
        vat_country="FR",
        vat_rule="test",
        status=Bid.Status.FILLED,
        placed_at=filled_at,
        closed_at=filled_at,
    )
    place_hold(
        organisation_id=customer.organisation.pk,
        currency=currency,
        amount_minor=amount,
        purpose=bid.hold_purpose,
        now=filled_at,
    )
    fill = Fill.objects.create(
        bid=bid,
        offer=offer,
        server=server,
        seller=server.organisation,
        sequence=bid.pk,
        starts_at=starts_at,
        hours=hours,
        gpus=gpus,
        setup_slots=server.setup_slots,
        min_hours=min_hours,
        customer_currency=currency,
        customer_price_micro=price_micro,
        seller_currency=currency,
        seller_price_micro=price_micro,
        fee_bps=1000,
        occurred_at=filled_at,
    )
    rental = Rental.objects.create(
        fill=fill,
        organisation=customer.organisation,
        server=server,
        setup_starts_at=starts_at - timedelta(minutes=15 * server.setup_slots),
        starts_at=starts_at,
        ends_at=starts_at + timedelta(hours=hours),
        ssh_public_key=bid.ssh_public_key,
    )
    _take_slots(rental)
    return rental


def hold_of(rental: Rental) -> Hold:
    return Hold.objects.get(purpose=rental.fill.bid.hold_purpose)


def wallet_of(rental: Rental) -> Account:
    return Account.objects.get(
        organisation=rental.organisation, kind="wallet", currency=rental.fill.customer_currency
    )


def _take_slots(rental: Rental) -> None:
    for slot in range(slot_at(rental.setup_starts_at), slot_at(rental.ends_at)):
        day, _created = ServerDay.objects.get_or_create(
            server=rental.server,
            day=time_of(slot).date(),
            defaults={"capacity": rental.server.gpu_count, "used": [0] * SLOTS_PER_DAY},
        )
        day.used[slot % SLOTS_PER_DAY] += rental.fill.gpus
        day.save(update_fields=["used"])
