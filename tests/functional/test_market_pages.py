"""The market's pages as people use them: order, wait, cancel, sell; and what bad input gets."""

import re
from datetime import timedelta

import pytest
from django.core.cache import cache
from django.urls import reverse
from django.utils import translation

from billing.models import BillingProfile, Hold
from marketplace.accounts import clock
from marketplace.models import Bid, Command, MarketState, Offer, Rental, Seller, Server
from marketplace.operations.deliveries import HandOver
from marketplace.operations.market_state import set_market_state
from marketplace.operations.matching import match_shard
from tests.builders import FINGERPRINT
from tests.exchange import SSH_KEY
from tests.factories import GpuModelFactory, ServerFactory, fund_wallet
from tests.personas import Personas, make_personas

pytestmark = pytest.mark.django_db

PRICE = "0,33"


@pytest.fixture
def people() -> Personas:
    personas = make_personas()
    now = clock.now()
    for organisation in (personas.buyer_organisation, personas.stranger_organisation):
        BillingProfile.objects.create(
            organisation=organisation, legal_name="X", country="FR", updated_at=now
        )
    set_market_state(
        state=MarketState.State.OPEN, reason="launch", staff_id=personas.admin.pk, now=now
    )
    return personas


@pytest.fixture
def server(people: Personas) -> Server:
    Seller.objects.update(delivers_by_hand=True)
    return ServerFactory.create(
        organisation=people.seller_organisation, gpu_model=GpuModelFactory.create(), gpu_count=2
    )


@pytest.fixture
def as_person(client):
    def sign_in(user):
        client.force_login(user, backend="allauth.account.auth_backends.AuthenticationBackend")
        return client

    with translation.override("en"):
        yield sign_in


def local(moment) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M")


def list_by_page(browser, server: Server, *, ask: str = PRICE, currency: str = "USD"):
    start = clock.now().replace(minute=0, second=0, microsecond=0) + timedelta(hours=2)
    return browser.post(
        reverse("marketplace:offer_add", args=[server.pk]),
        {
            "key": "offer-key",
            "ask_price": ask,
            "currency": currency,
            "starts_at": local(start),
            "ends_at": local(start + timedelta(days=7)),
            "min_gpus": 1,
            "gpu_step": 1,
            "min_hours": 1,
        },
    )


def offer_hours(as_person, people: Personas, server: Server, **terms) -> Offer:
    response = list_by_page(as_person(people.seller), server, **terms)
    assert response.status_code == 302, response.content.decode()
    match_shard(now=clock.now())
    return Offer.objects.get()


def hidden_values(page: str) -> dict[str, str]:
    return dict(re.findall(r'<input type="hidden" name="(key|accepted_\w+)" value="([^"]*)"', page))


def buy_by_page(browser, *, ticket: str = "kind=buy_now&gpus=1&hours=2&currency=USD", **changed):
    address = reverse("marketplace:order_review", args=["rtx-4090"]) + "?" + ticket
    shown = browser.get(address)
    assert shown.status_code == 200
    form = hidden_values(shown.content.decode())
    return browser.post(
        address, form | {"ssh_key": "new", "new_key": SSH_KEY, "label": ""} | changed
    )


class TestBuyingNow:
    def test_goes_from_review_to_a_filled_order_at_the_offers_price(
        self, as_person, people, server
    ):
        fund_wallet(people.buyer_organisation, amount_minor=10_00, currency="USD")
        offer_hours(as_person, people, server)
        browser = as_person(people.buyer)

        placed = buy_by_page(browser)
        match_shard(now=clock.now())

        bid = Bid.objects.get()
        assert placed.url == reverse("marketplace:order", args=[bid.pk])
        assert bid.status == Bid.Status.FILLED
        # 2 h × 0.33 = 0.66 and 20 % of it.
        assert Hold.objects.get().amount_minor == 79
        page = browser.get(placed.url).content.decode()
        assert "Bought: you pay the offer’s price, $0.33 per GPU and hour" in page

    def test_sent_twice_buys_once(self, as_person, people, server):
        fund_wallet(people.buyer_organisation, amount_minor=10_00, currency="USD")
        offer_hours(as_person, people, server)
        browser = as_person(people.buyer)

        first = buy_by_page(browser, key="same")
        second = buy_by_page(browser, key="same", accepted_start=str(_start_of_only_bid()))

        assert first.url == second.url
        assert Bid.objects.count() == 1

    def test_without_enough_money_names_what_is_missing_and_places_nothing(
        self, as_person, people, server
    ):
        fund_wallet(people.buyer_organisation, amount_minor=50, currency="USD")
        offer_hours(as_person, people, server)
        browser = as_person(people.buyer)

        response = buy_by_page(browser)

        page = response.content.decode()
        assert response.status_code == 200
        assert "Your balance does not cover this order; nothing was bought." in page
        assert "Top up at least $0.29" in page
        assert "Order 1 hour: your balance covers it" in page
        assert not Bid.objects.exists()
        assert not Hold.objects.exists()

    @pytest.mark.parametrize(
        ("ticket", "said"),
        [
            ("kind=buy_now&gpus=0&hours=2&currency=USD", "greater than or equal to 1"),
            ("kind=buy_now&gpus=3&hours=2&currency=USD", "has 2 GPUs: choose fewer"),
            ("kind=buy_now&gpus=1&hours=169&currency=USD", "less than or equal to 168"),
            ("kind=buy_now&gpus=1&hours=-1&currency=USD", "greater than or equal to 1"),
            ("kind=buy_now&gpus=1&hours=1&currency=CHF", "CHF is not one of the available"),
            ("kind=buy_now&gpus=1&hours=1&currency=EUR", "No offer serves this order now"),
            ("kind=limit&gpus=1&hours=1&currency=USD", "Give the most you would pay"),
            ("kind=limit&gpus=1&hours=1&currency=USD&limit_price=-1", "limit_price_error"),
            ("kind=limit&gpus=1&hours=1&currency=USD&limit_price=1.2345", "limit_price_error"),
            (
                "kind=limit&gpus=1&hours=1&currency=USD&limit_price=1&earliest_start=2020-01-01T00:00",
                "not in the past",
            ),
        ],
    )
    def test_bad_tickets_name_their_field(self, as_person, people, server, ticket, said):
        offer_hours(as_person, people, server)
        browser = as_person(people.buyer)

        response = browser.get(
            reverse("marketplace:order_review", args=["rtx-4090"]) + "?" + ticket
        )

        assert said in response.content.decode()
        assert not Bid.objects.exists()

    def test_refuses_what_is_not_a_public_key(self, as_person, people, server):
        fund_wallet(people.buyer_organisation, amount_minor=10_00, currency="USD")
        offer_hours(as_person, people, server)

        response = buy_by_page(as_person(people.buyer), new_key="not a key")

        assert response.status_code == 200
        assert "not an OpenSSH public key" in response.content.decode()
        assert not Bid.objects.exists()

    def test_a_withdrawn_offer_sells_nothing(self, as_person, people, server):
        fund_wallet(people.buyer_organisation, amount_minor=10_00, currency="USD")
        offer = offer_hours(as_person, people, server)
        as_person(people.seller).post(reverse("marketplace:offer_withdraw", args=[offer.pk]))
        match_shard(now=clock.now())

        response = as_person(people.buyer).get(
            reverse("marketplace:order_review", args=["rtx-4090"])
            + "?kind=buy_now&gpus=1&hours=1&currency=USD"
        )

        assert "No offer serves this order now" in response.content.decode()


def _start_of_only_bid() -> int:
    return int(Bid.objects.get().earliest_start.timestamp())


class TestWaitingBid:
    def test_rests_below_the_ask_and_is_cancelled_with_its_hold(self, as_person, people, server):
        wallet = fund_wallet(people.buyer_organisation, amount_minor=10_00, currency="USD")
        offer_hours(as_person, people, server)
        browser = as_person(people.buyer)

        placed = buy_by_page(
            browser, ticket="kind=limit&gpus=1&hours=2&currency=USD&limit_price=0.20"
        )
        match_shard(now=clock.now())
        waiting = browser.get(placed.url).content.decode()
        browser.post(reverse("marketplace:order_cancel", args=[Bid.objects.get().pk]))
        match_shard(now=clock.now())

        assert "Your bid is waiting" in waiting
        assert "The cheapest offer that fits asks more than your limit." in waiting
        wallet.refresh_from_db()
        assert wallet.held_minor == 0
        assert "The order is cancelled" in browser.get(placed.url).content.decode()

    def test_is_followed_by_its_live_part_which_is_unchanged_until_something_happens(
        self, as_person, people, server
    ):
        fund_wallet(people.buyer_organisation, amount_minor=10_00, currency="USD")
        browser = as_person(people.buyer)
        placed = buy_by_page(
            browser, ticket="kind=limit&gpus=1&hours=2&currency=USD&limit_price=0.50"
        )
        match_shard(now=clock.now())

        first = browser.get(placed.url + "?part=live")
        again = browser.get(placed.url + "?part=live", headers={"If-None-Match": first["ETag"]})
        offer_hours(as_person, people, server)
        after = as_person(people.buyer).get(
            placed.url + "?part=live", headers={"If-None-Match": first["ETag"]}
        )

        assert (first.status_code, again.status_code, after.status_code) == (200, 304, 200)
        assert "Filled: you pay $0.50 per GPU and hour" in after.content.decode()


class TestStrangers:
    @pytest.mark.parametrize(
        ("name", "method"),
        [
            ("order", "get"),
            ("order_cancel", "post"),
            ("rental", "get"),
            ("rental_stop", "post"),
            ("server", "get"),
            ("offer_add", "get"),
            ("offer_withdraw", "post"),
            ("sale", "get"),
        ],
    )
    def test_somebody_elses_object_is_not_there(self, as_person, people, server, name, method):
        fund_wallet(people.buyer_organisation, amount_minor=10_00, currency="USD")
        offer = offer_hours(as_person, people, server)
        buy_by_page(as_person(people.buyer))
        match_shard(now=clock.now())
        before = list(Command.objects.values_list("pk", flat=True))
        pk = {
            "order": Bid.objects.get().pk,
            "order_cancel": Bid.objects.get().pk,
            "rental": Rental.objects.get().pk,
            "rental_stop": Rental.objects.get().pk,
            "sale": Rental.objects.get().pk,
            "offer_withdraw": offer.pk,
        }.get(name, server.pk)

        response = getattr(as_person(people.stranger), method)(
            reverse(f"marketplace:{name}", args=[pk])
        )

        assert response.status_code == 404
        assert list(Command.objects.values_list("pk", flat=True)) == before

    def test_nobody_is_sent_to_sign_in(self, client, people):
        with translation.override("en"):
            response = client.get(reverse("marketplace:orders"))

        assert response.status_code == 302
        assert reverse("account_login") in response.url

    def test_a_colleague_sees_the_organisations_orders(self, as_person, people, server):
        fund_wallet(people.buyer_organisation, amount_minor=10_00, currency="USD")
        offer_hours(as_person, people, server)
        placed = buy_by_page(as_person(people.buyer))

        response = as_person(people.colleague).get(placed.url)

        assert response.status_code == 200


class TestSelling:
    def test_refuses_a_second_offer_of_one_server(self, as_person, people, server):
        offer_hours(as_person, people, server)

        response = as_person(people.seller).post(
            reverse("marketplace:offer_add", args=[server.pk]),
            {
                "key": "another",
                "ask_price": "0.40",
                "currency": "USD",
                "starts_at": local(clock.now() + timedelta(hours=3)),
                "ends_at": local(clock.now() + timedelta(hours=9)),
                "min_gpus": 1,
                "gpu_step": 1,
                "min_hours": 1,
            },
        )

        assert response.status_code == 200
        assert Offer.objects.count() == 1

    def test_two_decimals_after_a_comma_are_cents_in_both_languages(
        self, as_person, people, server
    ):
        offer = offer_hours(as_person, people, server, ask="2,80")

        assert offer.ask_price_micro == 2_800_000

    def test_an_unverified_seller_is_told_why(self, as_person, people, server):
        Seller.objects.update(state=Seller.State.APPLIED)

        response = list_by_page(as_person(people.seller), server)

        assert "Our staff verify you before your first offer." in response.content.decode()
        assert not Offer.objects.exists()

    def test_hands_a_machine_over_on_the_sales_page(self, as_person, people, server):
        fund_wallet(people.buyer_organisation, amount_minor=10_00, currency="USD")
        offer_hours(as_person, people, server)
        buy_by_page(as_person(people.buyer))
        match_shard(now=clock.now())
        rental = Rental.objects.get()
        address = reverse("marketplace:sale", args=[rental.pk])
        browser = as_person(people.seller)

        shown = browser.get(address).content.decode()
        browser.post(
            address,
            _hand_over_values(
                HandOver(
                    host="gpu.example.com",
                    port=2222,
                    username="root",
                    host_key_fingerprint=FINGERPRINT,
                )
            ),
        )

        assert SSH_KEY.split()[1] in shown
        rental.refresh_from_db()
        assert (rental.host, rental.port) == ("gpu.example.com", 2222)


def _hand_over_values(access: HandOver) -> dict[str, object]:
    return {
        "host": access.host,
        "port": access.port,
        "username": access.username,
        "host_key_fingerprint": access.host_key_fingerprint,
    }


class TestEveryPage:
    @pytest.mark.parametrize("language", ["en", "fr"])
    @pytest.mark.parametrize("is_empty", [True, False])
    def test_answers_in_both_languages_with_and_without_content(
        self, as_person, people, server, language, is_empty
    ):
        customer_pages: list[tuple[str | int, ...]] = [
            ("dashboard",),
            ("orders",),
            ("rentals",),
            ("order_new", "rtx-4090"),
        ]
        seller_pages: list[tuple[str | int, ...]] = [
            ("seller_home",),
            ("servers",),
            ("server_add",),
            ("offers",),
            ("sales",),
            ("server", server.pk),
            ("offer_add", server.pk),
        ]
        if not is_empty:
            fund_wallet(people.buyer_organisation, amount_minor=10_00, currency="USD")
            offer_hours(as_person, people, server)
            buy_by_page(as_person(people.buyer))
            match_shard(now=clock.now())
            customer_pages += [("order", Bid.objects.get().pk), ("rental", Rental.objects.get().pk)]
            seller_pages += [("sale", Rental.objects.get().pk)]

        with translation.override(language):
            for user, pages in ((people.buyer, customer_pages), (people.seller, seller_pages)):
                for name, *args in pages:
                    response = as_person(user).get(reverse(f"marketplace:{name}", args=args))
                    page = response.content.decode()
                    assert response.status_code == 200, name
                    assert page.count("<h1") == 1, name
                    assert f'<html lang="{language}"' in page, name

    def test_prelaunch_takes_no_order_and_says_so(self, as_person, people, server):
        MarketState.objects.update(state=MarketState.State.PRELAUNCH)
        cache.clear()
        browser = as_person(people.buyer)

        response = browser.get(reverse("marketplace:order_new", args=["rtx-4090"]), follow=True)

        assert "The market is not open yet" in response.content.decode()
        assert "Save my intention" in response.content.decode()
