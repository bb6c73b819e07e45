"""From before the launch to the first order, by the pages: a visitor, a seller and the staff."""

import re
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from django.test import Client
from django.urls import reverse

from billing.models import BillingProfile, Hold, Journal, TopUp
from billing.operations.topups import set_gate
from marketplace.accounts import clock
from marketplace.accounts.models import Mail, Membership, Organisation, User
from marketplace.models import Bid, Command, Intention, MarketState, OpeningNotice
from marketplace.tasks import tell_of_times
from tests.exchange import SSH_KEY
from tests.factories import (
    GpuModelFactory,
    MembershipFactory,
    SellerFactory,
    ServerFactory,
    UserFactory,
    fund_wallet,
)
from tests.functional.whole_market import BACKEND, SECRET

pytestmark = pytest.mark.django_db

BANNER = "The market is not open yet."
PASSWORD = "correct-horse-battery"
TICKET = "gpus=2&hours=12&currency=EUR"


@pytest.fixture(autouse=True)
def before_launch():
    GpuModelFactory.create()
    set_gate(is_open=False, now=clock.now())
    assert MarketState.objects.get().state == "prelaunch"


def signed_in(user: User) -> Client:
    browser = Client()
    browser.force_login(user, backend=BACKEND)
    return browser


def customer() -> Client:
    membership = MembershipFactory.create(user__email="c@example.com")
    BillingProfile.objects.create(
        organisation=membership.organisation, legal_name="C", country="FR", updated_at=clock.now()
    )
    return signed_in(membership.user)


def save_intention(browser: Client, **changes: str) -> Any:
    address = reverse("marketplace:intention_new", args=["rtx-4090"])
    key = re.search(
        r'name="key" value="(\w+)"', browser.get(f"{address}?{TICKET}").content.decode()
    )
    assert key is not None
    facts = {"gpus": "2", "hours": "12", "currency": "EUR", "limit_price": "0,35", "label": "LoRA"}
    return browser.post(address, {**facts, "key": key[1], **changes})


def open_by_admin(state: str = "open") -> None:
    admin = UserFactory.create(is_staff=True, is_superuser=True)
    Authenticator.objects.create(user=admin, type=Authenticator.Type.TOTP, data={"secret": SECRET})
    answer = signed_in(admin).post(
        reverse("admin:marketplace_marketstate_set"), {"state": state, "reason": "Launch"}
    )
    assert answer.status_code == 302


def test_every_page_says_that_the_market_is_not_open_and_how_to_be_told(client):
    for name, *args in (
        ("catalog:home",),
        ("catalog:gpu_list",),
        ("catalog:gpu", "rtx-4090"),
        ("marketplace:market",),
        ("marketplace:market_gpu", "rtx-4090"),
        ("marketplace:sell",),
        ("account_signup",),
    ):
        page = client.get(reverse(name, args=args)).content.decode()
        assert (name, BANNER in page) == (name, True)
        assert (name, "Create an account to be told when it opens" in page) == (name, True)


def test_the_seller_area_says_so_too():
    seller = SellerFactory.create()
    member = MembershipFactory.create(organisation=seller.organisation)

    page = signed_in(member.user).get(reverse("marketplace:seller_home")).content.decode()

    assert BANNER in page
    assert reverse("marketplace:demand") in page


def test_a_visitors_ticket_leads_through_sign_up_to_the_saved_intention(client):
    card = client.get(reverse("catalog:gpu", args=["rtx-4090"])).content.decode()
    address = reverse("marketplace:intention_new", args=["rtx-4090"]) + "?" + TICKET
    to_sign_up = client.get(address)
    client.post(
        to_sign_up.url,
        {
            "email": "new@example.com",
            "password1": PASSWORD,
            "accepts_terms": "on",
            **_next(address),
        },
    )
    code = re.search(r"^[A-Z0-9]{4}-?[A-Z0-9]{4}$", Mail.objects.get().body_text, re.MULTILINE)
    assert code is not None
    landed = client.post(
        reverse("account_email_verification_sent"), {"code": code.group(), **_next(address)}
    )

    form = client.get(landed.url).content.decode()
    saved = save_intention(client)

    assert "Save my intention" in card
    assert "Buy now" not in card
    assert to_sign_up.url.startswith(reverse("account_signup") + "?next=")
    assert landed.url == address
    assert 'value="12"' in form
    assert saved.url == reverse("marketplace:intentions")
    assert "LoRA" in client.get(saved.url).content.decode()
    assert Intention.objects.get().saved_by.email == "new@example.com"


def _next(address: str) -> dict[str, str]:
    return {"next": address}


def test_a_refused_intention_keeps_what_was_typed_and_saves_nothing():
    answer = save_intention(customer(), hours="999", limit_price="0,0005", label="LoRA")

    page = answer.content.decode()
    assert answer.status_code == 200
    assert 'value="999"' in page
    assert 'value="0,0005"' in page
    assert Intention.objects.count() == 0


def test_an_intention_is_withdrawn_on_its_page():
    browser = customer()
    save_intention(browser)

    answer = browser.post(
        reverse("marketplace:intention_withdraw", args=[Intention.objects.get().pk]), follow=True
    )

    assert "The intention is withdrawn." in answer.content.decode()
    assert Intention.objects.count() == 0


def test_no_money_and_no_order_is_taken_and_nothing_changes():
    browser = customer()
    top_up = browser.post(
        reverse("billing:top_up", args=["EUR"]), {"amount": "50", "key": "k"}, follow=True
    )
    fund_wallet(Membership.objects.get().organisation, amount_minor=100_00)
    journals = Journal.objects.count()
    order = browser.post(
        reverse("marketplace:order_review", args=["rtx-4090"])
        + "?kind=limit&gpus=1&hours=2&currency=EUR&limit_price=0.4",
        {
            "key": "k",
            "accepted_price_micro": "400000",
            "accepted_start": "1",
            "ssh_key": "new",
            "new_key": SSH_KEY,
        },
    )

    assert "Wallets take no money yet" in top_up.content.decode()
    assert "The market is not open yet: come back at its launch." in order.content.decode()
    assert (TopUp.objects.count(), Bid.objects.count(), Hold.objects.count()) == (0, 0, 0)
    assert (Command.objects.count(), Journal.objects.count()) == (0, journals)


def test_sellers_see_the_demand_without_names():
    browser = customer()
    save_intention(browser)
    seller = SellerFactory.create()
    member = MembershipFactory.create(organisation=seller.organisation)

    page = signed_in(member.user).get(reverse("marketplace:demand")).content.decode()

    assert ">24</td>" in page
    assert "shown from three organisations on" in page
    for secret in (
        "c@example.com",
        "LoRA",
        "0.35",
        Organisation.objects.get(memberships__user__email="c@example.com").name,
    ):
        assert secret not in page


def test_the_staff_open_the_market_and_the_intention_becomes_an_order(client):
    browser = customer()
    save_intention(browser)
    _confirm(User.objects.get(email="c@example.com"))
    ServerFactory.create(gpu_model=GpuModelFactory.create())

    open_by_admin()
    tell_of_times()
    tell_of_times()

    assert BANNER not in client.get(reverse("catalog:home")).content.decode()
    assert "Leave a bid" in client.get(reverse("catalog:gpu", args=["rtx-4090"])).content.decode()
    (mail,) = Mail.objects.filter(to_address="c@example.com")
    assert mail.subject == "GPU Bourse is open"
    assert OpeningNotice.objects.get().told_at is not None
    intentions = browser.get(reverse("marketplace:intentions")).content.decode()
    (ticket,) = re.findall(r'href="(/en/order/rtx-4090/review/[^"]+)"', intentions)
    review = browser.get(ticket.replace("&amp;", "&")).content.decode()
    assert "Your bid waits at €0.35 per GPU and hour" in review
    assert 'value="LoRA"' in review


def test_after_the_opening_the_form_of_an_intention_leads_to_the_orders():
    browser = customer()
    open_by_admin()

    answer = browser.get(reverse("marketplace:intention_new", args=["rtx-4090"]) + "?" + TICKET)
    refused = browser.post(
        reverse("marketplace:intention_new", args=["rtx-4090"]),
        {"gpus": "2", "hours": "12", "currency": "EUR", "key": "k"},
    )

    assert answer.url == reverse("marketplace:order_new", args=["rtx-4090"]) + "?" + TICKET
    assert "The market has opened" in refused.content.decode()
    assert Intention.objects.count() == 0


def test_a_kept_page_changes_with_the_state(
    client, settings, own_cache, django_capture_on_commit_callbacks
):
    settings.PUBLIC_PAGE_SECONDS = 60
    settings.MARKET_STATE_SECONDS = 60
    home = reverse("catalog:home")
    before = client.get(home)
    assert client.get(home, headers={"If-None-Match": before["ETag"]}).status_code == 304

    with django_capture_on_commit_callbacks(execute=True):
        open_by_admin()
    after = client.get(home, headers={"If-None-Match": before["ETag"]})

    assert BANNER in before.content.decode()
    assert after.status_code == 200
    assert BANNER not in after.content.decode()


def _confirm(user: User) -> None:
    from allauth.account.models import EmailAddress

    EmailAddress.objects.create(user=user, email=user.email, verified=True, primary=True)
