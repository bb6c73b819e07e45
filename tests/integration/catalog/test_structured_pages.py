"""What pages tell search engines is what they show, and a price only where one can be paid."""

import json
import re
from datetime import timedelta
from decimal import Decimal

import pytest
from django.test import Client
from django.urls import reverse
from django.utils.translation import override

from billing.money import Currency
from catalog.content.use_cases import use_case_keys
from catalog.models import Quote
from catalog.operations.guides import load_guides
from catalog.queries import STALE_AFTER, listed_gpus
from marketplace.accounts import clock

pytestmark = pytest.mark.django_db

SCRIPT = re.compile(r'<script type="application/ld\+json">(.*?)</script>', re.DOTALL)


def nodes(client: Client, url: str) -> list[dict]:
    """Return every node of a page; each script must be read without error."""
    page = client.get(url)
    assert page.status_code == 200, url
    data = [json.loads(text) for text in SCRIPT.findall(page.content.decode())]
    assert all(each["@context"] == "https://schema.org" for each in data)
    return [node for each in data for node in each["@graph"]]


def of_type(kind: str, found: list[dict]) -> list[dict]:
    return [node for node in found if node["@type"] == kind]


@pytest.fixture
def offered(publish) -> None:
    now = clock.now()
    publish("rtx-4090", 330_000, as_of=now)
    publish("rtx-4090", 285_000, as_of=now, currency=Currency.EUR)
    publish("rtx-4090", 2_900_000, as_of=now, gpus=8)
    publish("l40s", None, as_of=now)
    publish("h100-sxm", 2_880_000, as_of=now - STALE_AFTER - timedelta(minutes=1))


def test_offers_a_card_at_the_prices_of_its_quotes_for_one_gpu(client, offered) -> None:
    (product,) = of_type("Product", nodes(client, "/en/gpus/rtx-4090/"))

    told = {offer["priceCurrency"]: offer for offer in product["offers"]}
    quotes = Quote.objects.filter(gpu_model__slug="rtx-4090", gpus=1)
    assert {c: Decimal(o["price"]) * 1_000_000 for c, o in told.items()} == {
        quote.currency: quote.price_micro for quote in quotes
    }
    dollars, quote = told["USD"], quotes.get(currency="USD")
    assert dollars["price"] == "0.33"
    assert dollars["availability"] == "https://schema.org/InStock"
    assert dollars["validThrough"] == (quote.as_of + STALE_AFTER).isoformat()
    assert dollars["priceValidUntil"] == (quote.as_of + STALE_AFTER).date().isoformat()
    assert dollars["priceSpecification"]["valueAddedTaxIncluded"] is False
    assert dollars["url"].endswith("/en/gpus/rtx-4090/?currency=USD")


@pytest.mark.parametrize("slug", ["l40s", "b200-sxm", "h100-sxm"])
def test_offers_nothing_that_has_no_fresh_price(client, offered, slug) -> None:
    (product,) = of_type("Product", nodes(client, f"/fr/gpu/{slug}/"))

    assert "offers" not in product
    assert product["sku"] == slug


def test_tells_the_same_whatever_currency_is_shown(client, offered) -> None:
    dollars = nodes(client, "/en/gpus/rtx-4090/?currency=USD")
    pounds = nodes(client, "/en/gpus/rtx-4090/?currency=GBP")

    assert of_type("Product", dollars) == of_type("Product", pounds)


def test_no_other_page_offers_anything(client, offered) -> None:
    load_guides()

    for url in ("/en/", "/en/gpus/", "/en/market/", "/en/guides/choosing-a-gpu-for-fine-tuning/"):
        assert of_type("Product", nodes(client, url)) == [], url


@pytest.mark.parametrize("language", ["en", "fr"])
def test_tells_the_questions_of_every_page_that_has_some(client, offered, language) -> None:
    with override(language):
        pages = [reverse("catalog:use_case", kwargs={"key": key}) for key in use_case_keys()]
        pages += [reverse("catalog:gpu", kwargs={"slug": "rtx-4090"}), reverse("marketplace:sell")]

    for url in pages:
        html = client.get(url).content.decode()
        (told,) = of_type("FAQPage", nodes(client, url))
        assert told["inLanguage"] == language
        assert len(told["mainEntity"]) == html.count('<details class="faq"'), url
        for question in told["mainEntity"]:
            assert question["name"], url
            assert len(question["acceptedAnswer"]["text"]) > 20, url


def test_tells_the_way_to_a_page_once(client, offered) -> None:
    for url in ("/en/gpus/", "/en/gpus/rtx-4090/", "/en/use-cases/fine-tuning/", "/en/market/"):
        (way,) = of_type("BreadcrumbList", nodes(client, url))
        places = [step["position"] for step in way["itemListElement"]]
        assert places == list(range(1, len(places) + 1)), url
        assert all(step["item"].startswith("http") for step in way["itemListElement"][:-1])


def test_tells_a_guide_as_an_article_with_its_dates(client, catalogue) -> None:
    load_guides()

    (article,) = of_type("Article", nodes(client, "/fr/guides/choisir-un-gpu-pour-le-rendu-3d/"))

    assert article["headline"] == "Choisir un GPU pour le rendu 3D : score, mémoire, prix"
    assert (article["datePublished"], article["dateModified"]) == ("2026-11-30", "2026-11-30")
    assert article["image"].endswith("/static/img/social.png")


def test_every_card_is_told_without_a_price_before_the_first_offer(client, catalogue) -> None:
    for gpu in listed_gpus()[:5]:
        (product,) = of_type("Product", nodes(client, f"/en/gpus/{gpu.slug}/"))
        assert "offers" not in product
