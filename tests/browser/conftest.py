"""Fixtures of browser tests: the running site, watched visitors, the admin who moves the clock."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser.site import Site, last_lines, running_site
from tests.browser.visits import Clock, Faults, sign_in, sign_in_as_admin, watch

# Pages poll every two seconds, sweeps run every five: a step may need several of both.
PATIENCE_MS = 45_000
# A control that is on the page takes no time; a page under load takes some.
ACTION_MS = 15_000

expect.set_options(timeout=PATIENCE_MS)

OpenPage = Callable[..., Page]


@pytest.fixture(scope="session")
def site() -> Iterator[Site]:
    with running_site() as started:
        yield started


@pytest.fixture
def faults(site: Site, request: pytest.FixtureRequest) -> Iterator[Faults]:
    """Collect what browsers complain about; a test that ends with a complaint fails."""
    collected: Faults = []
    yield collected
    assert collected == [], last_lines(site.log)


@pytest.fixture
def open_page(browser: Browser, site: Site, faults: Faults) -> Iterator[OpenPage]:
    """Return what opens a browser window: ``open_page(width=390, java_script_enabled=False)``."""
    contexts: list[BrowserContext] = []

    def opened(*, width: int = 1280, height: int = 900, **options: Any) -> Page:
        facts: dict[str, Any] = {
            "base_url": site.address,
            "locale": "en-GB",
            "timezone_id": "Europe/Paris",
            "reduced_motion": "reduce",
            "viewport": {"width": width, "height": height},
        }
        context = browser.new_context(**(facts | options))
        contexts.append(context)
        context.set_default_timeout(ACTION_MS)
        watch(context, faults)
        return context.new_page()

    yield opened
    for context in contexts:
        context.close()


@pytest.fixture
def signed_in(open_page: OpenPage) -> OpenPage:
    """Return what opens a window of somebody who has signed in: ``signed_in("kim@example.com")``."""

    def opened(email: str, **options: Any) -> Page:
        page = open_page(**options)
        sign_in(page, email)
        return page

    return opened


@pytest.fixture(scope="session")
def clock(browser: Browser, site: Site) -> Iterator[Clock]:
    """Return the market's clock: the admin's page with its buttons."""
    context = browser.new_context(base_url=site.address)
    context.set_default_timeout(ACTION_MS)
    page = context.new_page()
    sign_in_as_admin(page)
    yield Clock(page)
    context.close()


@pytest.fixture
def staff_page(clock: Clock, faults: Faults) -> Iterator[Page]:
    """Return a watched window of the admin: a code of the second factor works only once."""
    context = clock.page.context
    watch(context, faults)
    page = context.new_page()
    # Colours that still fade from one theme to the other have no contrast to judge.
    page.emulate_media(reduced_motion="reduce")
    yield page
    page.close()
