"""The page about the API says what is true of the routes, and its description is complete."""

import json
import re
from html import unescape

import pytest
import yaml
from django.test import Client

from config.api_page import ABOUT, api_routes
from tests.functional.whole_market import make_whole_market

pytestmark = pytest.mark.django_db


def text_of(client: Client, path: str) -> str:
    answer = client.get(path)
    assert answer.status_code == 200
    return answer.content.decode()


def test_every_address_of_the_api_is_explained():
    assert {route.name for route in api_routes()} == set(ABOUT)


@pytest.mark.parametrize("language", ["en", "fr"])
def test_names_every_address_and_whether_it_needs_a_token(client, language):
    text = text_of(client, f"/{language}/api/")

    for route in api_routes():
        row = text.split(f"<code>GET {route.path}</code>")[1]
        needs = {"en": "needed", "fr": "nécessaire"}[language]
        assert row.split("</tr>")[0].endswith(f"<td>{needs}</td>") == route.needs_token


def test_the_examples_work_as_they_stand(client):
    make_whole_market()
    text = text_of(client, "/en/api/")

    calls = re.findall(r'curl (-H "[^"]*" )?"(https?://[^"]+)"', text)
    assert len(calls) == len([route for route in api_routes() if not route.is_description])
    for header, address in calls:
        path = "/" + unescape(address).split("/", 3)[3]
        status = client.get(path).status_code
        assert (path, status) == (path, 401 if header else 200)


def test_shows_a_real_answer_and_a_real_refusal(client):
    make_whole_market()
    text = text_of(client, "/en/api/").replace("&quot;", '"').replace("&#x27;", "'")

    shown = [json.loads(part) for part in re.findall(r"<code>(\{.*?\n\})</code>", text, re.DOTALL)]
    answer, problem = shown
    real = client.get("/api/v1/gpus/").json()
    assert answer["rows"] == [row for row in real["rows"] if row["slug"] == "rtx-4090"]
    assert problem == client.get("/api/v1/gpus/?currency=CHF").json()


def test_the_description_names_every_address_and_the_token(client):
    schema = yaml.safe_load(text_of(client, "/api/v1/schema/"))

    assert set(schema["paths"]) == {
        route.path for route in api_routes() if not route.is_description
    }
    assert "token" in schema["components"]["securitySchemes"]
    assert {"token": []} in schema["paths"]["/api/v1/me/"]["get"]["security"]


def test_the_readable_description_loads_nothing_from_elsewhere(client):
    text = text_of(client, "/api/v1/docs/")

    assert re.findall(r'(?:src|href)="(https?:)?//', text) == []
    assert "<style" not in text
    assert re.search(r"<script>", text) is None
    script = client.get("/api/v1/docs/?script=")
    assert script.headers["Content-Type"] == "application/javascript"
    assert "/api/v1/schema/" in script.content.decode()


def test_asks_the_database_little(client, django_assert_max_num_queries):
    with django_assert_max_num_queries(12):
        text_of(client, "/en/api/")
