"""The site's menu on a phone: every entry is within reach, with and without script."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage

pytestmark = pytest.mark.browser

ENTRIES = ("Marché", "Catalogue", "Usages", "Guides", "Comment ça marche", "Vendre")
WAYS_IN = ("Se connecter", "Créer un compte", "English")
NARROWEST = 320


@pytest.mark.parametrize("has_script", [True, False])
def test_opens_on_the_narrowest_phone_and_shows_every_entry(
    open_page: OpenPage, has_script: bool
) -> None:
    page = open_page(width=NARROWEST, java_script_enabled=has_script)
    page.goto("/fr/")

    page.get_by_text("Menu", exact=True).click()

    menu = page.get_by_role("navigation", name="Menu principal")
    for name in (*ENTRIES, *WAYS_IN):
        link = menu.get_by_role("link", name=name, exact=True)
        expect(link).to_be_visible()
        box = link.bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= NARROWEST


def test_closes_on_escape_and_gives_the_focus_back(open_page: OpenPage) -> None:
    page = open_page(width=NARROWEST)
    page.goto("/fr/")
    page.get_by_text("Menu", exact=True).focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")

    page.keyboard.press("Escape")

    expect(page.get_by_role("link", name="Vendre", exact=True)).to_be_hidden()
    expect(page.locator("summary").filter(has_text="Menu")).to_be_focused()


def test_marks_the_page_that_is_open(open_page: OpenPage) -> None:
    page = open_page()
    page.goto("/en/gpus/rtx-4090/")

    assert marked(page) == ["Catalogue"]


def test_a_wide_screen_shows_the_entries_without_a_menu(open_page: OpenPage) -> None:
    page = open_page()
    page.goto("/fr/")

    for name in ENTRIES:
        navigation = page.get_by_role("navigation", name="Menu principal")
        expect(navigation.get_by_role("link", name=name, exact=True)).to_be_visible()
    expect(page.locator("summary").filter(has_text="Menu")).to_be_hidden()


def marked(page: Page) -> list[str]:
    links = page.locator("header a[aria-current]:visible")
    return [text.strip() for text in links.all_inner_texts()]
