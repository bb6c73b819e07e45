"""Jobs from plain values and back."""

import json
from dataclasses import replace
from typing import Any

import pytest

from sizing.bounds import InputError
from sizing.plain.jobs import (
    MODEL_FIELDS,
    Task,
    field_names,
    job_from,
    job_values,
    serving_job_from,
    task_from,
    training_job_from,
    work_tokens_from,
)
from sizing.serving.job import Engine, ServingJob, Split
from sizing.training.choices import (
    QUERIES_AND_VALUES,
    RECIPES,
    Checkpointing,
    Loss,
    Method,
    Precision,
    Sharding,
    Target,
)
from sizing.training.job import TrainingJob, recipe_of
from sizing.training.profiles import Profile
from tests.unit.sizing.published_configs import LLAMA

QLORA = {"model": "llama-3.1-8b", "method": "qlora"}
FULL = {"model": "llama-3.1-8b", "method": "full"}
SERVED = {"task": "serving", "model": "llama-3.1-8b"}


def refusal(values: dict[str, Any]) -> InputError:
    with pytest.raises(InputError) as caught:
        job_from(values)
    return caught.value


class TestTraining:
    def test_what_is_left_out_is_usual(self) -> None:
        job = training_job_from(QLORA)

        assert job == TrainingJob(model=job.model, method=Method.QLORA)
        assert job.model.slug == "llama-3.1-8b"

    def test_text_and_json_mean_the_same(self) -> None:
        texts = {"lora_rank": "64", "is_packed": "false", "longest_percent": " 60 "}
        values: dict[str, Any] = {"lora_rank": 64, "is_packed": False, "longest_percent": 60}

        job = training_job_from(QLORA | texts)

        assert job == training_job_from(QLORA | values)
        assert (job.lora_rank, job.is_packed, job.longest_percent) == (64, False, 60)

    @pytest.mark.parametrize("empty", ["", "  ", None])
    def test_an_empty_value_leaves_the_field_out(self, empty: str | None) -> None:
        assert training_job_from(QLORA | {"lora_rank": empty}) == training_job_from(QLORA)

    def test_a_framework_brings_its_own_settings_and_yields_to_what_is_said(self) -> None:
        usual = training_job_from(QLORA | {"profile": "litgpt"})
        said = training_job_from(QLORA | {"profile": "litgpt", "loss": "eager"})

        assert (usual.profile, usual.loss) == (Profile.LITGPT, Loss.CHUNKED)
        assert usual.checkpointing is Checkpointing.NONE
        assert said == replace(usual, loss=Loss.EAGER)

    @pytest.mark.parametrize("letter", list(RECIPES))
    def test_a_recipe_is_known_by_its_letter(self, letter: str) -> None:
        job = training_job_from(FULL | {"recipe": letter.lower()})

        assert recipe_of(job) == RECIPES[letter]

    @pytest.mark.parametrize(
        ("given", "targets"),
        [
            ("queries_values", QUERIES_AND_VALUES),
            ("q, v", QUERIES_AND_VALUES),
            (["q", "v"], QUERIES_AND_VALUES),
            ("head", (Target.HEAD,)),
        ],
    )
    def test_targets_are_a_named_set_or_a_list(self, given: Any, targets: tuple[Target]) -> None:
        assert training_job_from(QLORA | {"lora_targets": given}).lora_targets == targets

    def test_several_cards_share_by_fsdp_unless_told_otherwise(self) -> None:
        assert training_job_from(QLORA | {"gpus": "4"}).sharding is Sharding.FSDP
        assert training_job_from(QLORA | {"gpus": "4", "sharding": "ddp"}).sharding is Sharding.DDP
        alone = {"gpus": "4", "tensor_parallel": "4"}
        assert training_job_from(QLORA | alone).sharding is Sharding.NONE


class TestServing:
    def test_what_is_left_out_is_usual(self) -> None:
        job = serving_job_from(SERVED)

        expected = ServingJob(model=job.model, weights=job.weights, context_tokens=8_192)
        assert (job, job.weights.slug) == (expected, "bf16")

    def test_a_model_of_a_short_context_is_served_at_all_of_it(self) -> None:
        assert serving_job_from(SERVED | {"model": "llama-2-7b-hf"}).context_tokens == 4_096

    def test_gguf_files_are_served_by_the_engine_that_reads_them(self) -> None:
        job = serving_job_from(SERVED | {"weight_format": "q4-k-m"})

        assert job.engine is Engine.LLAMA_CPP

    def test_every_field_is_read(self) -> None:
        job = serving_job_from(
            SERVED
            | {
                "concurrency": "8",
                "context_tokens": "4096",
                "output_tokens": "512",
                "prefill_chunk_tokens": "1024",
                "kv_format": "fp8",
                "engine": "sglang",
                "gpus": "2",
                "split": "layers",
                "utilization_percent": "80",
            }
        )

        assert (job.requests, job.context_tokens, job.output_tokens) == (8, 4_096, 512)
        assert (job.gpus, job.split, job.utilization_percent) == (2, Split.LAYERS, 80)

    def test_cards_that_cannot_share_the_heads_are_refused_by_their_number(self) -> None:
        error = refusal(SERVED | {"gpus": "3"})

        assert (error.field, error.problem) == ("gpus", "not_dividing")
        assert str(error).startswith("gpus is 3, which does not divide the number of heads")


class TestModels:
    def test_a_configuration_as_text_or_as_an_object(self) -> None:
        pasted = training_job_from({"method": "lora", "config": json.dumps(LLAMA)})
        given = training_job_from({"method": "lora", "config": LLAMA})

        assert pasted == given
        assert pasted.model.parameters == 6_738_415_616

    def test_a_size_alone_takes_a_typical_shape(self) -> None:
        job = training_job_from({"method": "lora", "parameters_billions": "7.5"})

        assert round(job.model.parameters / 10**9, 1) == 7.5
        assert job.model.assumptions[0].key == "typical_shape"

    def test_dimensions(self) -> None:
        values: dict[str, Any] = {
            "layers": 2,
            "hidden": "64",
            "intermediate": 128,
            "heads": 4,
            "vocabulary": 100,
        }
        job = job_from({"method": "lora", "lora_rank": 8, "has_tied_embeddings": "yes", **values})

        assert (job.model.layers, job.model.has_tied_embeddings) == (2, True)

    def test_a_missing_dimension_is_named(self) -> None:
        error = refusal({"method": "lora", "layers": "2", "hidden": "64", "heads": "4"})

        assert (error.field, error.problem) == ("intermediate", "missing")

    def test_a_configuration_nested_without_end_is_refused(self) -> None:
        deep: Any = {}
        for _ in range(100_000):
            deep = {"a": deep}

        error = refusal({"method": "lora", "config": deep})

        assert (error.field, error.problem) == ("config.json", "config_too_deep")


BAD = [
    ({}, "model is missing: give one of model, config, parameters_billions."),
    ({"model": "llama-3.1-8b"}, "method is missing: give one of full, lora, qlora."),
    (QLORA | {"method": "magic"}, "method is “magic”, which is not known: choose one of full,"),
    (QLORA | {"task": "cooking"}, "task is “cooking”, which is not known: choose one of training"),
    (QLORA | {"model": "lama-3.1-8b"}, "did you mean llama-3.1-8b"),
    (QLORA | {"model": "§"}, "model is “§”, which is not in the table: look the name up"),
    (QLORA | {"model": 8}, "model is 8, which is not in the table: look the name up"),
    (QLORA | {"config": "{}"}, "model and config are both given"),
    (QLORA | {"layers": "2"}, "model and layers are both given"),
    (QLORA | {"lora_rnk": "2"}, "lora_rnk is not known here: did you mean lora_rank"),
    (QLORA | {"zzz": "2"}, "zzz is not known here: choose among task, model"),
    (QLORA | {"concurrency": "2"}, "concurrency belongs to task “serving”, not to “training”"),
    (SERVED | {"lora_rank": "2"}, "lora_rank belongs to task “training”, not to “serving”"),
    (QLORA | {"lora_rank": "0"}, "lora_rank is 0, but the least is 1"),
    (QLORA | {"lora_rank": "-5"}, "lora_rank is -5, but the least is 1"),
    (QLORA | {"lora_rank": "5000"}, "lora_rank is 5000, but it cannot exceed"),
    (QLORA | {"lora_rank": "1.5"}, "lora_rank is “1.5”, not a whole number"),
    (QLORA | {"lora_rank": "٣"}, "lora_rank is “٣”, not a whole number"),
    (QLORA | {"lora_rank": True}, "lora_rank is true, not a whole number"),
    (QLORA | {"lora_rank": [1]}, "lora_rank is 1, not a whole number"),
    (QLORA | {"lora_rank": {"a": 1}}, "lora_rank is an object, not a whole number"),
    (QLORA | {"sequence_tokens": "9" * 30}, "sequence_tokens is a number of about 3"),
    (QLORA | {"sequence_tokens": "9" * 9_000}, "sequence_tokens is “99999"),
    (QLORA | {"is_packed": "maybe"}, "is_packed is “maybe”: give true or false."),
    (QLORA | {"is_packed": []}, "is_packed is : give true or false."),
    (QLORA | {"quantization": {}}, "quantization is an object, which is not known: choose one of"),
    (
        QLORA | {"lora_targets": 5},
        "lora_targets is 5, which is not known: choose one of all_linear",
    ),
    (QLORA | {"lora_targets": "q,x"}, "lora_targets is “x”, which is not known"),
    (QLORA | {"lora_targets": [["q"]]}, "lora_targets is q, which is not known"),
    (QLORA | {"lora_targets": "q,q"}, "lora_targets is"),
    (QLORA | {"recipe": "C"}, "recipe is “C”, which only has a meaning with method full"),
    (FULL | {"recipe": "K"}, "recipe is “K”, which is not known: choose one of A, B, C"),
    (FULL | {"recipe": 3}, "recipe is 3, which is not known"),
    (FULL | {"recipe": "C", "optimizer": "lion"}, "does not go with recipe “C”: for this recipe"),
    (FULL | {"quantization": "nf4"}, "quantization is “nf4”, which only has a meaning with method"),
    (FULL | {"lora_rank": "8"}, "lora_rank is “8”, which only has a meaning with method lora"),
    (FULL | {"galore_rank": "8"}, "galore_rank is “8”, which only has a meaning with optimizer"),
    (FULL | {"longest_percent": "8"}, "longest_percent is “8”, which only has a meaning with is_"),
    (QLORA | {"optimizer": "muon"}, "optimizer is “muon”, which only has a meaning with method"),
    (FULL | {"parameters_billions": "7"}, "model and parameters_billions are both given"),
    ({"method": "full", "parameters_billions": "7b"}, "parameters_billions is “7b”, not a number"),
    ({"method": "full", "parameters_billions": "nan"}, "parameters_billions is “nan”, not a"),
    ({"method": "full", "parameters_billions": "1e9"}, "parameters_billions is “1e9”, not a"),
    ({"method": "full", "parameters_billions": "90000"}, "but the most is 20000"),
    (SERVED | {"weight_format": "q4"}, "weight_format is “q4”"),
    (SERVED | {"weight_format": 4}, "weight_format is 4, which is not in the table"),
    (SERVED | {"weight_format": "q4-k-m", "engine": "vllm"}, "engine is “vllm”, which does not go"),
    (SERVED | {"context_tokens": "999999"}, "context_tokens is 999999, but it cannot exceed"),
    (SERVED | {"gpus": "65"}, "gpus is 65, but the most is 64"),
]


@pytest.mark.parametrize(("values", "words"), BAD)
def test_bad_input_is_a_sentence_and_never_a_job(values: dict[str, Any], words: str) -> None:
    assert words in str(refusal(values))


class TestWork:
    def test_is_read_beside_the_job(self) -> None:
        assert work_tokens_from(QLORA | {"training_tokens": "5000000"}) == 5_000_000
        assert work_tokens_from(SERVED | {"generated_tokens": 70}) == 70
        assert work_tokens_from(QLORA | {"training_tokens": ""}) is None
        assert training_job_from(QLORA | {"training_tokens": "5"}) == training_job_from(QLORA)

    def test_has_bounds(self) -> None:
        with pytest.raises(InputError, match="training_tokens is 0, but the least is 1"):
            work_tokens_from({"training_tokens": "0"})


class TestTextsOfAJob:
    @pytest.mark.parametrize(
        "values",
        [
            QLORA,
            FULL,
            QLORA | {"lora_rank": "64", "lora_targets": "q,k", "quantization": "nf4"},
            QLORA | {"profile": "unsloth", "loss": "fused", "has_lora_dropout": "false"},
            QLORA | {"is_packed": "false", "longest_percent": "60"},
            QLORA | {"gpus": "4"},
            QLORA | {"gpus": "4", "sharding": "ddp"},
            QLORA | {"gpus": "4", "tensor_parallel": "2", "sharding": "zero2"},
            FULL | {"recipe": "F", "gpus": "8", "sharding": "zero3", "offload": "optimizer"},
            FULL | {"profile": "transformers"},
            FULL | {"profile": "transformers", "optimizer": "lion"},
            FULL | {"optimizer": "galore", "galore_rank": "256"},
            FULL | {"precision": "fp32", "optimizer": "sgd"},
            SERVED,
            SERVED | {"weight_format": "q4-k-m", "concurrency": "4"},
            SERVED | {"engine": "sglang", "gpus": "2", "split": "layers"},
        ],
    )
    def test_give_the_job_again_and_say_no_more_than_was_said(self, values: dict[str, str]) -> None:
        job = job_from(values)

        texts = job_values(job)

        assert job_from(texts) == job
        assert texts == {"task": "training"} | values

    def test_what_is_usual_is_not_repeated(self) -> None:
        texts = job_values(job_from(FULL | {"recipe": "C", "loss": "eager", "gpus": "1"}))

        assert texts == {"task": "training"} | FULL

    def test_leave_a_model_out_that_is_not_in_the_table(self) -> None:
        job = training_job_from({"method": "lora", "parameters_billions": "7"})

        assert job_values(job) == {"task": "training", "method": "lora"}


def test_both_tasks_take_a_model_and_their_own_fields() -> None:
    for task in Task:
        assert set(MODEL_FIELDS) < set(field_names(task))
    assert set(field_names(Task.TRAINING)) & {"recipe", "training_tokens"}
    assert "recipe" not in field_names(Task.SERVING)
    assert task_from({}) is Task.TRAINING


def test_precision_is_that_of_the_framework() -> None:
    assert training_job_from(FULL).precision is Precision.MIXED
    assert training_job_from(FULL | {"profile": "torchtune"}).precision is Precision.BF16
