"""Photograph the pages into screens/: ``make screens``. Not a test of anything: people look at them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Page

from tests.browser.conftest import OpenPage
from tests.browser.pages import (
    CUSTOMER_EMAIL,
    CUSTOMERS,
    PUBLIC,
    SELLERS,
    SELLING_COMPANY,
    STAFF,
    Shown,
)
from tests.browser.site import FULL, Site, running_site
from tests.browser.visits import Clock, act_for

WIDTHS = (1280, 390)
HEIGHT = 900
# Beyond this a picture shows nothing that its beginning does not.
LONGEST = 6_000


@pytest.fixture(scope="session")
def site() -> Iterator[Site]:
    """Show the demo's world: three weeks of trade instead of an empty market."""
    with running_site(world=FULL) as started:
        yield started


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("language", ["en", "fr"])
def test_photograph(
    signed_in: OpenPage,
    open_page: OpenPage,
    clock: Clock,
    project_root: Path,
    language: str,
    theme: Literal["light", "dark"],
) -> None:
    folder = project_root / "screens" / f"{language}-{theme}"
    folder.mkdir(parents=True, exist_ok=True)
    stranger = open_page(color_scheme=theme)
    customer = signed_in(CUSTOMER_EMAIL, color_scheme=theme)
    seller = signed_in(SELLING_COMPANY.email, color_scheme=theme)
    act_for(seller, SELLING_COMPANY.name)
    clock.page.emulate_media(color_scheme=theme)
    for page, shown_pages in (
        (stranger, PUBLIC),
        (customer, CUSTOMERS),
        (seller, SELLERS),
        (clock.page, STAFF),
    ):
        for shown in shown_pages:
            photograph(page, shown, language=language, folder=folder)


def photograph(page: Page, shown: Shown, *, language: str, folder: Path) -> None:
    page.set_viewport_size({"width": WIDTHS[0], "height": HEIGHT})
    shown.open(page, language=language)
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": HEIGHT})
        height = min(page.evaluate("document.documentElement.scrollHeight"), LONGEST)
        page.set_viewport_size({"width": width, "height": height})
        page.screenshot(path=folder / f"{shown.title}-{width}.png")
        page.set_viewport_size({"width": width, "height": HEIGHT})
