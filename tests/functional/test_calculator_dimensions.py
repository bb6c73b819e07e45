"""A model told by its dimensions on the calculator's page: kept in the address, named where wrong."""

import json
import re
from html import unescape
from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client

from catalog.operations.gpus import load_gpu_models
from tests.functional.calculator_pages import CONFIG, FIGURE, PAGE, QLORA, read, words

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _catalogue():
    load_gpu_models()


class TestDimensions:
    LLAMA = {
        "layers": "32",
        "hidden": "4 096",
        "intermediate": "14336",
        "heads": "32",
        "kv_heads": "8",
        "vocabulary": "128,256",
    }

    def send(self, client: Client, *, page: str = PAGE, query: str = QLORA, **given: str):
        return client.post(page, {"by": "dimensions", "query": query} | given)

    def refused(self, answer, field: str) -> str:
        assert answer.status_code == 200
        found = re.search(
            rf'<p class="err" id="dim_{field}_error">(.*?)</p>', answer.content.decode(), re.DOTALL
        )
        assert found is not None
        return unescape(found[1])

    def test_lead_to_an_address_that_holds_them_and_keeps_the_job(self, client):
        answer = self.send(client, query=f"{QLORA}&sequence_tokens=4096", **self.LLAMA)

        query = parse_qs(urlsplit(answer.url).query)
        assert answer.status_code == 302
        assert query["hidden"] == ["4096"]
        assert query["vocabulary"] == ["128256"]
        assert query["sequence_tokens"] == ["4096"]
        assert "model" not in query
        html = client.get(answer.url).content.decode()
        assert "8.03 B parameters, 32 layers." in words(html)
        assert "Your own model" in html
        assert 'name="hidden" value="4096"' in html
        assert 'id="id_model"' not in html

    def test_what_was_not_told_is_told_as_taken_and_may_be_corrected(self, client):
        told = {name: text for name, text in self.LLAMA.items() if name != "kv_heads"}

        html = client.get(self.send(client, **told).url).content.decode()

        assert "kv_heads = 32" in words(html)
        assert re.search(r'<details class="card more" id="by-dimensions" open>', html)
        assert re.search(r'name="layers" value="32"[^>]*id="dim_layers"', html)

    def test_the_way_back_to_the_list_drops_them_all_and_keeps_the_job(self, client):
        html = client.get(
            self.send(client, query=f"{QLORA}&micro_batch=2", **self.LLAMA).url
        ).content.decode()

        back = re.search(r'href="([^"]+)">Choose from the list instead', html)
        assert back is not None
        query = parse_qs(urlsplit(unescape(back[1])).query)
        assert query["micro_batch"] == ["2"]
        assert not set(query) & set(self.LLAMA)

    def test_a_configuration_takes_their_place(self, client):
        told = "&".join(f"{name}={text}" for name, text in {"layers": 2, "hidden": 64}.items())

        answer = client.post(PAGE, {"config_text": json.dumps(CONFIG), "query": f"{QLORA}&{told}"})

        assert answer.status_code == 302
        assert "layers=2" not in answer.url

    @pytest.mark.parametrize(
        ("changed", "field", "said"),
        [
            ({"hidden": ""}, "hidden", "required"),
            ({"layers": "0"}, "layers", "0"),
            ({"layers": "many"}, "layers", "many"),
            ({"vocabulary": "9" * 30}, "vocabulary", "most"),
            ({"heads": "30", "kv_heads": ""}, "hidden", "does not divide"),
            ({"kv_heads": "5"}, "kv_heads", "5"),
            ({"experts": "8"}, "experts", "without"),
        ],
    )
    def test_a_bad_one_is_named_at_its_field_and_nothing_is_dropped(
        self, client, changed, field, said
    ):
        answer = self.send(client, **(self.LLAMA | changed))

        assert said in self.refused(answer, field).lower()
        assert 'id="by-dimensions" open' in answer.content.decode()
        kept = re.search(r'name="intermediate" value="(\d+)"', answer.content.decode())
        assert kept is not None
        assert kept[1] == "14336"

    def test_without_any_it_says_which_is_needed(self, client):
        assert "required" in self.refused(self.send(client), "layers")

    def test_a_bad_one_of_an_address_is_named_there_in_the_readers_language(self, client):
        html = read(client, "method=qlora&layers=32&hidden=4096", language="fr")

        assert 'id="dim_intermediate_error"' in html
        assert "Ce champ est obligatoire" in html
        assert FIGURE not in html
