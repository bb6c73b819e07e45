"""Each page, in both languages and themes, wide and narrow: rules of access, and nothing broken."""

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

import axe_playwright_python
import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage
from tests.browser.pages import (
    CUSTOMER_EMAIL,
    CUSTOMERS,
    PUBLIC,
    RENTAL,
    SELLERS,
    SELLING_COMPANY,
    STAFF,
    Shown,
)
from tests.browser.visits import Clock, act_for

pytestmark = pytest.mark.browser

Theme = Literal["light", "dark"]
View = tuple[int, Theme]

WIDE, PHONE, NARROWEST = 1280, 390, 320
EVERY_VIEW: tuple[View, ...] = ((WIDE, "light"), (WIDE, "dark"), (PHONE, "light"), (PHONE, "dark"))
# Every run looks at each page twice, wide and on a phone, by every rule; the long tests at the
# other six views.
FIRST_VIEWS: dict[str, tuple[View, ...]] = {
    "en": ((WIDE, "light"),),
    "fr": ((PHONE, "light"),),
}
HEIGHT = 900
# Hours are charged, and machines looked at, every five seconds.
SWEEP_MS = 7_000
AXE = Path(axe_playwright_python.__file__).with_name("axe.min.js")
EVERY_RULE = {
    "type": "tag",
    "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
}
# The themes differ in their colours and in nothing else.
RULES_OF_COLOUR = {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}
RULES: dict[Theme, object] = {"light": EVERY_RULE, "dark": RULES_OF_COLOUR}
RUN_AXE = """async (rules) => {
  const found = await axe.run(document, { runOnly: rules, resultTypes: ["violations"] });
  return found.violations.map((rule) =>
    `${rule.id} (${rule.impact}): ${rule.nodes.map((node) => node.html.slice(0, 160)).join(" | ")}`);
}"""
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
# Boxes whose content is wider than themselves run into their neighbours.
SPILLED = """[...document.querySelectorAll(".card, .field, .kpis > div, dl.spec > div, .a-wallet")]
  .filter((box) => box.scrollWidth > box.clientWidth + 1)
  .map((box) => box.innerText.slice(0, 60))"""
IDS = "[...document.querySelectorAll('[id]')].map((element) => element.id)"


Visit = Callable[[str, tuple[View, ...]], list[str]]


@pytest.mark.parametrize("language", ["en", "fr"])
def test_every_page_is_accessible_and_whole(visit_every_page: Visit, language: str) -> None:
    faults = visit_every_page(language, FIRST_VIEWS[language])

    assert faults == [], "\n".join(faults)


@pytest.mark.long
@pytest.mark.parametrize("language", ["en", "fr"])
def test_every_page_is_accessible_in_its_other_views(
    visit_every_page: Visit, language: str
) -> None:
    others = tuple(view for view in EVERY_VIEW if view not in FIRST_VIEWS[language])

    faults = visit_every_page(language, others)

    assert faults == [], "\n".join(faults)


@pytest.fixture
def visit_every_page(
    signed_in: OpenPage, open_page: OpenPage, clock: Clock, staff_page: Page
) -> Visit:
    """Return what shows every page to those it is for, and lists what is wrong with them."""
    customer = signed_in(CUSTOMER_EMAIL)
    let_a_rental_run(customer, clock)
    seller = signed_in(SELLING_COMPANY.email)
    act_for(seller, SELLING_COMPANY.name)
    readers = (
        (open_page(), PUBLIC),
        (customer, CUSTOMERS),
        (seller, SELLERS),
        (staff_page, STAFF),
    )

    def visit(language: str, views: tuple[View, ...]) -> list[str]:
        return [
            f"{shown.title}: {fault}"
            for page, shown_pages in readers
            for shown in shown_pages
            for fault in find_faults(page, shown, language, views)
        ]

    return visit


def let_a_rental_run(customer: Page, clock: Clock) -> None:
    """Bring the world's rental into its paid hours, unless another test has."""
    RENTAL.open(customer, language="en")
    while customer.get_by_text("0 of 12").is_visible():
        clock.advance_hour()
        customer.wait_for_timeout(SWEEP_MS)
        customer.reload()
    expect(customer.locator("#ssh")).to_be_visible()


def find_faults(
    page: Page, shown: Shown, language: str, views: tuple[View, ...] = EVERY_VIEW
) -> Iterator[str]:
    page.emulate_media(color_scheme=views[0][1])
    _widen(page, views[0][0])
    answer = shown.open(page, language=language)
    assert answer is not None
    if not answer.ok:
        yield f"answers {answer.status}"
        return
    yield from _broken_parts(page, language)
    page.evaluate(AXE.read_text(encoding="utf-8"))
    for width, theme in views:
        _widen(page, width)
        page.emulate_media(color_scheme=theme)
        for violation in page.evaluate(RUN_AXE, RULES[theme]):
            yield f"{width} wide, {theme}: {violation}"
        yield from _overflows(page, width)
    _widen(page, NARROWEST)
    yield from _overflows(page, NARROWEST)


def _overflows(page: Page, width: int) -> Iterator[str]:
    if (beyond := page.evaluate(OVERFLOW)) > 0:
        yield f"{width} wide: scrolls {beyond} px sideways"
    for text in page.evaluate(SPILLED):
        yield f"{width} wide: spills over its box: {text}"


def _widen(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": HEIGHT})


def _broken_parts(page: Page, language: str) -> Iterator[str]:
    if page.locator("html").get_attribute("lang") != language:
        yield "is in another language"
    if (headings := page.locator("h1").count()) != 1:
        yield f"has {headings} first headings"
    if not page.title().partition(" – ")[0].strip():
        yield "has no title"
    repeated = [name for name, count in Counter(page.evaluate(IDS)).items() if count > 1]
    if repeated:
        yield f"repeats the ids {repeated}"
