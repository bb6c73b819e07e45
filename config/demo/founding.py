"""The first day of the demo's world: people, companies, machines, an open market."""

from dataclasses import dataclass, field
from datetime import datetime

from billing.operations.profiles import ProfileDetails, save_profile
from config.demo.cast import ADMIN_EMAIL, APPLICANT, CAMILLE, COMPANIES, Company, Customer, Machine
from config.demo.keys import PASSWORD, public_line_of, totp_secret
from config.demo.plan import Plan
from marketplace.accounts.models import Organisation, User
from marketplace.accounts.operations.keys import add_ssh_key
from marketplace.accounts.operations.organisations import create_organisation
from marketplace.accounts.operations.people import (
    create_verified_user,
    enrol_totp,
    update_profile,
)
from marketplace.models import MarketState, Server
from marketplace.operations.market_state import set_market_state
from marketplace.operations.sellers import (
    allow_delivery_by_hand,
    apply_as_seller,
    verify_seller,
)
from marketplace.operations.servers import ServerDescription, add_server

# Who can sign in; hashing a password takes as long as ten orders, so the others have none.
LOGINS = frozenset({CAMILLE.email, COMPANIES[0].email, ADMIN_EMAIL})
RAM_GB_PER_GPU = 128
VCPUS_PER_GPU = 12
DISK_GB_PER_GPU = 500


@dataclass(frozen=True, slots=True)
class Party:
    """An organisation of the demo and the person who acts for it."""

    user: User
    organisation: Organisation
    public_key: str = ""


@dataclass(slots=True)
class World:
    """The rows behind the cast, by the cast's own keys."""

    admin: User
    sellers: dict[str, Party] = field(default_factory=dict)
    customers: dict[str, Party] = field(default_factory=dict)
    servers: dict[str, Server] = field(default_factory=dict)


def found_world(plan: Plan, *, now: datetime) -> World:
    """Create everybody and every machine, and open the market."""
    world = World(admin=_admin(now=now))
    set_market_state(
        state=MarketState.State.OPEN,
        reason="The demo's first day",
        staff_id=world.admin.pk,
        now=now,
    )
    for company in COMPANIES:
        world.sellers[company.key] = _seller(company, staff=world.admin, now=now)
    _applicant(now=now)
    for customer in plan.customers:
        world.customers[customer.key] = _customer(customer, now=now)
    for machine in plan.machines:
        world.servers[machine.name] = _server(
            machine, owner=world.sellers[machine.company.key], now=now
        )
    return world


def _admin(*, now: datetime) -> User:
    admin = create_verified_user(
        email=ADMIN_EMAIL,
        password=PASSWORD,
        name="Administrator",
        language="en",
        is_staff=True,
        now=now,
    )
    enrol_totp(user=admin, secret=totp_secret())
    return admin


def _person(*, email: str, name: str, language: str, now: datetime) -> User:
    return create_verified_user(
        email=email,
        password=PASSWORD if email in LOGINS else None,
        name=name,
        language=language,
        accepts_terms=True,
        now=now,
    )


def _company(company: Company, *, now: datetime) -> Party:
    owner = _person(email=company.email, name=company.owner, language=company.language, now=now)
    organisation = create_organisation(
        owner_id=owner.pk, name=company.name, kind=Organisation.Kind.COMPANY, now=now
    )
    apply_as_seller(organisation_id=organisation.pk, actor_id=owner.pk, now=now)
    return Party(owner, organisation)


def _seller(company: Company, *, staff: User, now: datetime) -> Party:
    party = _company(company, now=now)
    seller = party.organisation.seller
    allow_delivery_by_hand(seller_id=seller.pk, staff_id=staff.pk, now=now)
    verify_seller(seller_id=seller.pk, staff_id=staff.pk, now=now)
    return party


def _applicant(*, now: datetime) -> None:
    _company(APPLICANT, now=now)


def _customer(customer: Customer, *, now: datetime) -> Party:
    user = _person(email=customer.email, name=customer.name, language=customer.language, now=now)
    update_profile(
        user=user,
        name=customer.name,
        language=customer.language,
        time_zone=customer.time_zone,
        now=now,
    )
    organisation = user.personal_organisation
    save_profile(
        organisation_id=organisation.pk,
        actor_id=user.pk,
        details=_details(customer),
        now=now,
    )
    key = add_ssh_key(
        user_id=user.pk, name="laptop", public_key=public_line_of(customer.key), now=now
    )
    return Party(user, organisation, key.public_key)


def _details(customer: Customer) -> ProfileDetails:
    kind = Organisation.Kind.COMPANY if customer.company else Organisation.Kind.PERSON
    return ProfileDetails(
        kind=kind,
        legal_name=customer.company or customer.name,
        address="1 Demo Street",
        postal_code="10000",
        city=customer.city,
        country=customer.country,
        vat_id="",
    )


def _server(machine: Machine, *, owner: Party, now: datetime) -> Server:
    return add_server(
        organisation_id=owner.organisation.pk,
        description=ServerDescription(
            name=machine.name,
            gpu_model_slug=machine.card.slug,
            gpu_count=machine.gpus,
            region=machine.company.region,
            tier=machine.tier,
            ram_gb=RAM_GB_PER_GPU * machine.gpus,
            vcpus=VCPUS_PER_GPU * machine.gpus,
            disk_gb_per_gpu=DISK_GB_PER_GPU,
            has_nvlink=machine.card.slug.endswith(("-sxm", "-sxm-80")) and machine.gpus > 1,
        ),
        actor_id=owner.user.pk,
        now=now,
    )
