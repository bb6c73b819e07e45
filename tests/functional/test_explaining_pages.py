"""The pages of the rule and of the published prices say what the code does, with its numbers."""

import re

import pytest
from django.urls import get_resolver

from marketplace.models import Server
from marketplace.operations.servers import SETUP_SLOTS
from marketplace.views import explain

pytestmark = pytest.mark.django_db

PAGES = ["/en/how-it-works/", "/fr/comment-ca-marche/"]
METHODS = ["/en/how-it-works/prices/", "/fr/comment-ca-marche/prix/"]


def text_of(client, path: str) -> str:
    answer = client.get(path)
    assert answer.status_code == 200
    return " ".join(answer.content.decode().split())


@pytest.mark.parametrize("path", [*PAGES, *METHODS])
def test_every_entry_of_the_contents_has_its_part(client, path):
    text = text_of(client, path)

    contents = re.findall(r'<li><a href="#([\w-]+)">', text)
    headings = re.findall(r'<h2 id="([\w-]+)"', text)
    assert contents == headings
    assert text.count("<h1") == 1


@pytest.mark.parametrize("path", [*PAGES, *METHODS, "/en/api/"])
def test_asks_the_database_little(client, path, django_assert_max_num_queries):
    with django_assert_max_num_queries(12):
        text_of(client, path)


def test_shows_the_example_to_the_cent(client):
    text = text_of(client, PAGES[0])

    assert "2 × 3 × €0.35 = €2.10 before tax" in text
    assert "<dd>€2.16 and €0.43 of VAT: €2.59</dd>" in text
    assert "<dd>€2.10 and €0.42 of VAT: €2.52</dd>" in text
    assert "<dt>Free again at once</dt><dd>€0.07</dd>" in text
    assert "€0.31, the share of 22 minutes of one hour" in text
    assert "Bought at 14:37, paid from 15:30 to 18:30" in text
    rows = re.findall(r'<th scope="row">([^<]*)</th> ?((?:<td class="n">[^<]*</td> ?)+)', text)
    wallet = {
        name.strip(): re.findall(r'<td class="n">([^<]*)</td>', cells)
        for name, cells in rows
        if cells.count("<td") == 4
    }
    assert wallet["Hour 1 begins"] == ["15:30", "€0.84", "€1.68", "€7.48"]
    assert wallet["Hour 2 is settled"] == ["17:30", "−€0.31", "€0.00", "€7.79"]


def test_writes_the_example_as_the_french_do(client):
    text = text_of(client, PAGES[1])

    assert "2 × 3 × 0,35 € = 2,10 € hors taxes" in text
    assert "Bloqué à 0,36 €" in text


@pytest.mark.parametrize("path", PAGES)
def test_names_the_rates_that_the_site_has_set(client, settings, path):
    settings.BREAK_FEE_BPS, settings.PLATFORM_FEE_BPS = 1_750, 825

    text = text_of(client, path)

    fee, platform = ("17.5%", "8.2%") if path.startswith("/en") else ("17,5 %", "8,2 %")
    assert fee in text
    assert platform in text


def test_names_the_delays_that_the_code_keeps(client, monkeypatch):
    monkeypatch.setitem(SETUP_SLOTS, Server.Delivery.BY_HAND, 2)
    monkeypatch.setattr(explain, "FREE_STOPS_A_DAY", 41)
    monkeypatch.setattr(explain, "MAX_OPEN_BIDS", 7_777)

    text = text_of(client, PAGES[0])

    assert "these 30 minutes are not paid" in text
    assert "41 times in 24 hours" in text
    assert "at most 7,777 open orders" in text
    assert "Bought at 14:37, paid from 15:00 to 18:00" in text


def test_the_picture_tells_its_numbers_to_readers(client):
    text = text_of(client, PAGES[0])

    assert "Two rentals bought at 14:37 and paid from 15:30 to 18:30." in text
    bars = re.findall(r'<rect class="m1" x="([\d.]+)%" y="46" width="([\d.]+)%"', text)
    assert bars == [("25.00", "24.70"), ("50.00", "24.70"), ("75.00", "24.70")]
    assert 'class="lost" x="59.17%" y="148" width="9.17%"' in text


def test_what_is_said_to_be_missing_is_missing(client):
    """Whoever builds one of these takes it off the page and out of this test."""
    text = text_of(client, PAGES[0])
    names = {name for name in _route_names(get_resolver()) if name}

    missing = text.split('id="missing"')[1].split("</ul>")[0]
    assert missing.count("<li>") == 5
    for word in ("refund", "extend", "invoice", "payout", "rebook"):
        assert [name for name in names if word in name] == []


def _route_names(resolver):
    for pattern in resolver.url_patterns:
        if hasattr(pattern, "url_patterns"):
            if getattr(pattern, "namespace", "") != "admin":
                yield from _route_names(pattern)
        else:
            yield pattern.name


def test_the_method_names_the_exchanges_own_numbers(client, monkeypatch):
    monkeypatch.setattr(explain, "MAX_PUBLISHED_OFFERS", 4_321)
    monkeypatch.setattr(explain, "LEAST_FILLS", 77)

    text = text_of(client, METHODS[0])

    assert "lists its 4,321 best offers" in text
    assert "fewer than 77 matches, 3 sellers or 3 customers" in text
    assert "older than 30 minutes" in text
    assert "at each step of 15 minutes" in text
