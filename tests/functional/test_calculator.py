"""The calculator: what it answers, and that a bad value is named at its field and gives no figure."""

import json
import re
from html import unescape
from urllib.parse import parse_qs, urlsplit

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from billing.money import Currency
from catalog.models import GpuModel, PublishedOffer
from catalog.operations.gpus import load_gpu_models
from catalog.queries_prices import live_prices
from tests.functional.calculator_pages import (
    CONFIG,
    FIGURE,
    NO_FIGURE,
    PAGE,
    QLORA,
    SERVING,
    error_at,
    publish,
    read,
    words,
)
from tests.integration.catalog.prices import AS_OF
from tests.integration.catalog.use_case_pages import set_state

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _catalogue():
    load_gpu_models()


class TestAnswer:
    def test_a_first_visit_shows_a_job_with_every_term_and_its_sum(self, client):
        text = words(read(client))

        assert "Memory needed" in text
        assert "Llama 3.1 70B" in text
        for term in ("Weights", "Adapters", "Activations", "Logits", "Context and reserve"):
            assert term in text
        assert "nine runs of ten between" in text

    def test_the_cheapest_with_room_is_advised_with_an_order_form_filled_in(self, client):
        publish("rtx-a6000", 330_000)
        publish("h100-sxm", 2_880_000)

        html = read(client, f"{QLORA}&sequence_tokens=4096&currency=USD")

        assert "The cheapest with room: $0.33 per hour" in words(html)
        assert re.search(r'href="/en/order/rtx-a6000/\?gpus=1&amp;hours=1&amp;currency=USD"', html)
        assert 'name="limit_price" inputmode="decimal" value="0.33"' in html

    def test_what_holds_the_job_for_less_without_room_is_told_beside_it(self, client):
        publish("mi300x", 2_290_000)
        publish("b300-sxm", 6_490_000)
        job = "method=full&model=llama-3.1-8b&sequence_tokens=4096&currency=USD"

        page = words(read(client, job))
        block = words(client.get("/en/use-cases/llm-training/").content.decode())

        tight = "For less, but tight: 1 × Radeon Instinct MI300X at $2.29 per hour."
        assert "The cheapest with room: $6.49 per hour" in page
        assert tight in page
        assert f"The cheapest with room now: 1 × B300 at $6.49 per hour. {tight}" in block

    def test_all_cards_that_hold_the_job_are_kept_in_one_place(self, client):
        html = read(client, f"{QLORA}&sequence_tokens=4096")

        found = re.search(r'data-fitting="([^"]+)"', html)
        assert found is not None
        assert {"rtx-4090", "h100-sxm"} <= set(found[1].split(","))

    def test_before_the_opening_an_intention_is_offered_and_no_price(self, client):
        html = read(client, QLORA)

        assert "Nothing is for sale before the market opens." in words(html)
        assert "Save my intention" in html

    def test_without_an_offer_no_price_is_made_up(self, client):
        set_state("open")

        text = words(read(client, QLORA))

        assert "No offer now" in text
        assert "is offered in USD now" in text
        assert "$0" not in text

    def test_a_job_that_fits_nowhere_says_what_would_make_it_fit(self, client):
        text = words(read(client, "method=full&model=llama-3.1-405b&recipe=A"))

        assert "No card fits, not even eight on one server." in text
        assert "No card holds the job as it is" in text

    def test_the_work_gives_hours_and_a_total(self, client):
        publish("h100-sxm", 2_880_000)

        text = words(read(client, f"{QLORA}&training_tokens=100000000"))

        assert "Whole job" in text
        assert re.search(r"about \$[\d,.]+ in all", text)

    def test_the_card_of_the_address_comes_first_with_every_count(self, client):
        html = read(client, f"{QLORA}&card=rtx-4090")

        rows = re.findall(r'<span class="gpu">(\d) × ([^<]+?) <small>', html)
        assert rows[:4] == [(str(count), "RTX 4090") for count in (1, 2, 4, 8)]

    def test_the_shared_address_gives_the_same_job_in_short(self, client):
        html = read(client, f"{QLORA}&sequence_tokens=2048&loss=fused&micro_batch=1")

        found = re.search(r'<a href="\?([^"]+)" data-copy', html)
        assert found is not None
        query = unescape(found[1])
        assert "loss=fused" in query
        assert "sequence_tokens" not in query
        again = re.search(r'class="big-n"><b>([^<]+)<', read(client, query))
        first = re.search(r'class="big-n"><b>([^<]+)<', html)
        assert again is not None
        assert first is not None
        assert again[1] == first[1]

    def test_the_same_job_is_there_for_programs(self, client):
        html = read(client, f"{QLORA}&sequence_tokens=4096")

        found = re.search(r'href="(/api/v1/sizing/estimate/\?[^"]+)"', html)
        assert found is not None
        answer = client.get(unescape(found[1]))
        assert answer.status_code == 200
        assert "peak_bytes" in answer.content.decode()

    def test_digits_may_stand_in_groups(self, client):
        for typed in ("8 192", "8,192", "8\u202f192"):
            html = read(client, f"{QLORA}&sequence_tokens={typed}")
            assert FIGURE in html, typed

    def test_every_field_of_the_job_is_kept_although_it_has_no_box(self, client):
        html = read(client, f"{QLORA}&is_packed=false&longest_percent=70")

        assert '<input type="hidden" name="longest_percent" value="70">' in html

    def test_a_script_gets_the_answer_alone_and_without_a_failing_status(self, client):
        answer = client.get(
            f"{PAGE}?{QLORA}&micro_batch=0", headers={"HX-Request": "true", "HX-Target": "page"}
        )

        html = answer.content.decode()
        assert answer.status_code == 200
        assert "<html" not in html
        assert error_at(html, "micro_batch")

    def test_a_gguf_file_is_served_by_llama_cpp_where_nobody_named_an_engine(self, client):
        usual = words(read(client, f"{SERVING}&weight_format=bf16&engine="))
        gguf = words(read(client, f"{SERVING}&weight_format=q4-k-m&engine="))

        assert "Engine: vLLM" in usual
        assert "Engine: llama.cpp" in gguf
        assert NO_FIGURE not in gguf

    def test_fields_of_the_method_before_are_dropped_when_the_method_changes(self, client):
        html = read(client, "was=training-qlora&method=full&model=llama-3.1-8b&lora_rank=16")

        assert FIGURE in html

    def test_the_page_asks_the_database_few_questions(self, client, django_assert_max_num_queries):
        read(client)
        with django_assert_max_num_queries(8):
            read(client, f"{QLORA}&currency=EUR")


BAD_FIELDS = [
    (QLORA, "sequence_tokens", "0", "the least is 1"),
    (QLORA, "sequence_tokens", "-512", "-512"),
    (QLORA, "sequence_tokens", "99999999999", "99"),
    (QLORA, "sequence_tokens", "lots", "lots"),
    (QLORA, "sequence_tokens", "1e3", "1e3"),
    (QLORA, "sequence_tokens", "9" * 5000, "digits"),
    (QLORA, "micro_batch", "0", "the least is 1"),
    (QLORA, "micro_batch", "1.5", "1.5"),
    (QLORA, "accumulation_steps", "0", "the least is 1"),
    (QLORA, "lora_rank", "0", "the least is 1"),
    (QLORA, "lora_rank", "9000", "4"),
    (QLORA, "lora_targets", "everything", "everything"),
    (QLORA, "optimizer", "adam9", "adam9"),
    (QLORA, "loss", "none", "none"),
    (QLORA, "quantization", "nf5", "nf5"),
    (QLORA, "training_tokens", "0", "the least is 1"),
    ("method=qlora", "model", "llama-3.1-8", "llama-3.1-8b"),
    ("method=qlora", "model", "no such thing", "no such thing"),
    ("method=full&model=llama-3.1-8b", "recipe", "Z", "Z"),
    ("method=qlora", "parameters_billions", "0", "0.1"),
    ("method=qlora", "parameters_billions", "30000", "20"),
    ("method=qlora", "parameters_billions", "big", "big"),
    ("method=qlora", "parameters_billions", "nan", "nan"),
    (SERVING, "concurrency", "0", "the least is 1"),
    (SERVING, "concurrency", "70000", "65"),
    (SERVING, "context_tokens", "0", "the least is 1"),
    (SERVING, "context_tokens", "1000000", "131"),
    (SERVING, "output_tokens", "9000", "8"),
    (SERVING, "kv_format", "q4_0", "q4_0"),
    (SERVING, "weight_format", "q4km", "q4-k-m"),
    (f"{SERVING}&weight_format=q4-k-m", "engine", "vllm", "vllm"),
    (f"{SERVING}&weight_format=bf16", "engine", "vlm", "vlm"),
    (SERVING, "generated_tokens", "-1", "-1"),
]


@pytest.mark.parametrize(("job", "field", "typed", "said"), BAD_FIELDS)
def test_a_bad_value_is_named_at_its_field_and_gives_no_figure(client, job, field, typed, said):
    html = read(client, f"{job}&{field}={typed}")

    assert said.replace(",", "") in error_at(html, field).replace(",", "")
    assert NO_FIGURE in html
    assert FIGURE not in html


@pytest.mark.parametrize(
    "query",
    [
        "method=lora&model=llama-3.1-8b&quantization=nf4",
        "method=full&model=llama-3.1-8b&lora_rank=8",
        f"{SERVING}&gpus=3",
        f"{QLORA}&gpus=6&tensor_parallel=4",
        f"{SERVING}&sequence_tokens=4096",
        "method=qlora&layers=32",
    ],
)
def test_what_does_not_go_together_is_told_above_the_form(client, query):
    html = read(client, query)

    errors = re.search(r'<div class="errors" role="alert">.*?<li>(.+?)</li>', html, re.DOTALL)
    assert errors is not None
    assert len(words(errors[1])) > 20
    assert NO_FIGURE in html
    assert FIGURE not in html


def test_unknown_names_and_values_of_the_address_are_named_as_left_out(client):
    text = words(read(client, f"{QLORA}&colour=blue&sort=luck&card=rtx-409"))

    for typed in ("colour", "luck", "rtx-409"):
        assert f"“{typed}” is not among the choices and was left out." in text
    assert "Did you mean rtx-4090" in text
    assert "Memory needed" in text


def test_refusals_are_in_the_readers_language(client):
    html = read(client, f"{QLORA}&micro_batch=0", language="fr")

    assert "minimum" in error_at(html, "micro_batch") or "moins" in error_at(html, "micro_batch")
    assert "the least" not in html


class TestOwnModel:
    def send(self, client: Client, text: str, **more: object):
        return client.post(PAGE, {"config_text": text, "query": QLORA, **more})

    def refused(self, answer) -> str:
        assert answer.status_code == 200
        html = answer.content.decode()
        found = re.search(r'<p class="err" id="config_error">(.*?)</p>', html, re.DOTALL)
        assert found is not None
        return unescape(found[1])

    def test_a_pasted_configuration_leads_to_an_address_that_holds_it(self, client):
        answer = self.send(client, json.dumps(CONFIG, indent=2))

        assert answer.status_code == 302
        query = parse_qs(urlsplit(answer.url).query)
        assert query["method"] == ["qlora"]
        assert "model" not in query
        config = json.loads(query["config"][0])
        assert config["hidden_size"] == 4096
        assert "transformers_version" not in config
        text = words(client.get(answer.url).content.decode())
        assert "8.03 B parameters, 32 layers." in text

    def test_an_uploaded_file_does_the_same(self, client):
        file = SimpleUploadedFile("config.json", json.dumps(CONFIG).encode())

        assert self.send(client, "", config_file=file).status_code == 302

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("", "empty"),
            ("not json", "JSON"),
            ("<!doctype html><html></html>", "web page"),
            ("https://huggingface.co/x/y", "address"),
            ("[1, 2]", "list"),
            (json.dumps(CONFIG | {"hidden_size": "4096"}), "quotes"),
            (json.dumps({k: v for k, v in CONFIG.items() if k != "vocab_size"}), "vocab"),
            (json.dumps(CONFIG | {"num_key_value_heads": 7}), "7"),
            (json.dumps(CONFIG | {"hidden_size": 0}), "0"),
            (json.dumps(CONFIG | {"num_hidden_layers": 10**9}), "1"),
            (json.dumps({"tokenizer_class": "X"}), "another file"),
            ("[" * 100_000, "deep"),
        ],
    )
    def test_what_is_no_configuration_is_told(self, client, text, said):
        sentence = self.refused(self.send(client, text))

        assert said in sentence or said.lower() in sentence.lower()

    @pytest.mark.parametrize("language", ["en", "fr"])
    def test_fifty_megabytes_are_refused_before_they_are_read(self, client, language):
        file = SimpleUploadedFile("config.json", b" " * 50_000_000)

        page = {"en": PAGE, "fr": "/fr/calculateur/"}[language]
        answer = client.post(page, {"config_text": "", "config_file": file})

        text = words(answer.content.decode())
        said = {"en": "config.json is larger than 262 kB", "fr": "config.json dépasse 262"}
        assert answer.status_code == 413
        assert said[language] in text.replace("\u202f", " ").replace("\u00a0", " ")

    def test_bytes_that_are_no_text_are_refused(self, client):
        file = SimpleUploadedFile("config.json", b"\xff\xfe\x00")

        assert "UTF-8" in self.refused(self.send(client, "", config_file=file))


def test_prices_are_of_offers_that_sell_so_many_on_one_server():
    publish("rtx-4090", 330_000)
    PublishedOffer.objects.create(
        gpu_model=GpuModel.objects.get(slug="rtx-4090"),
        currency="USD",
        rank=1,
        price_micro=340_000,
        min_gpus=2,
        max_gpus=6,
        gpu_step=2,
        starts_at=AS_OF,
        min_hours=1,
        max_hours=24,
        region="eu-west",
        tier="standard",
        as_of=AS_OF,
    )

    assert live_prices(Currency.USD) == {
        ("rtx-4090", 1): 330_000,
        ("rtx-4090", 2): 340_000,
        ("rtx-4090", 4): 340_000,
    }
    assert live_prices(Currency.EUR) == {}


@pytest.mark.parametrize("key", ["fine-tuning", "llm-training", "llm-inference"])
def test_a_use_case_has_a_calculator_with_a_job_of_its_own(client, key):
    html = client.get(f"/en/use-cases/{key}/").content.decode()

    assert "Work out your own case" in html
    assert 'id="calculator-answer"' in html
    assert FIGURE in html


def test_a_cards_page_has_a_calculator_that_judges_this_card(client):
    html = client.get("/en/gpus/rtx-4090/").content.decode()

    block = html.split('id="calculator-answer"')[1].split("</section>")[0]
    assert "RTX 4090, 1" in words(block)
    assert "of 24 GB" in words(block)


@pytest.mark.parametrize("language", ["en", "fr"])
@pytest.mark.parametrize("name", ["accuracy", "figures"])
def test_the_pages_behind_the_figures_have_one_heading_and_no_id_twice(client, language, name):
    paths = {
        ("accuracy", "en"): "/en/calculator/accuracy/",
        ("accuracy", "fr"): "/fr/calculateur/precision/",
        ("figures", "en"): "/en/calculator/figures/",
        ("figures", "fr"): "/fr/calculateur/nos-chiffres/",
    }
    html = client.get(paths[name, language]).content.decode()

    ids = re.findall(r'\bid="([^"]+)"', html)
    assert html.count("<h1") == 1
    assert len(ids) == len(set(ids))


def test_the_accuracy_report_says_its_dates_and_stands_beside_other_rules(client):
    text = words(client.get("/en/calculator/accuracy/").content.decode())

    assert "read on 30 Nov 2026; constants fitted on" in text
    assert "Fine-tuning memory, one card" in text
    assert "EleutherAI" in text


@pytest.mark.parametrize(
    ("key", "query", "said"),
    [
        ("image-video", "width_px=0", "the least is 16"),
        ("image-video", "width_px=wide", "wide"),
        ("image-video", "bits=3", "3"),
        ("image-video", "diffusion_model=sd9", "sd9"),
        ("image-video", "frames=10", "10"),
        ("rendering", "scene_gb=0", "the least is 1"),
        ("rendering", "scene_gb=-4", "-4"),
        ("rendering", "render_engine=povray", "povray"),
        ("scientific", "precision=fp8", "fp8"),
        ("scientific", "precision=mixed&atoms=0", "the least is 1"),
        ("scientific", "precision=mixed&atoms=many", "many"),
    ],
)
def test_a_bad_value_of_another_job_is_told_and_gives_no_figure(client, key, query, said):
    html = client.get(f"/en/use-cases/{key}/?{query}").content.decode()

    answer = html.split('id="calculator-answer"')[1].split("</section>")[0]
    assert said in words(answer)
    assert FIGURE not in answer
    assert "<table" not in answer


def test_a_scene_needs_a_ninth_more_than_its_size_and_ranks_by_cost(client):
    publish("rtx-4090", 330_000)
    publish("rtx-5090", 690_000)

    html = client.get("/en/use-cases/rendering/?scene_gb=18&currency=USD").content.decode()

    answer = html.split('id="calculator-answer"')[1].split("</section>")[0]
    names = re.findall(r'<a class="gpu"[^>]*>([^<]+)</a>', answer)
    assert "20 GB indicative" in words(answer)
    assert names[:2] == ["RTX 4090", "RTX 5090"]
    assert "$0.475" in answer


def test_a_setting_that_nobody_measured_has_no_figure(client):
    html = client.get(
        "/en/use-cases/image-video/?diffusion_model=flux-dev&width_px=512&height_px=512"
    ).content.decode()

    answer = html.split('id="calculator-answer"')[1].split("</section>")[0]
    assert "Nobody has measured this setting" in words(answer)
    assert FIGURE not in answer


def test_double_precision_leaves_out_cards_that_are_slow_in_it(client):
    publish("a100-sxm-80", 1_790_000)
    publish("rtx-4090", 330_000)

    html = client.get("/en/use-cases/scientific/?precision=fp64&currency=USD").content.decode()

    answer = html.split('id="calculator-answer"')[1].split("</section>")[0]
    assert "A100" in answer
    assert "RTX 4090" not in answer
