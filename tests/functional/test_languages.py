"""A page in one language says nothing in the other, whoever reads it and whatever went wrong."""

import re
from html.parser import HTMLParser

import pytest
from django.test import Client

from catalog.operations.gpus import load_gpu_models
from catalog.operations.guides import load_guides
from tests.french import ENGLISH, FRENCH
from tests.functional.test_access import EVERYBODY, RULES, all_addresses, undone
from tests.functional.whole_market import WholeMarket, make_whole_market

pytestmark = pytest.mark.django_db

PEOPLE = ("nobody", "buyer", "seller", "staff")
# What is quoted, typed or code is in no language; what a person wrote stays as it was written.
SILENT = frozenset({"script", "style", "code", "pre", "kbd", "samp", "textarea", "time"})
VOID = frozenset(
    [
        "area",
        "base",
        "br",
        "col",
        "embed",
        "hr",
        "img",
        "input",
        "link",
        "meta",
        "source",
        "track",
        "wbr",
    ]
)
SPOKEN = frozenset({"alt", "title", "aria-label", "placeholder", "data-l", "label"})
# Names that hold a stop-word of the other language.
NAMES = re.compile(r"Port of Spain|Isle of Man|Dar es Salaam|St[. ]\w+|\w+_\w+|To/s|https?://\S+")
FOREIGN = {"fr": ENGLISH, "en": FRENCH}
# Pages whose words come from elsewhere: the demo's mail box shows letters of every language.
OTHERS_WORDS = {"accounts:outbox", "accounts:outbox_mail"}
BROKEN = (
    "/{}/no-such-page/",
    "/{}/gpus/no-such-card/",
    "/{}/gpu/no-such-card/",
    "/{}/guides/no-such-guide/",
    "/{}/?currency=doge",
)


class Spoken(HTMLParser):
    """Collects what a reader sees or hears, where the language is the page's."""

    def __init__(self, language: str) -> None:
        super().__init__()
        self.language = language
        self.silent: list[str] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        is_foreign = values.get("lang", self.language) != self.language
        if tag not in VOID and (self.silent or is_foreign or tag in SILENT):
            self.silent.append(tag)
        if not (self.silent or is_foreign):
            self.texts += [values[name] or "" for name in SPOKEN & set(values)]
            if values.get("name") == "description" or values.get("property", "").startswith("og:"):
                self.texts.append(values.get("content") or "")
            if tag == "input" and values.get("type") == "submit":
                self.texts.append(values.get("value") or "")

    def handle_endtag(self, tag):
        if self.silent and tag in self.silent:
            while self.silent.pop() != tag:
                pass

    def handle_data(self, data):
        if not self.silent:
            self.texts.append(data)


def foreign_words(html: str, *, language: str) -> list[str]:
    """Return the words of the other language, each with what stands around it."""
    reader = Spoken(language)
    reader.feed(html)
    found = []
    for text in reader.texts:
        words = re.findall(r"[A-Za-zÀ-ÿœ]+(?:['’][a-z]+)?", NAMES.sub("", text))
        found += [
            " ".join(words[max(0, place - 4) : place + 5])
            for place, word in enumerate(words)
            if word.lower() in FOREIGN[language] and not (word.isupper() and len(word) > 1)
        ]
    return found


@pytest.fixture
def market() -> WholeMarket:
    market = make_whole_market()
    load_gpu_models()
    load_guides()
    return market


def methods(name: str, person: str) -> tuple[str, ...]:
    """Return how this person tries an address: what everybody gets alike is tried once."""
    rule = RULES.get(name)
    if name in OTHERS_WORDS or (rule and person != "nobody" and rule.who == EVERYBODY):
        return ()
    if rule is None:  # the sign-in's own pages
        return ("get", "post") if person in {"nobody", "buyer"} else ()
    if person not in rule.who:
        return ()
    return ("get",) if rule.post == 405 else ("get", "post")


def heard(client: Client, method: str, url: str, language: str) -> list[str]:
    answer = undone(client, method, url)
    if not answer.get("Content-Type", "").startswith("text/html"):
        return []
    return foreign_words(answer.text_read, language=language)


@pytest.mark.parametrize("language", ["fr", "en"])
@pytest.mark.parametrize("person", PEOPLE)
def test_every_page_speaks_one_language(market, person, language):
    client = market.browser_of(person)

    found = {
        (name, method): words
        for name, url in all_addresses(market, language=language).items()
        for method in methods(name, person)
        if (words := heard(client, method, url, language))
    }

    assert found == {}, "\n".join(f"{place}: {words}" for place, words in found.items())


@pytest.mark.parametrize("language", ["fr", "en"])
def test_every_page_that_fails_speaks_one_language(market, language):
    client = market.browser_of("nobody")

    found = {
        url: words
        for url in BROKEN
        if (words := heard(client, "get", url.format(language), language))
    }

    assert found == {}, "\n".join(f"{place}: {words}" for place, words in found.items())


def test_hears_a_foreign_word_and_no_quoted_one():
    html = (
        '<p title="the price">Prix <code>the</code> <span lang="en">the</span> of'
        "<img alt='with'><script>the</script></p>"
    )

    assert foreign_words(html, language="fr") == ["the price", "of", "with"]
