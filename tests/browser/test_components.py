"""Components that do something: the zoomable chart by keyboard, the dialog with and without script."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage
from tests.browser.visits import Clock

pytestmark = pytest.mark.browser

GALLERY = "/en/components/"


def test_the_chart_is_walked_through_and_zoomed_by_keyboard(staff_page: Page) -> None:
    # Times are shown in the zone of the admin, Europe/Paris.
    staff_page.goto(GALLERY)
    chart = staff_page.get_by_role("slider").first
    expect(chart).to_have_attribute("aria-valuetext", said("1 Dec 2026, 00:00", "$2.916", 5))
    chart.focus()

    staff_page.keyboard.press("ArrowLeft")
    expect(chart).to_have_attribute("aria-valuetext", said("30 Nov 2026, 23:00", "$2.908", 17))
    staff_page.keyboard.press("Home")
    expect(chart).to_have_attribute("aria-valuetext", said("24 Nov 2026, 01:00", "$2.76", 3))

    for key in ("+", "+", "ArrowRight"):
        staff_page.keyboard.press(key)
    expect(chart).to_have_attribute("aria-valuetext", said("24 Nov 2026, 02:00", "$2.767", 8))
    staff_page.keyboard.press("Escape")
    # The table of the same numbers stays.
    expect(staff_page.locator("#price_chart ~ div table").first).to_be_attached()


def without_script(clock: Clock, open_page: OpenPage) -> Page:
    """Return a window of the admin in which no script runs."""
    state = clock.page.context.storage_state()
    return open_page(java_script_enabled=False, storage_state=state)


def said(moment: str, price: str, gpu_hours: int) -> str:
    # Two decimals, three when the third is not zero, as everywhere on the site.
    return f"{moment} · Average price {price} · GPU-hours sold {gpu_hours}"


def test_a_chart_without_script_is_the_servers_picture(clock: Clock, open_page: OpenPage) -> None:
    page = without_script(clock, open_page)

    page.goto(GALLERY)

    expect(page.locator("[data-price-chart] > svg.plotted").first).to_be_visible()
    assert page.get_by_role("slider").count() == 0


def test_a_dialog_keeps_the_focus_and_gives_it_back(staff_page: Page) -> None:
    staff_page.goto(GALLERY)
    opener = staff_page.get_by_role("link", name="Open a sample")
    dialog = staff_page.get_by_role("dialog", name="Sample title")
    opener.focus()

    staff_page.keyboard.press("Enter")
    expect(dialog).to_be_visible()
    expect(staff_page.get_by_role("link", name="Close")).to_be_focused()
    staff_page.keyboard.press("Escape")

    expect(dialog).to_be_hidden()
    expect(opener).to_be_focused()


def test_a_dialog_opens_and_closes_without_script(clock: Clock, open_page: OpenPage) -> None:
    page = without_script(clock, open_page)
    page.goto(GALLERY)
    dialog = page.locator("#sample-dialog")

    page.get_by_role("link", name="Open a sample").click()
    expect(dialog).to_be_visible()
    page.get_by_role("link", name="Close").click()

    expect(dialog).to_be_hidden()
