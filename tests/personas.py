"""Five people for each page and endpoint: buyer, colleague, stranger, seller, admin."""

from dataclasses import dataclass

from marketplace.accounts.models import Membership, Organisation, User
from marketplace.models import Seller
from tests.factories import (
    T0,
    MembershipFactory,
    OrganisationFactory,
    SellerFactory,
    UserFactory,
)


@dataclass(frozen=True)
class Personas:
    buyer: User
    buyer_organisation: Organisation
    colleague: User
    stranger: User
    stranger_organisation: Organisation
    seller: User
    seller_organisation: Organisation
    admin: User


def make_personas() -> Personas:
    buyer, colleague, stranger, seller = (
        UserFactory.create(email=f"{name}@example.com", name=name.title())
        for name in ("buyer", "colleague", "stranger", "seller")
    )
    buyers = OrganisationFactory.create(name="Buyers", personal_of=buyer)
    MembershipFactory.create(organisation=buyers, user=buyer)
    MembershipFactory.create(organisation=buyers, user=colleague, role=Membership.Role.TRADER)
    strangers = OrganisationFactory.create(name="Strangers", personal_of=stranger)
    MembershipFactory.create(organisation=strangers, user=stranger)
    sellers = OrganisationFactory.create(name="Sellers", kind=Organisation.Kind.COMPANY)
    MembershipFactory.create(organisation=sellers, user=seller)
    SellerFactory.create(organisation=sellers, state=Seller.State.VERIFIED, applied_at=T0)
    admin = UserFactory.create(email="admin@example.com", is_staff=True, is_superuser=True)
    return Personas(buyer, buyers, colleague, stranger, strangers, seller, sellers, admin)
