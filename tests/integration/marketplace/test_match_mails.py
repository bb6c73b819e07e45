"""Mails about what the exchange did: one for each event, in the reader's own language."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from marketplace.accounts.models import Mail, Membership
from marketplace.models import Bid, Fill
from marketplace.operations import match_mails
from marketplace.operations.match_mails import tell_of_matches
from tests.builders import make_server, sell
from tests.exchange import HOUR, make_customer, match, member_of, open_market, place
from tests.factories import T0, MembershipFactory
from tests.rental_steps import P

pytestmark = pytest.mark.django_db


def mails_to(address: str) -> list[Mail]:
    return list(Mail.objects.filter(to_address=address).order_by("pk"))


def expired_bid(**owner: Any) -> Bid:
    open_market()
    bid = place(make_customer(**owner), latest_start=T0 + 2 * HOUR)
    match()
    match(T0 + 3 * HOUR)
    bid.refresh_from_db()
    assert bid.status == Bid.Status.EXPIRED
    return bid


class TestAFill:
    def test_is_told_to_who_ordered_with_price_time_and_link(self):
        customer = make_customer(email="c@example.com", time_zone="Europe/Paris")
        rental = sell(customer=customer, gpus=2, hours=3)

        told = tell_of_matches(now=T0)

        (mail,) = mails_to("c@example.com")
        assert told == 1
        assert mail.subject == f"Your order is filled: rental {rental.pk}"
        assert "2 × RTX 4090 for 3 h" in mail.body_text
        assert "Price per GPU and hour, before tax: €0.50" in mail.body_text
        # 2 × 3 h × 0.50 and 20 % VAT.
        assert "Held, tax included: €3.60" in mail.body_text
        # From 11:00 UTC, an hour later in Paris.
        assert "12:00 (Europe/Paris)" in mail.body_text
        assert f"http://127.0.0.1:8000/en/rentals/{rental.pk}/" in mail.body_text
        assert f"/en/rentals/{rental.pk}/" in mail.body_html

    def test_is_told_to_the_sellers_owners_and_traders_with_the_deadline_and_the_sales_page(self):
        server = make_server()
        owner = member_of(server.organisation)
        trader, viewer = (
            MembershipFactory.create(
                organisation=server.organisation, role=role, user__language="fr"
            ).user
            for role in (Membership.Role.TRADER, Membership.Role.VIEWER)
        )
        rental = sell(server=server)

        tell_of_matches(now=T0)

        (to_owner,), (to_trader,) = mails_to(owner.email), mails_to(trader.email)
        assert to_owner.subject.startswith(f"Sale {rental.pk}: hand {server.name} over by ")
        assert "does not answer us by 2 Nov 2026, 12:15 (Europe/Paris)" in to_owner.body_text
        assert f"http://127.0.0.1:8000/fr/vendeur/ventes/{rental.pk}/" in to_trader.body_text
        assert mails_to(viewer.email) == []

    def test_is_told_once_whatever_is_repeated(self):
        rental = sell()

        tell_of_matches(now=T0)
        again = tell_of_matches(now=P)
        match(P)
        tell_of_matches(now=P)

        assert again == 0
        assert Fill.objects.get().told_at == T0
        assert Mail.objects.filter(subject__contains=f"rental {rental.pk}").count() == 1

    def test_costs_as_many_statements_for_ten_as_for_one(self):
        counts = []
        for fills in (1, 10):
            for _ in range(fills):
                sell()
            with CaptureQueriesContext(
                connection,
            ) as queries:
                assert tell_of_matches(now=T0) == fills
            counts.append(len(queries))

        assert counts[0] == counts[1]

    def test_that_cannot_be_told_holds_up_no_other(self, monkeypatch, caplog):
        bad, good = sell(), sell()
        write = match_mails.write_letters

        def write_unless_bad(letters):
            letters = list(letters)
            if any(letter.page_id == bad.pk for letter in letters):
                raise RuntimeError
            write(letters)

        monkeypatch.setattr(match_mails, "write_letters", write_unless_bad)

        told = tell_of_matches(now=T0)

        assert told == 1
        assert dict(Fill.objects.values_list("rental", "told_at")) == {bad.pk: None, good.pk: T0}
        assert [r.message for r in caplog.records] == ["People could not be told of a match."]


class TestAnExpiredBid:
    def test_is_told_once_to_who_placed_it_in_their_language(self):
        bid = expired_bid(email="c@example.com", language="fr", time_zone="Europe/Paris")

        told = tell_of_matches(now=T0 + 3 * HOUR), tell_of_matches(now=T0 + 4 * HOUR)

        (mail,) = mails_to("c@example.com")
        assert told == (1, 0)
        assert f"http://127.0.0.1:8000/fr/ordres/{bid.pk}/" in mail.body_text
        assert "0,40\N{NO-BREAK SPACE}€" in mail.body_text

    def test_is_not_one_that_was_cancelled_or_still_waits(self):
        open_market()
        place(make_customer(), latest_start=T0 + timedelta(days=1))
        match()

        assert tell_of_matches(now=T0) == 0
        assert not Mail.objects.exists()
