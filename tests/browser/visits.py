"""What the browser tests do again and again: sign in, pay, read numbers, look for complaints."""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from allauth.mfa.totp.internal import auth as totp
from playwright.sync_api import BrowserContext, ConsoleMessage, Error, Page, expect

from config.demo.cast import ADMIN_EMAIL
from config.demo.keys import PASSWORD, totp_secret

PATIENCE_MS = 45_000
CARD = "4242 4242 4242 4242"
AMOUNT = re.compile(r"[-−]?\s?(?:US)?[$€£]\s?[\d,]+\.\d\d")

TIME = re.compile(r"\d+ \w+ \d{4}, \d\d:\d\d")
SLOT = timedelta(minutes=15)

Faults = list[str]

# Policy violations reach the console in words that differ between versions; this one does not.
REPORT_VIOLATIONS = """
document.addEventListener("securitypolicyviolation", (event) =>
  console.error(`policy: ${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}`));
"""


def watch(context: BrowserContext, faults: Faults) -> None:
    """Note every console error, script error, policy violation and failed server answer."""

    def note_message(message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            faults.append(f"{message.text} at {message.location.get('url')}")

    def note_error(error: Error) -> None:
        faults.append(f"script: {error}")

    def watch_page(page: Page) -> None:
        page.on("console", note_message)
        page.on("pageerror", note_error)

    context.add_init_script(REPORT_VIOLATIONS)
    context.on("page", watch_page)
    context.on(
        "response",
        lambda answer: (
            faults.append(f"{answer.status} {answer.url}") if answer.status >= 400 else None
        ),
    )


def sign_in(page: Page, email: str) -> None:
    page.goto("/en/account/sign-in/")
    fill_credentials(page, email)
    expect(page.locator("body.signed")).to_be_attached()


def fill_credentials(page: Page, email: str) -> None:
    page.get_by_label("E-mail address").fill(email)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()


def act_for(page: Page, company: str) -> None:
    page.goto("/en/account/organisations/")
    page.get_by_role("button", name=f"Act for it {company}").click()


def sign_in_as_admin(page: Page) -> None:
    page.goto("/en/admin/")
    fill_credentials(page, ADMIN_EMAIL)
    page.get_by_label("Code").fill(current_code())
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page.get_by_role("button", name="Advance one hour")).to_be_visible()


def current_code() -> str:
    """Return what the administrator's authenticator app shows now."""
    counters = list(totp.yield_hotp_counters_from_time())
    value = totp.hotp_value(totp_secret(), counters[len(counters) // 2])
    return str(totp.format_hotp_value(value))


@dataclass(frozen=True, slots=True)
class Clock:
    """The market's clock, moved by the admin's buttons."""

    page: Page

    def now(self) -> datetime:
        """Return the market's time, to the minute, as the admin's page shows it."""
        self.page.goto("/en/admin/")
        return shown_time(self.page.get_by_text("Market time:").inner_text())

    def advance_hour(self) -> None:
        self._press("Advance one hour")

    def advance_slot(self) -> None:
        self._press("Advance one slot (15 minutes)")

    def _press(self, button: str) -> None:
        self.page.goto("/en/admin/")
        self.page.get_by_role("button", name=button).click()
        expect(self.page.get_by_text("The clock moved forward.")).to_be_visible()


def mailed_code(page: Page, address: str) -> str:
    """Return the code of the newest mail to ``address``, read in the demo's outbox."""
    outbox = page.context.new_page()
    outbox.goto(f"/en/account/outbox/?to={address}")
    text = outbox.locator("article").first.inner_text()
    outbox.close()
    found = re.search(r"^[A-Z0-9]{3,4}-?[A-Z0-9]{3,4}$", text, re.MULTILINE)
    assert found, text
    return found.group()


def pay_on_hosted_page(page: Page, *, card: str = CARD) -> None:
    """Fill in the payment provider's page, which the browser shows, and pay."""
    page.get_by_label("Card number").fill(card)
    page.get_by_label("Expiry date").fill("12/39")
    page.get_by_label("Security code").fill("123")
    page.get_by_label("Name on the card").fill("Ada Buyer")
    page.get_by_role("button", name="Pay ").click()


def shown_time(text: str) -> datetime:
    """Return the first time that an English page shows in ``text``, without its zone."""
    found = TIME.search(text)
    assert found, text
    return datetime.strptime(found.group(), "%d %b %Y, %H:%M")  # noqa: DTZ007 -- as shown


def amounts_in(text: str) -> list[Decimal]:
    """Return the amounts of money that an English page shows, in its order."""
    return [_amount(found) for found in AMOUNT.findall(text)]


def _amount(text: str) -> Decimal:
    sign = -1 if text[0] in "-−" else 1
    return sign * Decimal(re.sub(r"[^\d.]", "", text))
