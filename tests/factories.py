"""Rows for tests. No factory goes around a rule that the database holds."""

from datetime import UTC, datetime
from uuid import uuid4

import factory
from django.db import transaction
from factory.django import DjangoModelFactory

from billing.models import Account, Journal, Posting
from billing.operations.wallets import ledger_account, open_wallet
from catalog.models import GpuModel
from marketplace.accounts.models import Membership, Organisation, User
from marketplace.accounts.operations.legal import accept_terms
from marketplace.models import Seller, Server

T0 = datetime(2026, 11, 2, 9, 0, tzinfo=UTC)


class UserFactory(DjangoModelFactory):
    class Meta:
        model = User
        skip_postgeneration_save = True

    email = factory.Sequence(lambda n: f"person{n}@example.com")
    name = factory.Sequence(lambda n: f"Person {n}")

    @factory.post_generation
    def accepts_terms(self, create, extracted, **_given):
        """Accept what is in force, as everybody does who signs up; ``accepts_terms=False``: not."""
        if extracted is not False:
            accept_terms(user_id=self.pk, shown=None, language=self.language, now=T0)


class OrganisationFactory(DjangoModelFactory):
    class Meta:
        model = Organisation

    name = factory.Sequence(lambda n: f"Organisation {n}")
    created_at = T0


class MembershipFactory(DjangoModelFactory):
    class Meta:
        model = Membership

    organisation = factory.SubFactory(OrganisationFactory)
    user = factory.SubFactory(UserFactory)
    role = Membership.Role.OWNER
    created_at = T0


class GpuModelFactory(DjangoModelFactory):
    class Meta:
        model = GpuModel
        django_get_or_create = ("slug",)

    slug = "rtx-4090"
    name = "RTX 4090"
    vendor = "NVIDIA"
    architecture = "Ada Lovelace"
    segment = "consumer"
    memory_gb = 24
    bandwidth_gb_per_s = 1008


class SellerFactory(DjangoModelFactory):
    class Meta:
        model = Seller

    organisation = factory.SubFactory(OrganisationFactory, kind=Organisation.Kind.COMPANY)
    state = Seller.State.VERIFIED
    delivers_by_hand = True
    applied_at = T0
    verified_at = T0


class ServerFactory(DjangoModelFactory):
    class Meta:
        model = Server

    organisation = factory.LazyFunction(lambda: SellerFactory.create().organisation)
    gpu_model = factory.SubFactory(GpuModelFactory)
    name = factory.Sequence(lambda n: f"server-{n}")
    gpu_count = 2
    region = Server.Region.EU_WEST
    created_at = T0


@transaction.atomic
def fund_wallet(organisation, *, amount_minor: int, currency: str = "EUR") -> Account:
    """Give a wallet money by a correction against the bank, as the ledger wants it."""
    wallet = open_wallet(organisation_id=organisation.pk, currency=currency)
    bank = ledger_account(kind=Account.Kind.BANK, currency=currency)
    post_correction((wallet, amount_minor), (bank, -amount_minor))
    wallet.refresh_from_db()
    return wallet


def post_correction(*legs: tuple[Account, int]) -> Journal:
    """Write one journal with these legs: accounts of one currency, amounts that sum to zero."""
    journal = Journal.objects.create(
        kind=Journal.Kind.CORRECTION,
        idem_key=f"test:{uuid4()}",
        fingerprint="test",
        source_type="test",
        source_id=1,
        occurred_at=T0,
    )
    Posting.objects.bulk_create(
        Posting(journal=journal, account=account, currency=account.currency, amount_minor=minor)
        for account, minor in legs
    )
    return journal
