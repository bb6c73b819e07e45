"""What a first view may weigh: requests, bytes as compressed, and how far the page jumps."""

import gzip
from dataclasses import dataclass
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, Response

from tests.browser.conftest import OpenPage
from tests.browser.pages import (
    CUSTOMER_EMAIL,
    CUSTOMERS,
    MARKET_ROUTES,
    PUBLIC,
    SELLERS,
    SELLING_COMPANY,
    Shown,
)
from tests.browser.site import Site
from tests.browser.visits import act_for

pytestmark = pytest.mark.browser

KB = 1_000
CSS_BYTES = 15 * KB
FONT_BYTES = 50 * KB
LAYOUT_SHIFT = 0.02
# The shifts of the first moments come before a script could ask for them: they are buffered.
SHIFT = """() => new Promise((resolve) => {
  let total = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (!entry.hadRecentInput) total += entry.value;
  }).observe({ type: "layout-shift", buffered: true });
  setTimeout(() => resolve(total), 200);
})"""


@dataclass(frozen=True, slots=True)
class Budget:
    """The most that one kind of page may take."""

    script_bytes: int
    total_bytes: int
    requests: int


CONTENT = Budget(script_bytes=20 * KB, total_bytes=150 * KB, requests=10)
MARKET = Budget(script_bytes=50 * KB, total_bytes=200 * KB, requests=12)
ACCOUNT = Budget(script_bytes=45 * KB, total_bytes=200 * KB, requests=12)


def test_the_pages_of_visitors_keep_to_their_budget(open_page: OpenPage, site: Site) -> None:
    page = open_page()

    faults = []
    for shown in PUBLIC:
        budget = MARKET if shown.route in MARKET_ROUTES else CONTENT
        faults += overspent(page, shown, budget, site)

    assert faults == [], "\n".join(faults)


def test_the_pages_of_customers_keep_to_their_budget(signed_in: OpenPage, site: Site) -> None:
    page = signed_in(CUSTOMER_EMAIL)

    assert [fault for shown in CUSTOMERS for fault in overspent(page, shown, ACCOUNT, site)] == []


def test_the_pages_of_sellers_keep_to_their_budget(signed_in: OpenPage, site: Site) -> None:
    page = signed_in(SELLING_COMPANY.email)
    act_for(page, SELLING_COMPANY.name)

    assert [fault for shown in SELLERS for fault in overspent(page, shown, ACCOUNT, site)] == []


@pytest.mark.long
def test_pages_do_not_jump_on_a_phone(open_page: OpenPage) -> None:
    page = open_page(width=390)

    jumps = {}
    for shown in PUBLIC:
        first_view(page, shown.path(language="fr"))
        jumps[shown.title] = page.evaluate(SHIFT)

    assert {title: shift for title, shift in jumps.items() if shift > LAYOUT_SHIFT} == {}


def overspent(page: Page, shown: Shown, budget: Budget, site: Site) -> list[str]:
    """Open a page as on a first visit; return what is above its budget."""
    if shown.first:
        shown.open(page, language="en")
        address = page.url
    else:
        address = shown.path(language="en")
    answers = first_view(page, address)
    strangers = {answer.url for answer in answers if not answer.url.startswith(site.address)}
    weights = {"document": 0, "stylesheet": 0, "script": 0, "font": 0} | weigh(answers)
    spent = [
        ("requests", len(answers), budget.requests),
        ("bytes of script", weights["script"], budget.script_bytes),
        ("bytes of style", weights["stylesheet"], CSS_BYTES),
        ("bytes of font", weights["font"], FONT_BYTES),
        ("bytes in all", sum(weights.values()), budget.total_bytes),
        ("foreign requests", len(strangers), 0),
        ("shift of the layout", page.evaluate(SHIFT), LAYOUT_SHIFT),
    ]
    return [f"{shown.title}: {had} {what}" for what, had, most in spent if had > most]


def first_view(page: Page, address: str) -> list[Response]:
    """Load an address with nothing kept from before; return every answer."""
    answers: list[Response] = []

    def note(answer: Response) -> None:
        answers.append(answer)

    # Nothing that the page before still asks for is counted.
    page.goto("about:blank")
    page.on("response", note)
    session = page.context.new_cdp_session(page)
    session.send("Network.setCacheDisabled", {"cacheDisabled": True})
    page.goto(address, wait_until="load")
    session.detach()
    page.remove_listener("response", note)
    return [answer for answer in answers if urlsplit(answer.url).scheme != "data"]


def weigh(answers: list[Response]) -> dict[str, int]:
    """Return the bytes of each kind of file, as a server that compresses would send them."""
    weights: dict[str, int] = {}
    for answer in answers:
        kind = answer.request.resource_type
        # A redirection has no body.
        body = answer.body() if answer.ok else b""
        size = len(body) if kind == "font" else len(gzip.compress(body))
        weights[kind] = weights.get(kind, 0) + size
    return weights
