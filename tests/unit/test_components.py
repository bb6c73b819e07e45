"""Each component renders alone, in both languages, from the inputs that it states."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from django import forms
from django.conf import settings
from django.core.paginator import Paginator
from django.template import Context, Template
from django.template.loader import render_to_string
from django.test import RequestFactory
from django.utils import translation

from billing.fields import MoneyField
from config.gallery.samples import PARTS_OF_OTHERS, Sample, all_samples
from config.templatetags.gallery import sample_of

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


def samples() -> list[Sample]:
    return all_samples(request=RequestFactory().get("/components/"), now=NOW)


def test_the_gallery_shows_every_component() -> None:
    folder = settings.BASE_DIR / "templates" / "components"
    names = {path.stem for path in folder.glob("*.html")}

    assert {sample.component for sample in samples()} == names - PARTS_OF_OTHERS


@pytest.mark.parametrize("number", range(len(samples())))
def test_every_sample_renders_alone(language: str, number: int) -> None:
    sample = samples()[number]

    html = sample_of(sample)

    # Nothing is said of an open market.
    assert bool(html.strip()) == (sample.state != "state='open'")
    assert "None" not in html
    assert "style=" not in html


def test_what_samples_say_is_french_on_french_pages() -> None:
    with translation.override("fr"):
        text = " ".join(sample_of(sample) for sample in samples())
    words = re.sub(r"<[^>]*>", " ", text).lower().split()

    assert {"the", "and", "of", "is", "not", "now"} & set(words) == set()


def test_a_column_sorts_by_a_link_that_turns_round() -> None:
    request = RequestFactory().get("/gpus/", {"sort": "price", "page": "3", "memory": "24"})
    inputs = {"label": "Price", "key": "price", "request": request}

    unsorted = render("sort_header", current="name", **inputs)
    ascending = render("sort_header", current="price", numeric=True, **inputs)
    descending = render("sort_header", current="-price", **inputs)

    assert 'href="?sort=price&amp;memory=24"' in unsorted
    assert "aria-sort" not in unsorted
    assert 'class="n" aria-sort="ascending"' in ascending
    assert 'href="?sort=-price&amp;memory=24"' in ascending
    assert 'aria-sort="descending"' in descending
    assert 'href="?sort=price&amp;memory=24"' in descending


def test_a_file_holds_what_the_page_shows() -> None:
    request = RequestFactory().get("/gpus/", {"memory": "24", "page": "2"})

    of_page = render("csv_link", url="/gpus.csv", request=request)
    of_currency = render("csv_link", url="/gpus.csv", request=request, currency="USD")

    assert 'href="/gpus.csv?memory=24"' in of_page
    assert 'href="/gpus.csv?memory=24&amp;currency=USD"' in of_currency


def test_a_price_says_its_tax_and_age_when_asked(language: str) -> None:
    facts = {"with_tax": True, "as_of": NOW - timedelta(minutes=3), "now": NOW}

    html = render("price", micro=330_000, currency="USD", **facts)

    expected = {"en": ("excl. tax", "3 minutes ago"), "fr": ("hors taxes", "il y a 3 minutes")}
    assert all(words in html for words in expected[language])


def test_a_dialog_wraps_what_stands_between_its_tags() -> None:
    template = Template(
        '{% load blocks %}{% dialog "stop" "End the rental" "End…" %}<b>?</b>{% enddialog %}'
    )

    html = template.render(Context())

    assert '<a class="btn alt" href="#stop" data-dialog-open="stop">End…</a>' in html
    assert '<dialog class="dialog" id="stop" aria-labelledby="stop-title"' in html
    assert "<b>?</b>" in html


def test_a_filter_form_says_how_many_filters_are_active(language: str) -> None:
    html = render("filter_form", form=SampleForm(), clear_url="/gpus/", active=2)

    assert {"en": "2 active", "fr": "2 actifs"}[language] in html
    assert '<a class="btn quiet" href="/gpus/">' in html
    assert 'method="get"' in html
