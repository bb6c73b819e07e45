"""A visitor finds a card, signs up, pays, buys two hours, works over SSH, and reads the statement."""

import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from secrets import token_hex

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage
from tests.browser.site import Site
from tests.browser.visits import (
    SLOT,
    Clock,
    amounts_in,
    mailed_code,
    pay_on_hosted_page,
    shown_time,
)

pytestmark = pytest.mark.browser

# New each time, so that the walk can be repeated on a site that stays up.
EMAIL = f"ada-{token_hex(4)}@example.com"
PASSWORD = "four unrelated quiet words"
SSH_SECONDS = 30
# Two hours at 0.33 are 0.66; 20 % on the running total is 0.07 after one and 0.13 after two.
HOURS_GROSS = [Decimal("0.40"), Decimal("0.39")]
TOTAL_GROSS = Decimal("0.79")
TOP_UP = Decimal("20.00")


@pytest.fixture(scope="module")
def ssh_key(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("ssh") / "id_ed25519"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(file)], check=True)
    return file


def test_a_visitor_buys_two_hours_uses_them_and_is_charged_to_the_cent(
    open_page: OpenPage, clock: Clock, ssh_key: Path, site: Site
) -> None:
    page = open_page()
    choose_the_card(page)
    sign_up(page)
    say_where_billed(page)
    top_up(page)
    buy(page, public_key=ssh_key.with_suffix(".pub").read_text())
    follow_to_the_fill(page)
    wait_until_ready(page)
    open_access(page, clock)
    connect(page, ssh_key)
    use_both_hours(page, clock)
    read_the_statement(page)
    recompute_the_money(site)


def choose_the_card(page: Page) -> None:
    page.goto("/en/use-cases/fine-tuning/?currency=USD")
    row = page.get_by_role("row").filter(has=page.get_by_role("link", name="RTX 4090 Ada Lovelace"))
    expect(row).to_contain_text("$0.33")
    row.get_by_role("link", name="RTX 4090 Ada Lovelace").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("RTX 4090")
    page.get_by_label("Hours").fill("2")
    page.get_by_role("button", name="Buy now from $0.33 per hour").click()


def sign_up(page: Page) -> None:
    page.get_by_role("main").get_by_role("link", name="Create an account").click()
    page.get_by_label("E-mail address").fill(EMAIL)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_label("I accept the terms of use and the terms of sale").check()
    page.get_by_role("button", name="Create an account").click()
    page.get_by_label("Code").fill(mailed_code(page, EMAIL))
    page.get_by_role("button", name="Confirm").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Review and order")


def say_where_billed(page: Page) -> None:
    page.get_by_role("link", name="Say where you are billed").click()
    page.get_by_label("Full name or company name").fill("Ada Buyer")
    page.get_by_label("Country").select_option("FR")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Review and order")


def top_up(page: Page) -> None:
    page.get_by_role("link", name="Top up at least $0.79").click()
    page.get_by_role("textbox", name="Amount").fill("20")
    page.get_by_role("button", name="Pay by card").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("20.00")
    pay_on_hosted_page(page)
    expect(page.get_by_text("$20.00 is in your wallet")).to_be_visible()
    page.get_by_role("link", name="Back to your order").click()


def buy(page: Page, *, public_key: str) -> None:
    expect(page.get_by_text("Served at once, at the offer’s price: $0.33")).to_be_visible()
    page.get_by_label("Another public key").fill(public_key)
    page.get_by_label("Label for your reports").fill("QLoRA 13B")
    page.get_by_role("button", name="Buy now, hold $0.79").click()


def follow_to_the_fill(page: Page) -> None:
    """The order's page changes by itself: what was set in it before is still there."""
    expect(page.get_by_role("heading", level=1)).to_have_text("1 × RTX 4090")
    page.evaluate("window.openedOnce = true")
    expect(page.get_by_text("Bought: you pay the offer’s price, $0.33")).to_be_visible()
    assert page.evaluate("window.openedOnce") is True
    page.get_by_role("link", name="Open the rental").click()


def wait_until_ready(page: Page) -> None:
    expect(page.get_by_text("The machine is ready.")).to_be_visible()
    assert page.locator("#ssh").count() == 0


def open_access(page: Page, clock: Clock) -> None:
    """Access opens a slot before the paid time: a longer step would cost the first minutes."""
    starts_at = shown_time(page.locator("dl.spec div", has_text="Paid from").inner_text())
    while starts_at - clock.now() > SLOT:
        clock.advance_slot()
    expect(page.locator("#ssh")).to_be_visible()


def connect(page: Page, ssh_key: Path) -> None:
    command = page.locator("#ssh").inner_text().split()
    known_hosts = ssh_key.with_name("known_hosts")
    options = ["BatchMode=yes", "StrictHostKeyChecking=accept-new", "IdentitiesOnly=yes"]
    done = subprocess.run(
        [
            command[0],
            *(word for option in options for word in ("-o", option)),
            "-o",
            f"UserKnownHostsFile={known_hosts}",
            "-i",
            str(ssh_key),
            *command[1:],
            "nvidia-smi",
        ],
        capture_output=True,
        text=True,
        timeout=SSH_SECONDS,
        check=False,
    )
    assert (done.returncode, done.stdout.count("RTX 4090")) == (0, 1), done.stderr
    shown = page.get_by_role("definition").filter(has_text="SHA256:").inner_text()
    assert shown in fingerprints_of(known_hosts)


def fingerprints_of(known_hosts: Path) -> str:
    listed = ["ssh-keygen", "-l", "-f", str(known_hosts)]
    return subprocess.run(listed, capture_output=True, text=True, check=True).stdout


def use_both_hours(page: Page, clock: Clock) -> None:
    clock.advance_slot()
    expect(page.get_by_text("1 of 2")).to_be_visible()
    clock.advance_hour()
    expect(page.get_by_text("2 of 2")).to_be_visible()
    clock.advance_hour()
    expect(page.get_by_text("completed")).to_be_visible()
    hours = page.locator(".a-hours li b").all_inner_texts()
    assert [amounts_in(hour)[0] for hour in hours] == HOURS_GROSS


def read_the_statement(page: Page) -> None:
    page.get_by_role("main").get_by_role("link", name="Statement").click()
    lines = page.locator(".a-statement tbody tr:not(.a-day)")
    expect(lines.first).to_be_visible()
    moved = [amounts_in(text) for text in lines.locator(".a-mv").all_inner_texts()]
    movements = [amounts[0] for amounts in moved if amounts]
    assert sorted(movements) == sorted([TOP_UP, *(-hour for hour in HOURS_GROSS)])
    assert amounts_in(lines.first.locator(".a-left").inner_text()) == [TOP_UP - TOTAL_GROSS]
    assert balances_follow_movements(page)
    wallet = page.get_by_role("link", name="USD wallet").inner_text()
    assert amounts_in(wallet) == [TOP_UP - TOTAL_GROSS, Decimal("0.00"), TOP_UP - TOTAL_GROSS]


def balances_follow_movements(page: Page) -> bool:
    """Walk the lines from the oldest: each balance is the one before plus what moved."""
    balance = Decimal(0)
    for line in reversed(page.locator(".a-statement tbody tr:not(.a-day)").all()):
        cells = line.get_by_role("cell").all_inner_texts()
        moved, balance_after = amounts_in(cells[2]), amounts_in(cells[4])
        balance += sum(moved, Decimal(0))
        if balance_after != [balance]:
            return False
    return balance == TOP_UP - TOTAL_GROSS


def recompute_the_money(site: Site) -> None:
    """The operator's command finds that every balance, hold and fill agrees."""
    done = subprocess.run(
        [sys.executable, "manage.py", "check_money"],
        env=site.environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
