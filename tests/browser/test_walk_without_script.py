"""Reading, filtering, ordering and cancelling in a browser that runs no script."""

from time import monotonic, sleep

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage
from tests.browser.people import SCRIPTLESS_USER
from tests.browser.visits import PATIENCE_MS

pytestmark = pytest.mark.browser

RELOAD_SECONDS = 1


def test_without_script_people_read_filter_order_and_cancel(signed_in: OpenPage) -> None:
    page = signed_in(SCRIPTLESS_USER.email, java_script_enabled=False)

    read_and_filter(page)
    leave_a_bid(page)
    reload_until(page, "Your bid is waiting")
    find_it_among_the_orders(page)
    page.get_by_role("button", name="Cancel and free £0.60").click()
    reload_until(page, "The order is cancelled and its hold released")


def read_and_filter(page: Page) -> None:
    page.goto("/en/use-cases/fine-tuning/")
    expect(page.get_by_role("row").filter(has_text="RTX 4090")).to_contain_text("GB/s")
    page.get_by_role("link", name="All GPU models").first.click()
    page.get_by_role("link", name="GBP").click()
    row = page.get_by_role("row").filter(has=page.get_by_role("link", name="RTX 4090 Ada Lovelace"))
    expect(row).to_contain_text("£")
    row.get_by_role("link").click()


def leave_a_bid(page: Page) -> None:
    page.get_by_role("link", name="Leave a bid at your price").click()
    page.get_by_label("Hours").fill("5")
    page.get_by_label("Your price per GPU and hour").fill("0.10")
    page.get_by_role("button", name="Review the order").click()
    page.get_by_role("button", name="Leave the bid, hold £0.60").click()


def reload_until(page: Page, words: str) -> None:
    """Follow the page's own link until the exchange has answered."""
    deadline = monotonic() + PATIENCE_MS / 1000
    while not page.get_by_text(words).is_visible():
        assert monotonic() < deadline, f"the page never says: {words}"
        sleep(RELOAD_SECONDS)
        page.get_by_role("link", name="Reload this page").click()


def find_it_among_the_orders(page: Page) -> None:
    page.goto("/en/orders/")
    page.get_by_label("State").select_option("filled")
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_text("No order", exact=False).first).to_be_visible()
    page.get_by_label("State").select_option("resting")
    page.get_by_role("button", name="Show").click()
    page.get_by_role("main").get_by_role("link", name="Order").first.click()
    expect(page.get_by_text("Your bid is waiting")).to_be_visible()
