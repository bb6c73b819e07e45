"""Each page, in both languages and themes, wide and narrow: rules of access, and nothing broken."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import axe_playwright_python
import pytest
from playwright.sync_api import Page

from tests.browser.conftest import OpenPage
from tests.browser.pages import CUSTOMER_EMAIL, CUSTOMERS, PUBLIC, SELLERS, SELLING_COMPANY, Shown
from tests.browser.visits import act_for

WIDTHS = (1280, 390)
NARROWEST = 320
HEIGHT = 900
AXE = Path(axe_playwright_python.__file__).with_name("axe.min.js")
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
RUN_AXE = """async (tags) => {
  const found = await axe.run(document, {
    runOnly: { type: "tag", values: tags },
    resultTypes: ["violations"],
  });
  return found.violations.map((rule) =>
    `${rule.id} (${rule.impact}): ${rule.nodes.map((node) => node.html.slice(0, 160)).join(" | ")}`);
}"""
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
IDS = "[...document.querySelectorAll('[id]')].map((element) => element.id)"


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("language", ["en", "fr"])
def test_every_page_is_accessible_and_whole(
    signed_in: OpenPage, open_page: OpenPage, language: str, theme: str
) -> None:
    faults: list[str] = []
    stranger = open_page(color_scheme=theme)
    customer = signed_in(CUSTOMER_EMAIL, color_scheme=theme)
    seller = signed_in(SELLING_COMPANY.email, color_scheme=theme)
    act_for(seller, SELLING_COMPANY.name)
    for page, shown_pages in ((stranger, PUBLIC), (customer, CUSTOMERS), (seller, SELLERS)):
        for shown in shown_pages:
            faults += [f"{shown.title}: {fault}" for fault in find_faults(page, shown, language)]

    assert faults == []


def find_faults(page: Page, shown: Shown, language: str) -> Iterator[str]:
    page.set_viewport_size({"width": WIDTHS[0], "height": HEIGHT})
    answer = page.goto(shown.path(language=language))
    assert answer is not None
    if answer.status != shown.status:
        yield f"answers {answer.status}"
        return
    yield from _broken_parts(page, language)
    page.evaluate(AXE.read_text(encoding="utf-8"))
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": HEIGHT})
        yield from (f"{width} wide: {violation}" for violation in page.evaluate(RUN_AXE, RULES))
    for width in (*WIDTHS, NARROWEST):
        page.set_viewport_size({"width": width, "height": HEIGHT})
        if (beyond := page.evaluate(OVERFLOW)) > 0:
            yield f"{width} wide: scrolls {beyond} px sideways"


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
