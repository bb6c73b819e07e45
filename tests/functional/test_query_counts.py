"""Lists ask the database the same few questions, however many rows they show."""

from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from marketplace.accounts.clock import now
from marketplace.accounts.models import ContactMessage, Invitation, Membership, SshKey
from marketplace.models import Bid, Fill, Offer, OfferWindow, Rental, Server
from tests.factories import (
    GpuModelFactory,
    MembershipFactory,
    OrganisationFactory,
    UserFactory,
    fund_wallet,
)
from tests.functional.whole_market import WholeMarket, address_of, make_whole_market

pytestmark = pytest.mark.django_db

LISTS = [
    ("nobody", "catalog:home"),
    ("nobody", "catalog:gpu_list"),
    ("nobody", "catalog:calculator"),
    ("nobody", "catalog:use_case"),
    ("nobody", "catalog:use_cases"),
    ("nobody", "accounts:outbox"),
    ("nobody", "api-gpus"),
    ("nobody", "api-market"),
    ("nobody", "marketplace:market"),
    ("buyer", "marketplace:dashboard"),
    ("buyer", "marketplace:orders"),
    ("buyer", "marketplace:rentals"),
    ("buyer", "marketplace:intentions"),
    ("buyer", "marketplace:memory_tests"),
    ("buyer", "billing:wallets"),
    ("buyer", "billing:statement"),
    ("buyer", "billing:statement_csv"),
    ("buyer", "accounts:keys"),
    ("buyer", "accounts:devices"),
    ("buyer", "accounts:tokens"),
    ("buyer", "accounts:accept_terms"),
    ("buyer", "accounts:organisations"),
    ("buyer", "accounts:members"),
    ("seller", "marketplace:seller_home"),
    ("seller", "marketplace:servers"),
    ("seller", "marketplace:offers"),
    ("seller", "marketplace:sales"),
    ("seller", "marketplace:demand"),
    ("admin", "admin:accounts_user_changelist"),
    ("admin", "admin:accounts_organisation_changelist"),
    ("admin", "admin:accounts_apitoken_changelist"),
    ("admin", "admin:accounts_contactmessage_changelist"),
    ("admin", "admin:accounts_termsacceptance_changelist"),
    ("admin", "admin:marketplace_bid_changelist"),
    ("admin", "admin:marketplace_fill_changelist"),
    ("admin", "admin:marketplace_rental_changelist"),
    ("admin", "admin:marketplace_memorytest_changelist"),
    ("admin", "admin:marketplace_offer_changelist"),
    ("admin", "admin:marketplace_server_changelist"),
    ("admin", "admin:marketplace_seller_changelist"),
    ("admin", "admin:billing_account_changelist"),
    ("admin", "admin:billing_journal_changelist"),
]
COPIES = 4


@pytest.fixture(autouse=True)
def _what_is_kept_stays_kept(settings, own_cache):
    settings.MARKET_STATE_SECONDS = 1_000


@pytest.fixture
def market() -> WholeMarket:
    return make_whole_market()


@pytest.mark.parametrize(("person", "name"), LISTS)
def test_more_rows_are_not_more_questions(market, person, name):
    args = ["EUR"] if "statement" in name else []
    url, client = address_of(name, *args), market.browser_of(person)
    questions(client, url)  # What is asked once and kept.

    few = questions(client, url)
    add_rows(market)
    many = questions(client, url)

    assert len(many) - len(few) == 0, "\n".join(sorted(set(many) - set(few)))


def questions(client: Client, url: str) -> list[str]:
    with CaptureQueriesContext(
        connection,
    ) as asked:
        answer = client.get(url)
        if answer.streaming:
            b"".join(answer.streaming_content)
    assert answer.status_code == 200
    return [query["sql"] for query in asked.captured_queries]


def add_rows(market: WholeMarket) -> None:
    """Copy what the lists show, within the rules that the database holds."""
    for number in range(COPIES):
        model = GpuModelFactory.create(slug=f"card-{number}", name=f"Card {number}")
        server = copied(market.server, name=f"rack-{number}", gpu_model=model)
        offer = copied(market.offer, server=server, status=Offer.Status.WITHDRAWN)
        OfferWindow.objects.create(offer=offer, starts_at=now(), ends_at=now())
        _sale(market, server, offer)
        copied(market.waiting, label=f"label {number}")
        copied(market.intention, key=str(number), gpu_model=model)
        copied(market.memory_test, key=str(number), gpu_model=model)
        copied(market.top_up, idempotency_key=str(number))
        copied(market.key, fingerprint=f"SHA256:{number}")
        copied(market.token, digest=f"digest {number}")
        ContactMessage.objects.create(
            topic="other", email="a@example.com", user=market.people["buyer"], created_at=now()
        )
        fund_wallet(market.buyers, amount_minor=100)
        _people(market, number)


def copied(row, **changes: object):
    made = type(row).objects.get(pk=row.pk)
    made.pk = None
    made._state.adding = True
    for field, value in changes.items():
        setattr(made, field, value)
    made.save()
    return made


def _sale(market: WholeMarket, server: Server, offer: Offer) -> None:
    bid: Bid = copied(market.bought)
    fill: Fill = copied(market.bought.fill, bid=bid, server=server, offer=offer)
    Rental.objects.filter(pk=copied(market.rental, fill=fill, server=server).pk).update(
        ready_at=None
    )


def _people(market: WholeMarket, number: int) -> None:
    user = UserFactory.create(email=f"{uuid4().hex}@example.com")
    MembershipFactory.create(organisation=market.buyers, user=user, role=Membership.Role.VIEWER)
    other = OrganisationFactory.create(name=f"Other {number}")
    MembershipFactory.create(organisation=other, user=market.people["buyer"])
    for organisation, email in ((market.buyers, user.email), (other, "zebra-owner@example.com")):
        Invitation.objects.create(
            organisation=organisation,
            email=email,
            role=Membership.Role.VIEWER,
            invited_by=user,
            created_at=now(),
        )


def test_the_copies_are_shown(market):
    """A list that showed nothing new would prove nothing."""
    before = market.browser_of("seller").get(address_of("marketplace:servers")).content.decode()
    add_rows(market)
    after = market.browser_of("seller").get(address_of("marketplace:servers")).content.decode()

    assert after.count("rack-") - before.count("rack-") >= COPIES
    assert SshKey.objects.count() == 1 + COPIES
