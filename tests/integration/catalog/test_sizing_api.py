"""The sizing engine over the API, asked by a plain client."""

import json
from typing import Any

import pytest
import yaml
from django.test import Client
from rest_framework.throttling import AnonRateThrottle

from catalog.forms import DEFAULT_CURRENCY
from catalog.models import GpuModel, PublishedOffer
from sizing.cards import all_cards
from sizing.plain.answers import estimate_object
from sizing.plain.jobs import job_from
from tests.integration.catalog.prices import AS_OF, Publish
from tests.unit.sizing.published_configs import LLAMA

pytestmark = pytest.mark.django_db

QLORA = {"model": "llama-3.1-8b", "method": "qlora"}
FULL = {"model": "llama-3.1-8b", "method": "full"}
SERVED = {"task": "serving", "model": "llama-3.1-8b"}
JOBS = ("estimate", "fit", "rank")


def address(name: str) -> str:
    return f"/api/v1/sizing/{name}/"


def asked(client: Client, name: str, values: dict[str, Any]) -> Any:
    answer = client.get(address(name), values)
    assert answer.status_code == 200, answer.content
    return answer.json()


def sent(client: Client, name: str, values: object) -> Any:
    return client.post(address(name), json.dumps(values), content_type="application/json")


def offer(slug: str, *, price_micro: int, min_gpus: int, max_gpus: int, step: int = 1) -> None:
    PublishedOffer.objects.create(
        gpu_model=GpuModel.objects.get(slug=slug),
        currency="USD",
        rank=1,
        price_micro=price_micro,
        min_gpus=min_gpus,
        max_gpus=max_gpus,
        gpu_step=step,
        starts_at=AS_OF,
        min_hours=1,
        max_hours=24,
        region="eu-west",
        tier="standard",
        as_of=AS_OF,
    )


class TestEstimate:
    def test_is_that_of_the_engine_and_asks_the_database_nothing(
        self, client: Client, django_assert_num_queries: Any
    ) -> None:
        with django_assert_num_queries(0):
            answer = asked(client, "estimate", QLORA | {"lora_rank": "64"})

        assert answer == estimate_object(job_from(QLORA | {"lora_rank": 64}))

    @pytest.mark.parametrize("values", [QLORA | {"lora_rank": 64, "is_packed": True}, SERVED])
    def test_json_and_address_mean_the_same(self, client: Client, values: dict[str, Any]) -> None:
        texts = {name: str(value).lower() for name, value in values.items()}

        assert sent(client, "estimate", values).json() == asked(client, "estimate", texts)

    @pytest.mark.parametrize("config", [LLAMA, json.dumps(LLAMA)])
    def test_a_configuration_is_pasted_as_object_or_text(
        self, client: Client, config: object
    ) -> None:
        answer = sent(client, "estimate", {"config": config, "method": "lora"})

        assert (answer.status_code, answer.json()["model"]["parameters"]) == (200, 6_738_415_616)

    def test_says_what_it_takes_for_granted_in_the_language(self, client: Client) -> None:
        values = {"parameters_billions": "7", "method": "lora"}

        answer = client.get(address("estimate"), values, headers={"accept-language": "en"})

        (assumption,) = answer.json()["model"]["assumptions"]
        assert assumption["key"] == "typical_shape"
        assert assumption["text"].startswith("Only the size is given")


class TestFit:
    def test_gives_every_listed_card_its_verdict(
        self, client: Client, catalogue: None, django_assert_num_queries: Any
    ) -> None:
        with django_assert_num_queries(1):
            answer = asked(client, "fit", QLORA)

        slugs = [row["card"] for row in answer["cards"]]
        assert len(slugs) == GpuModel.objects.filter(is_listed=True).count()
        assert "rtx-4090" in slugs
        assert "backwards" not in answer["cards"][0]

    def test_answers_named_cards_in_full(
        self, client: Client, django_assert_num_queries: Any
    ) -> None:
        with django_assert_num_queries(0):
            answer = asked(client, "fit", FULL | {"card": ["rtx-4090", "h100-sxm"], "gpus": "2"})

        small, large = answer["cards"]
        assert (small["card"], small["gpus"], small["verdict"]) == ("rtx-4090", 2, "no")
        assert small["change"]["verdict"] in {"comfortable", "tight"}
        assert large["backwards"]["largest_parameters"] > small["backwards"]["largest_parameters"]
        assert sent(client, "fit", FULL | {"card": ["rtx-4090", "h100-sxm"], "gpus": 2}).json() == (
            answer
        )

    def test_many_named_cards_get_their_verdict_alone(
        self, client: Client, django_assert_num_queries: Any
    ) -> None:
        cards = list(all_cards())[:9]

        with django_assert_num_queries(0):
            answer = asked(client, "fit", QLORA | {"card": ",".join(cards)})

        assert [row["card"] for row in answer["cards"]] == cards
        assert "backwards" not in answer["cards"][0]


class TestRank:
    def test_ranks_by_prices_of_now(
        self, client: Client, publish: Publish, django_assert_max_num_queries: Any
    ) -> None:
        publish("rtx-4090", 330_000)
        publish("l40s", 790_000)
        publish("h100-sxm", 2_500_000, gpus=8)
        values = QLORA | {"currency": "USD", "training_tokens": "50000000", "top": "3"}

        with django_assert_max_num_queries(4):
            answer = asked(client, "rank", values)

        assert (answer["currency"], answer["as_of"]) == ("USD", AS_OF.isoformat())
        rows = [(row["card"], row["gpus"], row["price_per_gpu_hour"]) for row in answer["rows"]]
        assert rows[0] == ("rtx-4090", 1, "0.33")
        assert set(rows[1:]) == {("l40s", 1, "0.79"), ("h100-sxm", 8, "2.50")}
        assert answer["rows"][0]["reasons"][0] == "cheapest"

    def test_a_price_needs_an_offer_that_sells_so_many_on_one_server(
        self, client: Client, publish: Publish
    ) -> None:
        publish("rtx-4090", 330_000)
        offer("rtx-4090", price_micro=350_000, min_gpus=2, max_gpus=6, step=2)
        values = QLORA | {"currency": "USD", "card": "rtx-4090"}

        rows = asked(client, "rank", values)["rows"]

        prices = {row["gpus"]: row["price_per_gpu_hour"] for row in rows}
        assert prices == {1: "0.33", 2: "0.35", 4: "0.35", 8: None}
        assert "no_offer" in next(row for row in rows if row["gpus"] == 8)["reasons"]

    def test_prices_of_another_currency_are_not_these(
        self, client: Client, publish: Publish
    ) -> None:
        publish("rtx-4090", 330_000)

        answer = asked(client, "rank", QLORA | {"currency": "GBP", "card": "rtx-4090"})

        assert answer["as_of"] is None
        assert {row["price_per_hour"] for row in answer["rows"]} == {None}

    def test_takes_cards_and_counts_as_json(self, client: Client, catalogue: None) -> None:
        values = {"card": ["l40s"], "gpus": [8, 1], "top": 5, "generated_tokens": 1_000_000}

        answer = sent(client, "rank", SERVED | values).json()

        assert sorted(row["gpus"] for row in answer["rows"]) == [1, 8]
        assert answer["rows"][0]["hours"]["low"] > 0
        assert answer["currency"] == DEFAULT_CURRENCY.value


class TestCapacityAndAccuracy:
    def test_capacity_is_that_of_the_rule(
        self, client: Client, django_assert_num_queries: Any
    ) -> None:
        with django_assert_num_queries(0):
            answer = asked(client, "capacity", {"card": "rtx-4090"})
            everything = asked(client, "capacity", {})

        (row,) = answer["cards"]
        assert row == {
            "slug": "rtx-4090", "memory_gb": 24, "qlora_b": 15, "lora16_b": 7, "full_b": 1,
        }  # fmt: skip
        assert len(everything["cards"]) == 53

    def test_accuracy_is_the_report_and_its_dates(
        self, client: Client, django_assert_num_queries: Any
    ) -> None:
        with django_assert_num_queries(0):
            answer = asked(client, "accuracy", {})

        assert answer["own_table"]["read_on"] == "2026-11-30"
        assert answer["judged"] > 0
        assert {"groups", "rivals", "verdicts"} <= set(answer)

    @pytest.mark.parametrize("name", ["capacity", "accuracy"])
    def test_are_only_read(self, client: Client, name: str) -> None:
        assert sent(client, name, {}).status_code == 405


BAD = [
    ({}, "model", "missing_one"),
    ({"model": "llama-3.1-8b"}, "method", "missing_one"),
    (QLORA | {"model": "lama-3.1-8b"}, "model", "unknown_name_nearest"),
    (QLORA | {"lora_rnk": "8"}, "lora_rnk", "unknown_field_nearest"),
    (QLORA | {"sequence_tokens": "0"}, "sequence_tokens", "below_least"),
    (QLORA | {"micro_batch": "-1"}, "micro_batch", "below_least"),
    (QLORA | {"sequence_tokens": "9" * 40}, "sequence_tokens", "above_most"),
    (QLORA | {"micro_batch": "9" * 9_000}, "micro_batch", "not_whole"),
    (QLORA | {"lora_rank": "NaN"}, "lora_rank", "not_whole"),
    (QLORA | {"lora_rank": "9000"}, "lora_rank", "above_dimension"),
    (FULL | {"quantization": "nf4"}, "quantization", "only_with"),
    (QLORA | {"concurrency": "2"}, "concurrency", "other_task"),
    (QLORA | {"config": "{}"}, "model", "two_models"),
    (SERVED | {"weight_format": "q4-k-m", "engine": "vllm"}, "engine", "not_together"),
    ({"method": "lora", "config": "hello"}, "config.json", "config_not_json"),
    (
        {"method": "lora", "config": '{"model_type": "llama"}'},
        "num_hidden_layers",
        "config_missing",
    ),
    (
        {"method": "lora", "config": json.dumps(LLAMA | {"hidden_size": "4096"})},
        "hidden_size",
        "config_number_as_text",
    ),
    (
        {"method": "lora", "config": json.dumps(LLAMA | {"n_embd": 128})},
        None,
        None,
    ),
]


@pytest.mark.parametrize("name", JOBS)
@pytest.mark.parametrize("language", ["en", "fr"])
def test_bad_input_names_the_field_and_says_what_to_try(
    client: Client, name: str, language: str
) -> None:
    for values, field, problem in BAD:
        for answer in (
            client.get(address(name), values, headers={"accept-language": language}),
            client.post(
                address(name),
                json.dumps(values),
                content_type="application/json",
                headers={"accept-language": language},
            ),
        ):
            content = answer.json()
            assert (values, answer.status_code) == (values, 400)
            assert answer.headers["content-type"] == "application/problem+json"
            assert "peak_bytes" not in content
            if field is not None:
                assert (content["field"], content["problem"]) == (field, problem)
            assert len(content["detail"]) > 20


def test_the_same_refusal_in_both_languages(client: Client) -> None:
    values = QLORA | {"lora_rank": "9000"}
    details = {
        language: client.get(
            address("estimate"), values, headers={"accept-language": language}
        ).json()["detail"]
        for language in ("en", "fr")
    }

    assert details == {
        "en": "lora_rank is 9000, but it cannot exceed the narrowest width of the model, which is "
        "4096: give at most 4096.",
        "fr": "lora_rank\u00a0: 9000, mais cette valeur ne peut dépasser la plus petite largeur du "
        "modèle, soit 4096. Donnez au plus 4096.",
    }


@pytest.mark.parametrize(
    ("name", "values", "field", "problem"),
    [
        ("estimate", SERVED | {"gpus": "3"}, "gpus", "not_dividing"),
        ("estimate", QLORA | {"currency": "EUR"}, "currency", "unknown_field"),
        ("fit", QLORA | {"card": "rtx4090"}, "card", "unknown_name_nearest"),
        ("fit", QLORA | {"gpus": "many"}, "gpus", "not_whole"),
        ("rank", QLORA | {"gpus": "3"}, "gpus", "unknown_choice"),
        ("rank", QLORA | {"currency": "CHF"}, "currency", "unknown_choice"),
        ("rank", QLORA | {"top": "0"}, "top", "below_least"),
        ("rank", QLORA | {"training_tokens": "0"}, "training_tokens", "below_least"),
        ("capacity", {"card": "zzz"}, "card", "unknown_name"),
        ("capacity", {"gpu": "l40s"}, "gpu", "unknown_field"),
        ("estimate", QLORA | {"lora_rank": ["8", "16"]}, "lora_rank", "config_repeated"),
    ],
)
def test_each_address_refuses_what_it_does_not_take(
    client: Client, catalogue: None, name: str, values: dict[str, Any], field: str, problem: str
) -> None:
    answer = client.get(address(name), values)

    content = answer.json()
    assert (answer.status_code, content["field"], content["problem"]) == (400, field, problem)


DEEP = b"[" * 100_000 + b"]" * 100_000


@pytest.mark.parametrize(
    ("body", "field", "problem"),
    [
        (b"", "model", "missing_one"),
        (b"[1", "body", "config_not_json"),
        (b"\xff", "body", "config_not_json"),
        (b'{"lora_rank": ' + b"9" * 5_000 + b"}", "body", "config_not_json"),
        (b"[]", "body", "config_not_object"),
        (b"5", "body", "config_not_object"),
        (b'{"lora_rank": NaN}', "body", "config_not_finite"),
        (b'{"model": "a", "model": "b"}', "model", "config_repeated"),
        (b'{"card": ' + DEEP + b"}", "body", "config_too_deep"),
        (b'{"card": ' + DEEP[99_900:100_100] + b"}", "body", "config_too_deep"),
        (b'{"model": "\\ud800", "method": "lora"}', "model", "unknown_name"),
        (b'{"\\ud800": 1}', "?", "unknown_field"),
        (b'{"model": {"a": 1}, "method": "lora"}', "model", "unknown_name"),
        (b'{"parameters_billions": 1e999, "method": "lora"}', "parameters_billions", "not_finite"),
        (b'{"parameters_billions": "1e9", "method": "lora"}', "parameters_billions", "not_finite"),
    ],
    ids=range(15),
)
def test_a_body_that_cannot_be_meant_is_a_sentence(
    client: Client, body: bytes, field: str, problem: str
) -> None:
    answer = client.post(address("estimate"), body, content_type="application/json")

    content = answer.json()
    assert (answer.status_code, content["field"], content["problem"]) == (400, field, problem)


def test_a_configuration_of_50_mb_is_refused_before_it_is_read(client: Client) -> None:
    body = b'{"config": "' + b"x" * 50_000_000 + b'"}'

    answer = client.post(
        address("estimate"),
        body,
        content_type="application/json",
        headers={"accept-language": "fr"},
    )

    content = answer.json()
    assert (answer.status_code, content["field"]) == (413, "config.json")
    assert content["problem"] == "config_too_big"
    assert "ce qu’aucune configuration n’atteint" in content["detail"]


def test_a_form_is_no_json(client: Client) -> None:
    assert client.post(address("fit"), QLORA).status_code == 415


def test_asking_too_often_is_refused(
    client: Client, own_cache: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(AnonRateThrottle, "get_rate", lambda _self: "2/min")
    statuses = [client.get(address("capacity")).status_code for _ in range(3)]

    assert statuses == [200, 200, 429]


def test_the_description_lists_the_fields_and_their_choices(client: Client) -> None:
    schema = yaml.safe_load(client.get("/api/v1/schema/").content)

    operation = schema["paths"]["/api/v1/sizing/estimate/"]["get"]
    parameters = {each["name"]: each["schema"] for each in operation["parameters"]}
    assert parameters["method"]["enum"] == ["full", "lora", "qlora"]
    assert parameters["lora_rank"]["type"] == "integer"
    assert parameters["is_packed"]["type"] == "boolean"
    assert parameters["parameters_billions"]["type"] == "number"
    body = schema["components"]["schemas"]["SizingRankBody"]["properties"]
    assert {"config", "weight_format", "currency", "training_tokens"} <= set(body)
    problem = schema["components"]["schemas"]["SizingProblem"]["properties"]
    assert {"field", "problem", "detail"} <= set(problem)
