"""A bid below every offer waits; a seller lists one below it; the bid fills at its own limit."""

from datetime import timedelta

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage
from tests.browser.people import SELLER, WAITING_CUSTOMER
from tests.browser.site import Site
from tests.browser.visits import SLOT, Clock, act_for

pytestmark = pytest.mark.browser

FIELD_TIME = "%Y-%m-%dT%H:%M"


def test_a_waiting_bid_is_filled_at_its_own_price_by_a_cheaper_offer(
    signed_in: OpenPage, clock: Clock, site: Site
) -> None:
    customer = signed_in(WAITING_CUSTOMER.email)
    leave_a_bid(customer)
    expect(customer.get_by_text("Your bid is waiting")).to_be_visible()
    customer.evaluate("window.openedOnce = true")

    seller = signed_in(SELLER.email)
    act_for(seller, SELLER.name)
    add_a_server(seller)
    offer_its_hours(seller, clock)

    expect(customer.get_by_text("Filled: you pay €0.50 per GPU and hour")).to_be_visible()
    assert customer.evaluate("window.openedOnce") is True
    hand_the_machine_over(seller, site)
    # The offer begins with the next slot, and the set-up with it.
    clock.advance_slot()
    customer.get_by_role("link", name="Open the rental").click()
    expect(customer.get_by_text("The machine is ready.")).to_be_visible()


def leave_a_bid(page: Page) -> None:
    page.goto("/en/gpus/l4/?currency=EUR")
    expect(page.get_by_text("No offer now").first).to_be_visible()
    page.get_by_role("link", name="Leave a bid at your price").click()
    page.get_by_label("Hours").fill("2")
    page.get_by_label("Your price per GPU and hour").fill("0,50")
    page.get_by_role("button", name="Review the order").click()
    expect(page.get_by_text("Your bid waits at €0.50 per GPU and hour")).to_be_visible()
    page.get_by_role("button", name="Leave the bid, hold €1.20").click()


def add_a_server(page: Page) -> None:
    page.goto("/en/seller/servers/add/")
    page.get_by_label("Server name").fill("rack 1")
    page.get_by_label("GPU model").select_option("l4")
    page.get_by_label("Number of GPUs").fill("2")
    page.get_by_label("Region").select_option("uk")
    page.get_by_role("button", name="Add the server").click()
    expect(page.get_by_text("The server is added.")).to_be_visible()


def offer_its_hours(page: Page, clock: Clock) -> None:
    now = clock.now()
    start = now - timedelta(minutes=now.minute % 15) + SLOT
    page.get_by_role("link", name="Offer its hours").click()
    page.get_by_label("Your price per GPU and hour, before tax").fill("0.45")
    page.get_by_label("Currency").select_option("EUR")
    page.get_by_label("For sale from").fill(start.strftime(FIELD_TIME))
    page.get_by_label("For sale until").fill((start + timedelta(days=2)).strftime(FIELD_TIME))
    page.get_by_role("button", name="List the offer").click()
    expect(page.get_by_text("Your offer is on its way to the market.")).to_be_visible()


def hand_the_machine_over(page: Page, site: Site) -> None:
    """Type the address of the demo's SSH server, as a seller types that of a machine."""
    machine = site.environment()
    page.goto("/en/seller/sales/")
    page.get_by_role("link", name="Hand over sale").last.click()
    expect(page.get_by_role("definition").filter(has_text="€0.50")).to_be_visible()
    page.get_by_label("Host name or address").fill(machine["DEMO_SSH_HOST"])
    page.get_by_label("Port").fill(machine["DEMO_SSH_PORT"])
    page.get_by_label("User").fill("guest")
    page.get_by_label("Fingerprint of the host key").fill(machine["DEMO_SSH_FINGERPRINT"])
    page.get_by_role("button", name="Hand over and check").click()
    expect(page.get_by_text("We check the machine now")).to_be_visible()
