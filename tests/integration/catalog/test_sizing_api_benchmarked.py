"""Pictures and clips, rendering and simulation over the API: the same answers as on the page."""

import json
from typing import Any

import pytest
from django.test import Client

from catalog.operations.gpus import load_gpu_models
from tests.functional.calculator_pages import publish

pytestmark = pytest.mark.django_db

FLUX = {"task": "image-video", "diffusion_model": "flux-schnell", "bits": "8"}
SCENE = {"task": "rendering", "scene_gb": "20"}
FP64 = {"task": "scientific", "precision": "fp64"}


@pytest.fixture(autouse=True)
def _catalogue():
    load_gpu_models()


def asked(client: Client, name: str, values: dict[str, Any]) -> Any:
    answer = client.get(f"/api/v1/sizing/{name}/", values)
    assert answer.status_code == 200, answer.content
    return answer.json()


def refused(client: Client, name: str, values: dict[str, Any], **headers: str) -> Any:
    answer = client.get(f"/api/v1/sizing/{name}/", values, headers=headers)
    assert answer.status_code == 400
    assert answer.headers["Content-Type"] == "application/problem+json"
    return answer.json()


def test_the_memory_of_a_picture_is_told_with_what_it_rests_on(client):
    answer = asked(client, "estimate", FLUX)

    assert answer["needed_bytes"] == 20_019_412_992
    assert answer["standing"] == "measured"


def test_every_listed_card_is_judged_and_a_named_one_alone(client):
    assert len(asked(client, "fit", SCENE)["cards"]) == 53
    (row,) = asked(client, "fit", SCENE | {"card": "rtx-4090"})["cards"]
    assert (row["card"], row["verdict"]) == ("rtx-4090", "tight")


def test_the_cheapest_work_comes_first_at_prices_of_now(client):
    publish("mi300x", 2_290_000)
    publish("h100-sxm", 2_880_000)

    answer = asked(client, "rank", FP64 | {"currency": "USD", "top": "3"})

    assert answer["currency"] == "USD"
    assert [row["card"] for row in answer["rows"][:2]] == ["mi300x", "h100-sxm"]
    assert answer["rows"][0]["total"] == "7.784"
    assert answer["rows"][2]["total"] is None


def test_the_page_of_the_use_case_shows_the_same_total(client):
    publish("rtx-4090", 330_000)
    asked_for = {"task": "rendering", "scene_gb": "16"}

    (row, *_rest) = asked(client, "rank", asked_for | {"currency": "USD"})["rows"]

    page = client.get("/en/use-cases/rendering/?scene_gb=16&currency=USD").content.decode()
    assert row["card"] == "rtx-4090"
    assert f"${row['total']}" in page


def test_a_body_is_read_as_an_address_is(client):
    body = json.dumps({"task": "rendering", "scene_gb": 20})

    answer = client.post("/api/v1/sizing/fit/", body, content_type="application/json")

    assert answer.json() == asked(client, "fit", SCENE)


@pytest.mark.parametrize("name", ["estimate", "fit", "rank"])
def test_a_scene_may_have_decimals_as_a_number_and_as_text(client, name):
    body = json.dumps({"task": "rendering", "scene_gb": 16.5})

    answer = client.post(f"/api/v1/sizing/{name}/", body, content_type="application/json")

    assert answer.status_code == 200
    assert answer.json() == asked(client, name, SCENE | {"scene_gb": "16.5"})


@pytest.mark.parametrize(
    ("name", "values", "field"),
    [
        ("estimate", FP64, "task"),
        ("fit", {"task": "rendering"}, "scene_gb"),
        ("fit", {"task": "painting"}, "task"),
        ("rank", FLUX | {"model": "llama-3.1-8b"}, "model"),
        ("rank", FP64 | {"atoms": "-1"}, "atoms"),
    ],
)
def test_a_refusal_names_the_field_in_the_callers_language(client, name, values, field):
    english = refused(client, name, values)
    french = refused(client, name, values, **{"accept-language": "fr"})

    assert (english["field"], french["field"]) == (field, field)
    assert english["problem"] == french["problem"]
    assert english["detail"] != french["detail"]


def test_a_task_that_is_a_list_is_refused(client):
    body = json.dumps({"task": ["rendering"], "scene_gb": 20})

    answer = client.post("/api/v1/sizing/fit/", body, content_type="application/json")

    assert answer.status_code == 400
    assert answer.json()["field"] == "task"
