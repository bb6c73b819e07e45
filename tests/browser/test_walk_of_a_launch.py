"""Before the launch an intention is saved; the staff open the market; it is an order form."""

from collections.abc import Iterator

import psycopg
import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage
from tests.browser.pages import BEFORE_LAUNCH, SELLING_COMPANY, SELLING_COMPANYS_DEMAND
from tests.browser.people import WAITING_CUSTOMER
from tests.browser.site import Site
from tests.browser.test_every_page import find_faults
from tests.browser.visits import Clock, act_for

pytestmark = pytest.mark.browser

# How soon a page must show what the staff changed.
SOON_MS = 5_000
# A change that the database alone knows of waits for the kept pages' time to be over.
UNTOLD_MS = 20_000
BANNER = "The market is not open yet."
# The small world is open, and a market never goes back: its rows are set as they were before.
STATE = "UPDATE marketplace_marketstate SET state = %s WHERE gpu_model_id IS NULL"
GATE = "UPDATE billing_topupgate SET is_open = %s"


@pytest.fixture
def before_launch(site: Site) -> Iterator[None]:
    """Take the site back to before its launch, and leave it open."""
    _set(site, state="prelaunch", takes_money=False)
    yield
    _set(site, state="open", takes_money=True)
    _forget_intentions(site)


def _forget_intentions(site: Site) -> None:
    """Take back what this test saved: the next one's page lists its own alone."""
    with psycopg.connect(site.environment()["MIGRATE_DATABASE_URL"]) as connection:
        connection.execute("DELETE FROM marketplace_intention")


def _set(site: Site, *, state: str, takes_money: bool) -> None:
    with psycopg.connect(site.environment()["MIGRATE_DATABASE_URL"]) as connection:
        connection.execute(STATE, [state])
        connection.execute(GATE, [takes_money])


def reload_until_shown(
    page: Page, text: str, *, is_shown: bool = True, within_ms: int = SOON_MS
) -> None:
    """Load the page anew, as an impatient visitor does, until it says so or no longer."""
    for _ in range(within_ms // 250):
        page.reload()
        if page.get_by_text(text).first.is_visible() == is_shown:
            return
        page.wait_for_timeout(250)
    raise AssertionError(f"{text!r} after {within_ms} ms: {not is_shown}")


@pytest.mark.usefixtures("before_launch")
def test_an_intention_becomes_an_order_form_when_the_staff_open_the_market(
    signed_in: OpenPage, open_page: OpenPage, clock: Clock
) -> None:
    visitor = open_page()
    visitor.goto("/en/")
    reload_until_shown(visitor, BANNER, within_ms=UNTOLD_MS)
    customer = signed_in(WAITING_CUSTOMER.email)
    save_an_intention(customer)

    open_the_market(clock.page)
    reload_until_shown(visitor, BANNER, is_shown=False)

    customer.goto("/en/intentions/")
    customer.get_by_role("link", name="Order it").click()
    expect(customer.get_by_text("Your bid waits at €0.30 per GPU and hour")).to_be_visible()
    expect(customer.get_by_label("Label for your reports")).to_have_value("before launch")
    customer.goto("/en/intentions/")
    customer.get_by_role("button", name="Withdraw the intention").click()
    expect(customer.get_by_text("The intention is withdrawn.")).to_be_visible()


@pytest.mark.usefixtures("before_launch")
@pytest.mark.parametrize("language", ["en", pytest.param("fr", marks=pytest.mark.long)])
def test_the_pages_before_the_launch_are_accessible_and_whole(
    signed_in: OpenPage, open_page: OpenPage, language: str
) -> None:
    visitor, customer = open_page(), signed_in(WAITING_CUSTOMER.email)
    visitor.goto("/en/")
    reload_until_shown(visitor, BANNER, within_ms=UNTOLD_MS)
    save_an_intention(customer)
    seller = signed_in(SELLING_COMPANY.email)
    act_for(seller, SELLING_COMPANY.name)

    faults = [
        f"{shown.title}: {fault}"
        for page, shown_pages in (
            (visitor, BEFORE_LAUNCH[:2]),
            (customer, BEFORE_LAUNCH),
            (seller, SELLING_COMPANYS_DEMAND),
        )
        for shown in shown_pages
        for fault in find_faults(page, shown, language)
    ]

    assert faults == []


def save_an_intention(page: Page) -> None:
    page.goto("/en/gpus/rtx-4090/?currency=EUR")
    page.get_by_role("button", name="Save my intention").click()
    page.get_by_label("Hours").fill("12")
    page.get_by_label("Your price per GPU and hour").fill("0,30")
    page.get_by_label("Label for your reports").fill("before launch")
    page.get_by_role("button", name="Save my intention").click()
    expect(page.get_by_text("Your intention is saved.")).to_be_visible()
    expect(page.get_by_text("€0.30").first).to_be_visible()


def open_the_market(page: Page) -> None:
    """Open it as staff do: in the administration, behind the second factor, with a reason."""
    page.goto("/en/admin/marketplace/marketstate/set/")
    page.get_by_label("State").select_option("open")
    page.get_by_label("Reason, shown to customers").fill("Launch")
    page.get_by_role("button", name="Change the state").click()
    expect(page.get_by_text("The market's state is changed.")).to_be_visible()
