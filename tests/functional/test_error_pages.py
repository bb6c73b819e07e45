"""Pages for what goes wrong: in the look of the site, in both languages, each with ways on."""

import json
import logging
import re
from unittest import mock

import pytest
from django.core.exceptions import PermissionDenied
from django.db.utils import OperationalError
from django.test import Client

from config.logs import JsonFormatter
from config.lost_pages import ways_on
from tests.factories import GpuModelFactory

pytestmark = pytest.mark.django_db

HOME = "catalog.views.home.home"


@pytest.fixture
def cards():
    names = {
        "rtx-4090": "RTX 4090",
        "rtx-4080": "RTX 4080",
        "h100-sxm": "H100 SXM",
        "h100-pcie": "H100 PCIe",
        "l40s": "L40S",
    }
    return [GpuModelFactory.create(slug=slug, name=name) for slug, name in names.items()]


def text_of(answer) -> str:
    return " ".join(answer.content.decode().split())


def failing(client: Client, error: Exception, path: str, *, language: str = "en"):
    """Ask for a page whose template cannot be made."""
    client.raise_request_exception = False
    with mock.patch("marketplace.views.sell.listed_gpus", side_effect=error):
        return client.get(path, headers={"accept-language": language})


class TestNotFound:
    @pytest.mark.parametrize(
        ("path", "meant"),
        [
            ("/en/gpus/rtx4090/", ["RTX 4090"]),
            ("/en/gpus/rtx-409/", ["RTX 4090"]),
            ("/en/gpus/rtx-4000/", ["RTX 4080", "RTX 4090"]),
            ("/en/gpus/h100/", ["H100 PCIe", "H100 SXM"]),
            ("/en/h100sxm", ["H100 SXM"]),
            ("/en/order/l40/", ["L40S"]),
            ("/de/gpus/RTX_4090/", ["RTX 4090"]),
        ],
    )
    def test_suggests_the_cards_that_may_be_meant(self, client, cards, path, meant):
        text = text_of(client.get(path, headers={"accept-language": "en"}))

        shown = re.findall(r'<a class="chip" href="[^"]*">([^<]*)</a>', text)
        assert shown == meant

    @pytest.mark.parametrize(
        "path",
        ["/en/nothing/", "/en/orders/123/x/", "/en/gpus/x9/", "/en/gpus/" + "a1" * 200 + "/"],
    )
    def test_guesses_no_card_where_none_is_like_it(self, client, cards, path):
        answer = client.get(path)

        assert answer.status_code == 404
        assert "Did you mean" not in text_of(answer)

    @pytest.mark.parametrize("path", ["/de/gpus/", "/de/modeles-gpu/", "/zz/", "/pt-br/gpus/x/"])
    def test_a_language_that_we_do_not_speak_leads_to_those_that_we_do(self, client, cards, path):
        answer = client.get(path, headers={"accept-language": "en"})

        assert answer.status_code == 404
        text = text_of(answer)
        assert "This site speaks English and French." in text
        assert "This page in English" in text
        assert "Cette page en français" in text

    def test_keeps_the_page_when_the_language_changes(self, cards):
        lost = ways_on(path="/de/gpus/rtx-4090/", language="en")

        assert dict(lost.pages) == {"en": "/en/gpus/rtx-4090/", "fr": "/fr/gpu/rtx-4090/"}

    def test_a_page_in_the_words_of_the_other_language_is_found(self, client):
        answer = client.get("/fr/how-it-works/")

        assert answer.status_code == 404
        assert 'href="/fr/comment-ca-marche/" lang="fr"' in text_of(answer)

    def test_leads_to_no_page_of_a_card_that_there_is_not(self, cards):
        for path in ("/fr/gpus/rtx4090/", "/en/gpu/rtx4090/"):
            assert ways_on(path=path, language=path[1:3]).pages == ()
        assert dict(ways_on(path="/fr/gpus/l40s/", language="fr").pages) == {"fr": "/fr/gpu/l40s/"}

    def test_leads_nowhere_to_itself(self, client):
        lost = ways_on(path="/en/orders/77/", language="en")

        assert lost.pages == ()

    def test_asks_the_database_once_for_its_suggestions(self, cards, django_assert_num_queries):
        with django_assert_num_queries(1):
            ways_on(path="/en/gpus/rtx4090/", language="en")
        with django_assert_num_queries(0):
            ways_on(path="/en/nothing/", language="en")

    def test_stands_when_the_suggestions_cannot_be_read(self):
        with mock.patch("config.lost_pages.GpuModel.objects.filter", side_effect=OperationalError):
            lost = ways_on(path="/en/gpus/rtx4090/", language="en")

        assert lost.cards == ()

    def test_programs_get_a_problem(self, client):
        answer = client.get("/api/v1/nothing/")

        assert answer.headers["Content-Type"] == "application/problem+json"
        assert answer.json()["status"] == 404


class TestMethods:
    def test_a_button_opened_as_a_page_says_so(self, client):
        answer = client.get("/en/seller/apply/")

        assert answer.status_code == 405
        assert answer.headers["Allow"] == "POST"
        assert answer.headers["X-Frame-Options"] == "DENY"
        assert "This address is not used in that way" in text_of(answer)

    def test_says_so_in_french(self, client):
        answer = client.post("/fr/comment-ca-marche/")

        assert answer.status_code == 405
        assert "Cette adresse ne s’utilise pas ainsi" in text_of(answer)

    def test_programs_get_no_page(self, client):
        assert client.post("/health/live").content == b""
        assert client.put("/api/v1/gpus/").headers["Content-Type"] != "text/html; charset=utf-8"


class TestFailures:
    def test_names_a_reference_that_stands_in_the_log(self, client, caplog):
        with caplog.at_level(logging.ERROR, logger="django.request"):
            answer = failing(client, RuntimeError("secret"), "/en/sell/")

        assert answer.status_code == 500
        text = text_of(answer)
        shown = re.search(r'<b class="num">([0-9a-f]{10})</b>', text)
        assert shown is not None
        reference = shown[1]
        (record,) = caplog.records
        line = json.loads(JsonFormatter().format(record))
        assert (line["reference"], line["error"]) == (reference, "RuntimeError")
        assert "secret" not in text
        assert "Back to the home page" in text

    def test_asks_no_database(self, client):
        answer = failing(client, OperationalError("gone"), "/fr/vendre/", language="fr")

        assert answer.status_code == 500
        assert '<html lang="fr">' in text_of(answer)
        assert "État du service" in text_of(answer)

    def test_answers_even_when_its_own_page_is_broken(self, client):
        with mock.patch("config.errors.render_to_string", side_effect=ValueError):
            answer = failing(client, RuntimeError(), "/en/sell/")

        assert answer.status_code == 500
        assert re.search(rb"<p>[0-9a-f]{10}</p>", answer.content)

    def test_programs_get_the_reference_in_a_problem(self, client):
        client.raise_request_exception = False
        with mock.patch("catalog.api.gpus.listed_gpus", side_effect=RuntimeError("secret")):
            answer = client.get("/api/v1/gpus/")

        problem = json.loads(answer.content)
        assert (answer.status_code, problem["status"]) == (500, 500)
        assert re.fullmatch("[0-9a-f]{10}", problem["reference"])

    def test_what_is_not_allowed_has_its_page(self, client):
        answer = failing(client, PermissionDenied(), "/en/sell/")

        assert answer.status_code == 403
        assert "This is not open to you" in text_of(answer)
        assert "Back to the home page" in text_of(answer)


@pytest.mark.parametrize("language", ["en", "fr"])
@pytest.mark.parametrize("query", ["a=%00", "a=%ff"])
def test_a_request_that_is_no_text_gets_the_sites_look(client, language, query):
    answer = client.get(f"/{language}/?{query}")

    assert answer.status_code == 400
    text = text_of(answer)
    assert f'<html lang="{language}">' in text
    assert "css/site.css" in text
    assert f'href="/{language}/"' in text


def test_a_form_without_its_token_has_ways_on(settings):
    answer = Client(enforce_csrf_checks=True).post("/en/account/sign-in/")

    assert answer.status_code == 403
    assert "This form cannot be accepted" in text_of(answer)
    assert "See GPUs and prices" in text_of(answer)


@pytest.mark.parametrize(
    "path",
    [
        "/xx/",
        "/en",
        "/EN/gpus/",
        "/fr/%F0%9F%98%80/",
        "/en/gpus/%2e%2e/",
        "/en//gpus//",
        "/-/",
        "/en/order/" + "x" * 300 + "/",
        "/en-gb-oxendict/gpus/",
        "/fr/sell/?price=1",
    ],
)
def test_no_address_breaks_the_site(client, path):
    assert client.get(path).status_code in {301, 302, 404}
