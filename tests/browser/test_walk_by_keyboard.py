"""From the catalogue to a cancelled order with the keyboard alone."""

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import OpenPage
from tests.browser.people import KEYBOARD_USER, PASSWORD

pytestmark = pytest.mark.browser

# The longest page has some ninety links; past this the keyboard is caught or the control missing.
MAX_TABS = 150
IS_FOCUSED = "element => element === document.activeElement"
# The focused control is drawn on top at its middle, and something marks it.
IS_SEEN = """element => {
  const box = element.getBoundingClientRect();
  const style = getComputedStyle(element);
  const top = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
  const isOnTop = top !== null && (element.contains(top) || top.contains(element));
  return isOnTop && style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
}"""


def test_the_keyboard_alone_goes_from_the_catalogue_to_a_cancelled_order(
    open_page: OpenPage,
) -> None:
    page = open_page()
    sign_in_by_keyboard(page)
    choose_a_card(page)
    leave_a_bid(page)
    cancel_it(page)


def sign_in_by_keyboard(page: Page) -> None:
    page.goto("/en/account/sign-in/")
    skip_to_content(page)
    tab_to(page, page.get_by_label("E-mail address"))
    page.keyboard.type(KEYBOARD_USER.email)
    tab_to(page, page.get_by_label("Password"))
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.locator("body.signed")).to_be_attached()


def skip_to_content(page: Page) -> None:
    page.keyboard.press("Tab")
    skip = page.get_by_role("link", name="Skip to content")
    assert skip.evaluate(IS_FOCUSED)
    page.keyboard.press("Enter")


def choose_a_card(page: Page) -> None:
    page.goto("/en/gpus/?currency=GBP")
    skip_to_content(page)
    press(page, page.get_by_role("link", name="H100 SXM Hopper"))
    expect(page.get_by_role("heading", level=1)).to_have_text("H100 SXM")


def leave_a_bid(page: Page) -> None:
    press(page, page.get_by_role("link", name="Leave a bid at your price"))
    tab_to(page, page.get_by_label("Your price per GPU and hour"))
    page.keyboard.type("0.75")
    press(page, page.get_by_role("button", name="Review the order"))
    press(page, page.get_by_role("button", name="Leave the bid, hold £0.90"))
    expect(page.get_by_text("Your bid is waiting")).to_be_visible()


def cancel_it(page: Page) -> None:
    press(page, page.get_by_role("button", name="Cancel and free £0.90"))
    expect(page.get_by_text("The order is cancelled and its hold released")).to_be_visible()


def press(page: Page, control: Locator) -> None:
    tab_to(page, control)
    page.keyboard.press("Enter")


def tab_to(page: Page, control: Locator) -> None:
    """Press the tabulator until ``control`` has the focus, and see that people can see it."""
    expect(control).to_be_visible()
    for _press in range(MAX_TABS):
        page.keyboard.press("Tab")
        if control.evaluate(IS_FOCUSED):
            assert control.evaluate(IS_SEEN), f"the focus is hidden on {control}"
            return
    raise AssertionError(f"{MAX_TABS} tabs do not reach {control}")
