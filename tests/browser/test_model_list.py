"""The list of GPU models filters in place, and its address stays the whole state."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage

pytestmark = pytest.mark.browser

LIST = "/en/gpus/?currency=USD"


def test_a_filter_changes_rows_and_address_and_back_brings_both_back(open_page: OpenPage) -> None:
    page = open_page()
    page.goto(LIST)
    before = page.locator("#found").inner_text()

    page.get_by_label("Memory at least").select_option("80")
    expect(page).to_have_url(re.compile(r"memory=80"))
    expect(page.locator("#found")).not_to_have_text(before)
    few = page.locator("#found").inner_text()
    price = page.get_by_label("Price at most, per hour")
    price.fill("2,00")
    price.press("Enter")
    expect(page).to_have_url(re.compile(r"price=2%2C00"))

    page.go_back()
    expect(page.locator("#found")).to_have_text(few)
    page.go_back()
    expect(page.locator("#found")).to_have_text(before)
    assert page.url.endswith(LIST)


def test_empty_filters_do_not_fill_the_address(open_page: OpenPage) -> None:
    page = open_page()
    page.goto(LIST)

    page.get_by_label("Memory at least").select_option("24")

    expect(page).to_have_url(re.compile(r"memory=24"))
    assert re.findall(r"[?&]\w+=(?=&|$)", page.url) == []


def test_what_was_ticked_is_compared_even_when_the_filter_hides_it(open_page: OpenPage) -> None:
    page = open_page()
    page.goto(LIST)

    page.get_by_label("Compare RTX 4090").check()
    page.get_by_label("Memory at least").select_option("80")
    expect(page).to_have_url(re.compile(r"memory=80"))
    page.get_by_label("Compare H100 SXM").check()
    expect(page.locator("[data-picked]")).to_have_text("RTX 4090, H100 SXM")
    compare(page)

    expect(page.get_by_role("heading", level=1)).to_contain_text("RTX 4090")
    expect(page.get_by_role("heading", level=1)).to_contain_text("H100 SXM")


def test_without_script_the_same_form_filters_and_compares(open_page: OpenPage) -> None:
    page = open_page(java_script_enabled=False)
    page.goto(LIST)

    page.get_by_label("Memory at least").select_option("24")
    page.get_by_role("button", name="Filter").click()
    page.get_by_label("Compare H100 SXM").check()
    page.get_by_label("Compare RTX 4090").check()
    compare(page)

    expect(page.get_by_role("heading", level=1)).to_have_text(re.compile("RTX 4090 or H100 SXM"))


def test_the_first_page_answers_while_the_job_is_chosen(open_page: OpenPage) -> None:
    page = open_page()
    page.goto("/en/")

    page.get_by_label("Job").select_option("full")
    page.get_by_label("Language model", exact=True).select_option("llama-3.1-70b")

    expect(page.locator("#answer")).to_contain_text("No single card holds it")


def compare(page: Page) -> None:
    page.get_by_role("complementary", name="Comparison").get_by_role("button").click()
