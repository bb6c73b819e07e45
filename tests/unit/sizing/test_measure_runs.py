"""What is measured: runs, their job files, the plan, the script that carries a job."""

import ast
import json
from dataclasses import replace
from typing import Any

import pytest

from sizing.bounds import InputError
from sizing.measure.runs import (
    MeasuredRun,
    Targets,
    Work,
    check_run,
    is_measurable,
    job_of,
    plan_of,
    run_of,
)
from sizing.measure.script import script_text
from sizing.shapes.language_models import all_language_models, model_by_slug

LLAMA = model_by_slug("llama-3.1-8b")


def run(**changes) -> MeasuredRun:
    values: dict[str, Any] = {"model": LLAMA, "work": Work.LORA, "sequence_tokens": 2048}
    return MeasuredRun(**values | changes)


class TestJobFile:
    @pytest.mark.parametrize("work", list(Work))
    def test_gives_back_the_run_it_was_made_of(self, work):
        job = json.loads(json.dumps(job_of(run(work=work, new_tokens=64), test="7")))

        again = run_of(job)

        assert job_of(again, test="7") == job
        assert again.model.parameters == LLAMA.parameters

    def test_names_the_matrices_that_get_an_adapter(self):
        assert job_of(run(targets=Targets.QUERY_VALUE))["lora_targets"] == ["q_proj", "v_proj"]

    def test_leaves_out_what_other_works_have(self):
        job = job_of(run(work=Work.INFERENCE, new_tokens=64))

        assert job["lora_rank"] == 0
        assert job["lora_targets"] == []
        assert job["has_checkpointing"] is False
        assert job["new_tokens"] == 64


class TestCheckRun:
    @pytest.mark.parametrize(
        ("changes", "field"),
        [
            ({"sequence_tokens": 0}, "sequence_tokens"),
            ({"micro_batch": 0}, "micro_batch"),
            ({"lora_rank": 5000}, "lora_rank"),
            ({"lora_rank": 0}, "lora_rank"),
            ({"work": Work.INFERENCE, "new_tokens": 5000}, "output_tokens"),
            ({"sequence_tokens": 131_073}, "sequence_tokens"),
            ({"model": model_by_slug("qwen3-30b-a3b")}, "model"),
        ],
    )
    def test_refuses_and_names_the_field(self, changes, field):
        with pytest.raises(InputError) as refused:
            check_run(run(**changes))

        assert refused.value.field == field

    def test_accepts_any_length_where_the_models_own_was_not_read(self):
        check_run(run(model=replace(LLAMA, max_context=0), sequence_tokens=1_000_000))

    def test_builds_more_than_half_of_the_table_of_models(self):
        models = all_language_models().values()

        assert sum(is_measurable(model) for model in models) > len(models) // 2


class TestPlan:
    def test_has_two_shallow_depths_and_the_full_one(self):
        plan = plan_of(model=LLAMA, works=[Work.FULL], sequence_tokens=[512], new_tokens=64)

        assert [each.model.layers for each in plan] == [2, 4, 32]
        assert [each.model.slug for each in plan] == ["", "", "llama-3.1-8b"]
        assert plan[0].model.name == "Llama 3.1 8B, 2 of 32 layers"

    def test_writes_text_in_inference_only(self):
        plan = plan_of(model=LLAMA, works=list(Work), sequence_tokens=[512], new_tokens=64)

        assert {each.work for each in plan if each.new_tokens} == {Work.INFERENCE}


class TestScript:
    def test_carries_the_job_as_a_plain_literal(self):
        job = job_of(run(), test="it's \"quoted\" \\ ''' end")

        tree = ast.parse(script_text(job))

        (value,) = [
            node.value.value
            for node in tree.body
            if isinstance(node, ast.Assign) and node.targets[0].id == "EMBEDDED_JOB"
        ]
        assert json.loads(value) == job

    def test_imports_the_standard_library_only_before_it_runs(self):
        names = {
            alias.name if isinstance(node, ast.Import) else node.module
            for node in ast.walk(ast.parse(script_text()))
            if isinstance(node, ast.Import | ast.ImportFrom)
            for alias in node.names
        }

        assert not names & {"torch", "transformers", "peft", "bitsandbytes", "sizing"}
