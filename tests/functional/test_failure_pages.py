"""What the pages say of an interruption, of a machine that never came, and of a suspended server."""

import pytest
from django.urls import reverse
from django.utils import translation

from marketplace.accounts import clock
from marketplace.models import DeliveryGap, Rental
from marketplace.operations.servers import resume_server
from tests.builders import sell
from tests.exchange import member_of
from tests.rental_steps import BAD, GOOD, at, make_ready, probe, sweep

pytestmark = pytest.mark.django_db


@pytest.fixture
def page_of(client):
    """Return the text of a page as one of an organisation's people sees it, in English."""

    def read(organisation, name, *arguments, part="?part=live", method="get"):
        client.force_login(
            member_of(organisation),
            backend="allauth.account.auth_backends.AuthenticationBackend",
        )
        session = client.session
        session["organisation_id"] = organisation.pk
        session.save()
        address = reverse(f"marketplace:{name}", args=arguments) + part
        response = getattr(client, method)(address, follow=True)
        assert response.status_code == 200
        return " ".join(response.content.decode().split())

    with translation.override("en"):
        yield read


def set_clock(moment) -> None:
    clock.set_offset(offset_seconds=0)
    clock.set_offset(offset_seconds=round((moment - clock.now()).total_seconds()))


@pytest.fixture
def interrupted() -> Rental:
    """A rental of four hours, down since P + 20, known to be so since P + 22."""
    rental = sell(hours=4)
    make_ready(rental, at(-5))
    for minute, result in ((20, GOOD), (21, BAD), (22, BAD)):
        probe(rental, result, at(minute))
    return rental


class TestAnInterruptedRental:
    def test_says_since_when_and_what_follows(self, page_of, interrupted):
        set_clock(at(25))

        page = page_of(interrupted.organisation, "rental", interrupted.pk)

        # Paris is an hour ahead: P + 20 is 12:20.
        assert "The machine has not answered since 2 Nov 2026, 12:20 (Europe/Paris)" in page
        assert "From 2 Nov 2026, 12:37 (Europe/Paris) you may end the rental" in page
        assert "ends by itself at 2 Nov 2026, 13:22 (Europe/Paris)" in page
        assert "a tenth of the later hours" in page

    def test_offers_its_end_without_a_fee_after_a_quarter_of_an_hour(self, page_of, interrupted):
        set_clock(at(38))

        page = page_of(interrupted.organisation, "rental", interrupted.pk)

        assert "It ends as the seller’s failure: no fee is due." in page
        assert "<dt>Given back for undelivered minutes</dt> <dd>€0.40</dd>" in page
        assert "a tenth of the later hours" not in page

    def test_can_be_kept_and_says_so(self, page_of, interrupted):
        set_clock(at(38))

        page = page_of(
            interrupted.organisation, "rental_wait", interrupted.pk, part="", method="post"
        )

        assert "The rental goes on; you may still end it at any time." in page
        assert "You keep the rental." in page
        assert "Keep the rental and wait" not in page
        assert DeliveryGap.objects.get().customer_waits

    def test_that_answers_again_has_nothing_to_wait_for(self, page_of, interrupted):
        probe(interrupted, GOOD, at(38))
        set_clock(at(38.5))

        page = page_of(
            interrupted.organisation, "rental_wait", interrupted.pk, part="", method="post"
        )

        assert "The machine answers again, or the rental is over." in page
        assert "has not answered since" not in page


def test_a_rental_that_was_not_delivered_says_that_everything_is_free_again(page_of):
    rental = sell()
    sweep(rental, at(15))

    page = page_of(rental.organisation, "rental", rental.pk)

    assert "The machine was not delivered" in page
    assert "all that was held for this rental is free in your wallet again" in page
    assert "End early" not in page


class TestASuspendedServer:
    @pytest.fixture
    def rental(self) -> Rental:
        rental = sell()
        sweep(rental, at(15))
        set_clock(at(20))
        return rental

    @pytest.mark.parametrize("name", ["server", "seller_home"])
    def test_says_since_when_why_and_what_to_do(self, page_of, rental, name):
        arguments = [rental.server_id] if name == "server" else []

        page = page_of(rental.server.organisation, name, *arguments, part="")

        title = f"{rental.server.name} takes no new sales since 2 Nov 2026, 12:15 (Europe/Paris)"
        assert title in page
        assert "A sold machine was not delivered in time." in page
        assert "write to our staff that the machine answers again" in page
        assert reverse("marketplace:sale", args=[rental.pk]) in page

    def test_that_sells_again_says_what_its_freed_hours_may_cost(self, page_of, rental):
        resume_server(server_id=rental.server_id, actor_id=None, now=at(20))

        page = page_of(rental.server.organisation, "server", rental.server_id, part="")

        assert "takes no new sales" not in page
        assert "sell only at or below its price, €0.50" in page
