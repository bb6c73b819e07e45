"""Each component renders alone, in both languages, from the inputs that it states."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from django import forms
from django.core.paginator import Paginator
from django.template import Context, Template
from django.template.loader import render_to_string
from django.test import RequestFactory
from django.utils import translation

from billing.fields import MoneyField

NOW = datetime(2026, 11, 30, 14, 5, 12, tzinfo=UTC)


class SampleForm(forms.Form):
    amount = MoneyField(label="Amount", help_text="At most two decimals.")
    hours = forms.IntegerField(label="Hours", required=False)
    kind = forms.ChoiceField(label="Kind", choices=[("a", "A")], widget=forms.RadioSelect)
    agreed = forms.BooleanField(label="Agreed", help_text="Needed.")


@pytest.fixture(params=["en", "fr"])
def language(request: pytest.FixtureRequest) -> Iterator[str]:
    with translation.override(request.param):
        yield request.param


def render(name: str, **inputs: object) -> str:
    return " ".join(render_to_string(f"components/{name}.html", inputs).split())


def test_a_price_says_from_and_its_unit(language: str) -> None:
    html = render("price", micro=330_000, currency="USD", from_=True, with_unit=True)

    expected = {"en": "from $0.33<abbr", "fr": "dès 0,33 $US<abbr"}
    assert expected[language] in html.replace("\u00a0", " ")


def test_no_offer_is_said_in_words(language: str) -> None:
    expected = {"en": "No offer now", "fr": "Aucune offre en ce moment"}

    assert expected[language] in render("price", micro=None, currency="USD")


def test_a_price_of_zero_is_still_a_price() -> None:
    assert "$0.00" in render("price", micro=0, currency="USD")


def test_an_amount_shows_its_sign_only_when_asked() -> None:
    assert "+$5.00" in render("amount", minor=500, currency="USD", signed=True)
    assert ">$5.00<" in render("amount", minor=500, currency="USD")
    assert "–" in render("amount", minor=None, currency="USD")


def test_a_status_is_a_word_with_a_shape_or_a_plain_badge() -> None:
    assert render("status", label="Running", kind="ok") == (
        '<span class="verdict ok">Running</span>'
    )
    assert render("status", label="Sold", kind="") == '<span class="badge">Sold</span>'


def test_an_alert_escapes_what_it_is_given() -> None:
    html = render("alert", kind="bad", title="<i>", text="&", url="/x/?a=1&b=2", action="Go")

    assert "&lt;i&gt;" in html
    assert 'href="/x/?a=1&amp;b=2"' in html


def test_an_empty_list_gives_the_next_step() -> None:
    assert '<a class="btn alt" href="/gpus/">See GPUs</a>' in render(
        "empty", title="No order yet", url="/gpus/", action="See GPUs"
    )


def test_a_breadcrumb_marks_the_page() -> None:
    html = render("breadcrumb", url="/", label="Home", current="RTX 4090")

    assert '<li aria-current="page">RTX 4090</li>' in html


def test_a_refused_field_names_its_error_for_readers() -> None:
    form = SampleForm({"amount": "abc", "kind": "a", "agreed": "on"})
    form.is_valid()

    html = render("field", field=form["amount"], unit="EUR")

    assert 'aria-invalid="true"' in html
    assert 'aria-describedby="id_amount_helptext id_amount_error"' in html
    assert 'id="id_amount_helptext"' in html
    assert 'id="id_amount_error"' in html
    assert 'value="abc"' in html


def test_an_optional_field_says_so(language: str) -> None:
    expected = {"en": "(optional)", "fr": "(facultatif)"}

    assert expected[language] in render("field", field=SampleForm()["hours"])


def test_radios_are_a_group_with_a_legend_and_a_box_has_its_label_beside_it() -> None:
    form = SampleForm()

    assert "<fieldset" in render("field", field=form["kind"])
    assert "<legend>Kind</legend>" in render("field", field=form["kind"])
    assert re.search(
        r'<label class="check" for="id_agreed"><input type="checkbox"[^>]+> <span>Agreed',
        render("field", field=form["agreed"]),
    )


def test_the_errors_of_a_form_lead_to_their_fields(language: str) -> None:
    form = SampleForm({"kind": "a", "agreed": "on"})

    html = render("form_errors", form=form)

    expected = {"en": "One thing to correct", "fr": "Un point à corriger"}
    assert expected[language] in html
    assert '<a href="#id_amount">Amount</a>' in html


def test_a_form_without_errors_shows_no_summary() -> None:
    assert render("form_errors", form=SampleForm()) == ""


def test_pages_of_a_list_keep_the_query(language: str) -> None:
    request = RequestFactory().get("/orders/", {"state": "open", "page": "2"})
    page = Paginator(range(50), 10).page(2)

    html = render("pagination", page=page, request=request)

    assert 'href="?state=open&amp;page=1"' in html
    assert 'href="?state=open&amp;page=3"' in html
    assert {"en": "Page 2 of 5", "fr": "Page 2 sur 5"}[language] in html


def test_a_list_of_one_page_has_no_pages() -> None:
    page = Paginator(range(5), 10).page(1)

    assert render("pagination", page=page, request=RequestFactory().get("/")) == ""


def test_a_currency_switch_marks_the_chosen_one() -> None:
    request = RequestFactory().get("/gpus/", {"currency": "EUR", "cards": "x"})

    html = render("currency_switch", current="EUR", request=request)

    assert '<a href="?currency=EUR&amp;cards=x" aria-current="true">EUR</a>' in html
    assert '<a href="?currency=USD&amp;cards=x">USD</a>' in html


def test_prices_tell_their_age(language: str) -> None:
    html = render("price_age", as_of=NOW - timedelta(seconds=40), now=NOW, is_stale=True)

    expected = {"en": "40 seconds ago", "fr": "il y a 40 secondes"}
    assert expected[language] in html
    assert "badge warn" in html


def test_a_wide_table_scrolls_in_a_named_region(language: str) -> None:
    template = Template(
        '{% load blocks %}{% scroll_table "Prices" %}<table></table>{% endscroll_table %}'
    )

    html = template.render(Context())

    assert '<div class="scroll" tabindex="0" role="region" aria-label="Prices"><table>' in html


def test_messages_are_coloured_by_level_and_announced() -> None:
    class Message:
        level_tag = "error"

        def __str__(self) -> str:
            return "Refused"

    html = render("messages", messages=[Message()])

    assert 'role="status"' in html
    assert '<li class="alert bad">Refused</li>' in html
