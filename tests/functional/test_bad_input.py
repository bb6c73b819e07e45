"""What clumsy and hostile people type: each form names what is wrong, and nothing changes."""

import re
from datetime import timedelta

import pytest
from django.test import Client

from billing.models import Hold, TopUp
from marketplace.accounts import clock
from marketplace.models import Bid, Fill, Offer
from marketplace.operations.matching import match_shard
from tests.exchange import SSH_KEY
from tests.factories import fund_wallet
from tests.functional.typed_forms import (
    NO_AMOUNTS,
    NO_NUMBERS,
    accepted,
    errors_of,
    next_hour,
    offer_form,
    review_address,
    ticket,
    typed,
)
from tests.functional.whole_market import (
    SLUG,
    WholeMarket,
    address_of,
    counted,
    make_whole_market,
)

pytestmark = pytest.mark.django_db

LANGUAGES = ("en", "fr")
NO_TIMES = (
    "2020-01-01T00:00",
    "0001-01-01T00:00",
    "9999-12-31T23:45",
    "2026-13-45T99:99",
    "2026-02-30T10:00",
    "tomorrow",
    "1e5",
    "-1",
)
# Hidden fields as no page of ours fills them.
FORGED: tuple[dict[str, object], ...] = (
    {"key": ""},
    {"key": "k" * 65},
    {"accepted_price_micro": ""},
    {"accepted_price_micro": "0"},
    {"accepted_price_micro": "-100000"},
    {"accepted_price_micro": "0.1"},
    {"accepted_price_micro": "1e5"},
    {"accepted_start": ""},
    {"accepted_start": "0"},
    {"accepted_start": "-62135596801"},
    {"accepted_start": "253402300800"},
    {"accepted_start": "99999999999999999999"},
    {"accepted_start": "NaN"},
)
# What the form lets pass or the exchange refuses, and the field that is named.
REFUSED: tuple[tuple[dict[str, object], str], ...] = (
    ({"accepted_price_micro": "100000000001"}, "__all__"),
    ({"accepted_price_micro": "9999"}, "__all__"),
    ({"accepted_price_micro": "100001"}, "__all__"),
    ({"accepted_price_micro": 10**30}, "__all__"),
    ({"label": "x" * 61}, "label"),
    ({"ssh_key": ""}, "ssh_key"),
    ({"ssh_key": "999999"}, "ssh_key"),
    ({"ssh_key": "x"}, "ssh_key"),
    ({"new_key": ""}, "new_key"),
    ({"new_key": "x"}, "new_key"),
    ({"new_key": SSH_KEY[:-30]}, "new_key"),
    ({"new_key": f'command="rm" {SSH_KEY}'}, "new_key"),
    ({"new_key": f"{SSH_KEY}\n{SSH_KEY}"}, "new_key"),
)


@pytest.fixture
def market() -> WholeMarket:
    return make_whole_market()


@pytest.fixture
def buyer(market) -> Client:
    return market.browser_of("buyer")


@pytest.fixture
def seller(market) -> Client:
    return market.browser_of("seller")


class TestAmounts:
    @pytest.mark.parametrize("language", LANGUAGES)
    def test_no_amount_tops_up_nothing(self, market, buyer, language):
        before = counted()

        for text in (*NO_AMOUNTS, "9,99", "5000,01", "20,001", "$50", "1.000"):
            answer = buyer.post(
                address_of("billing:top_up", "EUR", language=language),
                {"amount": text, "key": "new", "next": ""},
            )
            assert (text, answer.status_code, list(errors_of(answer))) == (text, 422, ["amount"])

        assert counted() == before

    @pytest.mark.parametrize("language", LANGUAGES)
    def test_no_price_makes_no_bid(self, market, buyer, language):
        before = counted()

        for text in (*NO_AMOUNTS, "0.009", "100.001", "0.1234"):
            if text == "1,234":
                continue  # A price may have three decimals, and a thousand is above the highest.
            answer = buyer.get(review_address(language, limit_price=text))
            assert (text, list(errors_of(answer))) == (text, ["limit_price"])

        assert counted() == before

    @pytest.mark.parametrize("language", LANGUAGES)
    def test_no_ask_makes_no_offer(self, market, seller, language):
        before = counted()

        for text in (*NO_AMOUNTS, "0.009", "100.001", "0.1234"):
            if text == "1,234":
                continue
            answer = seller.post(
                address_of("marketplace:offer_add", market.free_server.pk, language=language),
                offer_form(ask_price=text),
            )
            assert (text, list(errors_of(answer))) == (text, ["ask_price"])

        assert counted() == before

    @pytest.mark.parametrize("language", LANGUAGES)
    @pytest.mark.parametrize(
        ("text", "minor"),
        [
            ("12,80", 12_80),
            ("12.80", 12_80),
            ("1 280,50", 1_280_50),
            ("1\N{NARROW NO-BREAK SPACE}280,50", 1_280_50),
            ("1\N{NO-BREAK SPACE}280,5", 1_280_50),
            ("1,280.50", 1_280_50),
            ("1.280,50", 1_280_50),
            ("€12,80", 12_80),
            ("12,80 EUR", 12_80),
        ],
    )
    def test_comma_and_dot_mean_the_same_in_both_languages(
        self, market, buyer, stripe_double, language, text, minor
    ):
        page = address_of("billing:top_up", "EUR", language=language)

        buyer.post(page, {"amount": text, "key": "new", "next": ""})

        assert TopUp.objects.exclude(pk=market.top_up.pk).get().amount_minor == minor

    @pytest.mark.parametrize("language", LANGUAGES)
    @pytest.mark.parametrize("text", ["2,80", "2.80", "2,8", " 2,80 ", "2,80 €"])
    def test_two_euros_eighty_are_never_280(self, market, buyer, seller, language, text):
        shown = buyer.get(review_address(language, limit_price=text))
        seller.post(
            address_of("marketplace:offer_add", market.free_server.pk, language=language),
            offer_form(ask_price=text),
        )

        assert shown.context["preview"].limit_price_micro == 2_800_000
        assert Offer.objects.latest("pk").ask_price_micro == 2_800_000
        assert Bid.objects.count() == 2

    @pytest.mark.parametrize("key", ["", " ", "k" * 65])
    def test_without_a_fitting_key_no_top_up_is_begun(self, market, buyer, key):
        before = counted()

        answer = buyer.post(
            address_of("billing:top_up", "EUR"), {"amount": "20", "key": key, "next": ""}
        )

        assert (answer.status_code, list(errors_of(answer))) == (422, ["key"])
        # The page that comes back carries a key that fits.
        assert len(answer.context["form"]["key"].value()) == 32
        assert counted() == before

    def test_an_amount_in_the_address_is_a_suggestion_only(self, buyer):
        page = address_of("billing:top_up", "EUR")

        for query in ("amount=1e5", "amount=💶", "missing_minor=-5", "missing_minor=" + 99 * "9"):
            answer = buyer.get(f"{page}?{query}")
            assert (answer.status_code, answer.context["form"]["amount"].value()) == (200, None)


class TestTickets:
    @pytest.mark.parametrize("field", ["gpus", "hours"])
    def test_no_number_is_refused_by_its_field(self, market, buyer, field):
        before = counted()

        for text in (*NO_NUMBERS, "169", "17"):
            if (field, text) == ("hours", "17"):
                continue
            answer = buyer.get(review_address(**{field: text}))
            assert (text, list(errors_of(answer))) == (text, [field])

        assert counted() == before

    def test_more_gpus_than_any_server_has(self, buyer):
        answer = buyer.get(review_address(gpus=3))

        assert errors_of(answer)["gpus"] == [
            "The largest server of this model has 2 GPUs: choose fewer."
        ]

    @pytest.mark.parametrize("field", ["kind", "currency", "regions"])
    def test_what_is_not_on_the_list_is_refused(self, buyer, field):
        for value in ("CHF", "eur", "💩", "x" * 5_000, "eu-west,uk"):
            answer = buyer.get(review_address(**{field: value}))
            assert (value, list(errors_of(answer))) == (value, [field])

    @pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "Pacific/Pago_Pago"])
    def test_no_time_of_the_next_28_days_is_refused(self, market, zone):
        market.people["buyer"].time_zone = zone
        market.people["buyer"].save()
        client = market.browser_of("buyer")

        for field in ("earliest_start", "latest_start"):
            for text in NO_TIMES:
                answer = client.get(review_address(**{field: text}))
                assert (text, field in errors_of(answer)) == (text, True)

    def test_times_off_the_grid_or_beyond_the_horizon(self, buyer):
        off = next_hour() + timedelta(minutes=7)
        far = next_hour() + timedelta(days=29)

        for moment, words in ((off, "on a quarter of an hour"), (far, "within the next 28 days")):
            answer = buyer.get(review_address(earliest_start=typed(moment)))
            assert words in errors_of(answer)["earliest_start"][0]

    @pytest.mark.parametrize("text", ["2027-03-28T02:30", "2027-10-31T02:30"])
    def test_a_time_that_the_clocks_skip_or_show_twice_is_asked_again(self, buyer, text):
        answer = buyer.get(review_address(earliest_start=text))

        assert "couldn’t be interpreted" in errors_of(answer)["earliest_start"][0]

    def test_a_window_that_ends_before_it_begins(self, buyer):
        start = next_hour() + timedelta(hours=3)
        answer = buyer.get(
            review_address(
                earliest_start=typed(start), latest_start=typed(start - timedelta(hours=1))
            )
        )

        assert list(errors_of(answer)) == ["latest_start"]

    def test_a_model_that_is_not_sold_has_no_ticket(self, buyer):
        for slug in ("no-such-card", "x" * 300, "rtx-4090-"):
            for name in ("marketplace:order_new", "marketplace:order_review"):
                assert buyer.get(address_of(name, slug)).status_code == 404

    def test_a_ticket_without_anything_shows_what_is_missing(self, buyer):
        answer = buyer.get(address_of("marketplace:order_review", SLUG))

        assert sorted(errors_of(answer)) == ["currency", "gpus", "hours", "kind"]

    def test_a_ticket_filled_with_rubbish_can_be_shown(self, buyer):
        page = address_of("marketplace:order_new", SLUG)

        for field in ticket(earliest_start="", latest_start="", regions="", unknown=""):
            for text in ("💩", "<script>", "9" * 5_000, "-1", "%0A"):
                answer = buyer.get(page, {field: text})
                assert answer.status_code == 200
                assert "<script>" not in answer.content.decode().replace("<script type", "")


class TestOrders:
    def test_a_forged_or_missing_hidden_field_places_nothing(self, market, buyer):
        words = {"__all__": ["This form is incomplete or was changed: open it again."]}
        before = counted()

        for changes in FORGED:
            answer = buyer.post(review_address(), accepted(**changes))
            assert (changes, errors_of(answer)) == (changes, words)

        assert counted() == before

    def test_what_the_exchange_refuses_places_nothing(self, market, buyer):
        before = counted()

        for changes, field in REFUSED:
            answer = buyer.post(review_address(), accepted(**changes))
            assert (changes, list(errors_of(answer))) == (changes, [field])

        assert counted() == before

    @pytest.mark.parametrize("seconds", [1, 1_500_000_000, 253_402_300_799])
    def test_buying_from_a_start_that_cannot_be_met_places_nothing(self, market, buyer, seconds):
        before = counted()

        answer = buyer.post(
            review_address(kind="buy_now"),
            accepted(accepted_price_micro=400_000, accepted_start=seconds),
        )

        assert errors_of(answer)
        assert counted() == before

    def test_buying_at_a_forged_lower_price_buys_nothing_and_holds_nothing(self, market, buyer):
        page = buyer.get(review_address(kind="buy_now")).content.decode()
        start = re.search(r'name="accepted_start" value="(\d+)"', page)
        assert start is not None

        buyer.post(
            review_address(kind="buy_now"),
            accepted(accepted_price_micro=10_000, accepted_start=start[1]),
        )
        match_shard(now=clock.now())

        bid = Bid.objects.latest("pk")
        assert (bid.status, bid.refusal) == (Bid.Status.REFUSED, "price")
        assert Hold.objects.get(purpose=bid.hold_purpose).state != Hold.State.OPEN
        assert Fill.objects.count() == 1

    def test_another_organisations_key_cannot_be_chosen(self, market):
        stranger = market.browser_of("stranger")

        answer = stranger.post(review_address(), accepted(ssh_key=market.key.pk))

        assert "ssh_key" in errors_of(answer)
        assert Bid.objects.count() == 2

    def test_sent_twice_is_one_order_and_one_hold(self, market, buyer):
        first, second = (buyer.post(review_address(), accepted()) for _click in range(2))

        assert (first.status_code, first.url) == (302, second.url)
        assert (Bid.objects.count(), Hold.objects.count()) == (3, 3)

    def test_a_key_that_came_with_another_order_is_told(self, market, buyer):
        buyer.post(review_address(), accepted())
        before = counted()

        answer = buyer.post(review_address(hours=3), accepted())

        assert errors_of(answer) == {
            "__all__": ["This form was sent before with other values: open it again."]
        }
        assert counted() == before

    def test_the_same_key_of_two_organisations_is_two_orders(self, market, buyer):
        stranger = market.browser_of("stranger")
        fund_wallet(market.people["stranger"].personal_organisation, amount_minor=10_00)

        buyer.post(review_address(), accepted())
        stranger.post(review_address(), accepted())

        assert Bid.objects.count() == 4

    def test_without_money_the_missing_amount_leads_to_a_top_up(self, market):
        stranger = market.browser_of("stranger")
        before = counted()

        page = stranger.post(review_address(), accepted()).content.decode()

        # 2 h × 0.10 and 20 % of it.
        assert "Your balance does not cover this order; nothing was bought." in page
        assert "missing_minor=24" in page
        assert counted() == before
