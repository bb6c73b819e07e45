"""Working out a job in a browser: by slider, by keyboard, by a button without script."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage

pytestmark = pytest.mark.browser

JOB = "/en/calculator/?task=training&method=qlora&model=llama-3.1-8b&currency=USD"


def needed(page: Page) -> str:
    return page.locator("#result .big-n b").inner_text()


def mark(page: Page) -> None:
    """Leave a mark that a reload would wipe away."""
    page.evaluate("window.isSamePage = true")


def is_same_page(page: Page) -> bool:
    return bool(page.evaluate("window.isSamePage === true"))


def test_a_slider_changes_the_answer_and_the_address_without_a_reload(open_page: OpenPage) -> None:
    page = open_page()
    page.goto(JOB)
    before = needed(page)
    mark(page)

    page.get_by_role("slider", name="Sequence length").press("End")

    expect(page.get_by_role("textbox", name="Sequence length")).to_have_value("131072")
    expect(page.locator("#result .big-n b")).not_to_have_text(before)
    expect(page).to_have_url(re.compile(r"sequence_tokens=131072"))
    assert is_same_page(page)


def test_a_typed_number_moves_the_slider_and_says_what_it_told(open_page: OpenPage) -> None:
    page = open_page()
    page.goto(JOB)
    mark(page)

    page.get_by_role("textbox", name="Micro-batch").fill("16")

    slider = page.get_by_role("slider", name="Micro-batch")
    expect(slider).to_have_attribute("aria-valuetext", "16")
    expect(page.locator("[data-calculator-status]")).to_contain_text("needed")
    expect(page.locator("#batch-told")).to_contain_text("16 × 1")
    assert is_same_page(page)


def test_a_bad_number_is_named_at_its_box_while_it_is_typed(open_page: OpenPage) -> None:
    page = open_page()
    page.goto(JOB)
    box = page.get_by_role("textbox", name="Micro-batch")

    box.fill("0")
    expect(page.locator("#id_micro_batch_error")).to_contain_text("the least is 1")
    expect(page.locator("#result")).to_contain_text("No figure yet")
    expect(box).to_be_focused()

    box.fill("2")
    expect(page.locator("#id_micro_batch_error")).to_have_count(0)
    expect(page.locator("#result .big-n b")).to_be_visible()
    expect(box).to_be_focused()


def test_another_task_brings_its_own_fields(open_page: OpenPage) -> None:
    page = open_page()
    page.goto(JOB)
    mark(page)

    page.get_by_label("Job", exact=True).select_option("serving")
    expect(page.get_by_role("textbox", name="Requests at once")).to_be_visible()
    page.get_by_role("slider", name="Requests at once").press("ArrowRight")
    expect(page).to_have_url(re.compile(r"concurrency=2"))
    page.get_by_label("Job", exact=True).select_option("training")
    expect(page.get_by_role("textbox", name="Micro-batch")).to_be_visible()
    page.get_by_label("Method", exact=True).select_option("full")
    page.get_by_text("More settings").click()
    expect(page.locator("#id_recipe")).to_be_visible()
    assert is_same_page(page)


def test_the_list_of_models_is_searched_by_words(open_page: OpenPage) -> None:
    page = open_page()
    page.goto(JOB)

    page.get_by_label("Search the list").fill("qwen 72b")

    names = page.locator("#id_model option").all_inner_texts()
    assert "Qwen2.5 72B" in names
    assert len(names) < 6
    page.get_by_label("Model", exact=True).select_option("qwen2.5-72b")
    expect(page).to_have_url(re.compile(r"model=qwen2.5-72b"))


def test_by_keyboard_alone_from_the_job_to_the_order_form(open_page: OpenPage) -> None:
    page = open_page()
    page.goto(JOB)
    page.get_by_role("textbox", name="Sequence length").focus()
    page.keyboard.press("Tab")
    expect(page.get_by_role("slider", name="Micro-batch")).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("textbox", name="Micro-batch")).to_have_value("2")

    page.get_by_role("link", name="Rent now").focus()
    page.keyboard.press("Enter")

    expect(page).to_have_url(re.compile(r"/en/order/.+gpus=\d+&hours=1&currency=USD"))


def test_without_script_the_button_calculates(open_page: OpenPage) -> None:
    page = open_page(java_script_enabled=False)
    page.goto(JOB)
    before = needed(page)

    page.get_by_role("textbox", name="Sequence length").fill("32768")
    page.get_by_role("button", name="Calculate").click()

    assert needed(page) != before
    expect(page.get_by_role("slider")).to_have_count(0)
    page.get_by_label("Job", exact=True).select_option("serving")
    page.get_by_role("button", name="Calculate").click()
    expect(page.get_by_role("textbox", name="Requests at once")).to_be_visible()


def test_a_block_on_a_use_case_page_answers_in_place_and_leads_on(open_page: OpenPage) -> None:
    page = open_page()
    page.goto("/en/use-cases/llm-inference/?currency=USD")
    answer = page.locator("#calculator-answer .big-n b")
    before = answer.inner_text()

    page.get_by_role("slider", name="Requests at once").press("End")

    expect(answer).not_to_have_text(before)
    page.get_by_role("button", name="See every card with its price").click()
    expect(page).to_have_url(re.compile(r"/en/calculator/\?.*concurrency=256"))


def test_a_scene_is_worked_out_on_its_own_page(open_page: OpenPage) -> None:
    page = open_page()
    page.goto("/en/use-cases/rendering/?currency=USD")

    page.get_by_label("Scene in memory, GB").fill("40")

    expect(page.locator("#calculator-answer .big-n")).to_contain_text("44.4 GB")
