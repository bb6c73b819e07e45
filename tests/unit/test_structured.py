"""JSON-LD is data that ends no element, whatever stands in it."""

import json
from datetime import date
from decimal import Decimal
from html.parser import HTMLParser

from django.template import Context, Template
from django.utils.translation import override

from catalog.structured import article, breadcrumbs, faq, price_text


class Scripts(HTMLParser):
    """Collects what stands in script elements, as a browser would find them."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.tags: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag == "script":
            assert attrs == [("type", "application/ld+json")]
            self.texts.append("")

    def handle_data(self, data):
        self.texts[-1] += data


def shown(**context: object) -> str:
    return Template("{% load structured %}{% json_ld one two %}").render(Context(context))


def test_shows_every_thing_as_a_node_of_one_graph() -> None:
    scripts = Scripts()

    scripts.feed(shown(one={"@type": "Article"}, two=[{"@type": "FAQPage"}]))

    assert json.loads(scripts.texts[0]) == {
        "@context": "https://schema.org",
        "@graph": [{"@type": "Article"}, {"@type": "FAQPage"}],
    }


def test_lets_no_text_end_the_element() -> None:
    evil = "</script><script>alert(1)</script> <!-- & \u2028 é"
    scripts = Scripts()

    html = shown(one={"name": evil}, two=None)
    scripts.feed(html)

    assert scripts.tags == ["script"]
    assert html.count("<") == 2
    assert json.loads(scripts.texts[0])["@graph"] == [{"name": evil}]


def test_shows_nothing_when_there_is_nothing_to_say() -> None:
    assert shown(one=None, two=[]) == ""


def test_writes_prices_with_at_least_two_decimals_and_rounds_none() -> None:
    prices = [price_text(micro) for micro in (330_000, 1_790_000, 12_345_000, 2_000_000, 1)]

    assert prices == ["0.33", "1.79", "12.345", "2.00", "0.000001"]
    assert Decimal(prices[0]) * 1_000_000 == 330_000


def test_reads_an_answer_as_text() -> None:
    with override("fr"):
        node = faq([("Combien ?", "<p>24&nbsp;Go &amp; plus,\n<a href='/x'>ici</a>.</p>")])

    assert node == {
        "@type": "FAQPage",
        "inLanguage": "fr",
        "mainEntity": [
            {
                "@type": "Question",
                "name": "Combien ?",
                "acceptedAnswer": {"@type": "Answer", "text": "24 Go & plus, ici."},
            }
        ],
    }
    assert faq([]) is None


def test_counts_the_steps_to_a_page_from_one(settings) -> None:
    settings.PUBLIC_URL = "https://market.example/"

    node = breadcrumbs([("Home", "/en/"), ("GPUs", "/en/gpus/")])

    assert node["itemListElement"] == [
        {"@type": "ListItem", "position": 1, "name": "Home", "item": "https://market.example/en/"},
        {
            "@type": "ListItem",
            "position": 2,
            "name": "GPUs",
            "item": "https://market.example/en/gpus/",
        },
    ]


def test_dates_an_article_by_its_publication_and_its_last_review() -> None:
    node = article(
        title="T",
        description="D",
        path="/en/guides/t/",
        published=date(2026, 11, 1),
        reviewed=date(2026, 11, 30),
    )

    assert (node["datePublished"], node["dateModified"]) == ("2026-11-01", "2026-11-30")


def test_tells_questions_as_they_are_shown() -> None:
    html = (
        '<details class="faq" open><summary>How <b>much</b>?</summary><p>{{ price }}</p></details>'
        '<details class="faq"><summary>When?</summary><div>Now.</div></details>'
    )
    source = "{% load structured %}{% questions_told %}" + html + "{% endquestions_told %}"

    shown = Template(source).render(Context({"price": "</script>"}))

    before, script = shown.split("<script", 1)
    assert before == html.replace("{{ price }}", "&lt;/script&gt;")
    node = json.loads(script.split(">", 1)[1].removesuffix("</script>"))["@graph"][0]
    assert [(q["name"], q["acceptedAnswer"]["text"]) for q in node["mainEntity"]] == [
        ("How much?", "</script>"),
        ("When?", "Now."),
    ]


def test_tells_the_way_as_it_is_shown(settings) -> None:
    settings.PUBLIC_URL = "https://market.example"
    source = "{% load structured %}{% breadcrumb_data '/en/a/' 'A' '' '' 'Here' %}"

    shown = Template(source).render(Context())

    node = json.loads(shown.split(">", 1)[1].removesuffix("</script>"))["@graph"][0]
    assert node["itemListElement"] == [
        {"@type": "ListItem", "position": 1, "name": "A", "item": "https://market.example/en/a/"},
        {"@type": "ListItem", "position": 2, "name": "Here"},
    ]
