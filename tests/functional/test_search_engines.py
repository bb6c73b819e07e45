"""What search engines and social networks are told, and that the pages keep it."""

import re
from xml.etree import ElementTree as ET

import pytest
from django.test import Client

from catalog.models import GuideText
from catalog.operations.guides import load_guides
from tests.functional.test_access import EVERYBODY, RULES, all_addresses
from tests.functional.whole_market import WholeMarket, make_whole_market

pytestmark = pytest.mark.django_db

ROOT = "http://127.0.0.1:8000"
SITEMAP = "{http://www.sitemaps.org/schemas/sitemap/0.9}"
XHTML = "{http://www.w3.org/1999/xhtml}"
# Open to everybody, but of no use to somebody who searches.
UNLISTED = {
    "catalog:compare",  # says little until somebody has chosen
    "marketplace:order_new",
    "accounts:outbox",
    "accounts:outbox_mail",
    "accounts:contact",
}
LONGEST_TITLE = 60
SHORTEST_DESCRIPTION, LONGEST_DESCRIPTION = 40, 170


@pytest.fixture
def market(settings) -> WholeMarket:
    settings.PUBLIC_URL = ROOT
    market = make_whole_market()
    load_guides()
    return market


def entries(client: Client) -> dict[str, dict[str, str]]:
    """Return the sitemap: each address with its alternates by language."""
    root = ET.fromstring(client.get("/sitemap.xml").content)
    return {
        str(url.findtext(f"{SITEMAP}loc")): {
            link.attrib["hreflang"]: link.attrib["href"] for link in url.findall(f"{XHTML}link")
        }
        for url in root.findall(f"{SITEMAP}url")
    }


def head_of(client: Client, address: str) -> str:
    page = client.get(address.removeprefix(ROOT))
    assert page.status_code == 200, address
    return page.content.decode().split("</head>")[0]


def alternates(head: str) -> dict[str, str]:
    return dict(re.findall(r'<link rel="alternate" hreflang="([^"]+)" href="([^"]+)">', head))


def one(pattern: str, head: str) -> str:
    found = re.findall(pattern, head, re.DOTALL)
    assert len(found) == 1, (pattern, found)
    return found[0]


class TestTheSitemap:
    def test_lists_pages_that_exist_and_agree_with_it_about_their_languages(self, market) -> None:
        client = Client()
        listed = entries(client)

        assert len(listed) > 30
        for address, languages in listed.items():
            head = head_of(client, address)
            assert alternates(head) == languages, address
            assert one(r'rel="canonical" href="([^"]+)"', head) == address
            assert "noindex" not in head

    def test_is_answered_from_both_sides(self, market) -> None:
        listed = entries(Client())

        for address, languages in listed.items():
            for language, other in languages.items():
                assert listed[other] == languages, (address, language)
            assert languages["x-default"] == languages.get("en", address)

    def test_lists_every_page_that_everybody_may_read(self, market) -> None:
        client, listed = Client(), entries(Client())
        missing = {}

        for language in ("en", "fr"):
            for name, url in all_addresses(market, language=language).items():
                rule = RULES.get(name)
                if rule is None or rule.who != EVERYBODY or rule.get != 200 or name in UNLISTED:
                    continue
                page = client.get(url)
                is_page = page["Content-Type"].startswith("text/html")
                if is_page and ROOT + url not in listed and b"noindex" not in page.content:
                    missing[name] = url

        assert missing == {}

    def test_leaves_out_drafts(self, market) -> None:
        GuideText.objects.filter(guide__key="rendering", language="fr").update(state="draft")

        listed = entries(Client())

        english = f"{ROOT}/en/guides/choosing-a-gpu-for-3d-rendering/"
        assert listed[english] == {"en": english, "x-default": english}
        assert f"{ROOT}/fr/guides/choisir-un-gpu-pour-le-rendu-3d/" not in listed

    def test_asks_the_database_few_questions(self, market, django_assert_max_num_queries) -> None:
        with django_assert_max_num_queries(12):
            Client().get("/sitemap.xml")


class TestRobots:
    def test_are_shown_the_sitemap_and_kept_from_the_administration(self, client, settings) -> None:
        settings.PUBLIC_URL, settings.IS_DEMO = "https://market.example", False

        text = client.get("/robots.txt").content.decode()

        assert "Disallow: /fr/admin/" in text
        assert "Disallow: /\n" not in text
        assert "Sitemap: https://market.example/sitemap.xml" in text

    def test_are_kept_from_a_demo_whose_prices_are_invented(self, client, settings) -> None:
        settings.IS_DEMO = True

        assert client.get("/robots.txt").content.decode() == "User-agent: *\nDisallow: /\n"


class TestHeads:
    def test_have_titles_that_fit_and_differ_and_a_sentence_of_their_own(self, market) -> None:
        client = Client()
        heads = {address: head_of(client, address) for address in entries(client)}

        titles = {
            address: text(one(r"<title>(.*?)</title>", head)) for address, head in heads.items()
        }
        sentences = {
            address: text(one(r'name="description" content="([^"]*)"', head))
            for address, head in heads.items()
        }
        assert {a: t for a, t in titles.items() if len(t) > LONGEST_TITLE} == {}
        assert {
            a: s
            for a, s in sentences.items()
            if not SHORTEST_DESCRIPTION <= len(s) <= LONGEST_DESCRIPTION
        } == {}
        # Some names are the same in both languages.
        told_apart = {(address[len(ROOT) + 1 :][:2], title) for address, title in titles.items()}
        assert len(told_apart) == len(titles)

    def test_tell_social_networks_the_same(self, market) -> None:
        head = head_of(Client(), "/fr/guides/")

        title = one(r"<title>(.*?)</title>", head)
        assert one(r'property="og:title" content="([^"]*)"', head) == title
        assert one(r'property="og:url" content="([^"]*)"', head) == f"{ROOT}/fr/guides/"
        assert (
            one(r'property="og:image" content="([^"]*)"', head) == f"{ROOT}/static/img/social.png"
        )
        assert one(r'property="og:locale" content="([^"]*)"', head) == "fr_FR"
        assert one(r'name="twitter:card" content="([^"]*)"', head) == "summary_large_image"

    def test_name_the_list_without_its_filters_as_the_page_to_find(self, market) -> None:
        page = Client().get("/en/gpus/?currency=EUR&memory=48&sort=memory")

        head = page.content.decode().split("</head>")[0]
        assert one(r'rel="canonical" href="([^"]+)"', head) == f"{ROOT}/en/gpus/"

    def test_keep_pages_of_one_person_out_of_searches(self, market) -> None:
        client = market.browser_of("buyer")

        for name, url in all_addresses(market).items():
            rule = RULES.get(name)
            if rule is None or rule.who == EVERYBODY or rule.get != 200:
                continue
            page = client.get(url)
            if page.status_code == 200 and page.get("Content-Type", "").startswith("text/html"):
                assert b'name="robots" content="noindex' in page.content, name


def text(html: str) -> str:
    from html import unescape

    return " ".join(unescape(html).split())
