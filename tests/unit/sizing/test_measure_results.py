"""Reading results: what the script wrote is read, all else is refused with what is wrong."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sizing.measure.results import MOST_FILE_BYTES, Outcome, ResultError, result_of
from sizing.measure.rows import Peak, csv_text, rows_of
from sizing.measure.runs import MeasuredRun, Work, job_of
from sizing.measurements import measurements_of
from sizing.shapes.language_models import model_by_slug

JOB = job_of(MeasuredRun(model=model_by_slug("llama-3.1-8b"), work=Work.LORA, sequence_tokens=2048))
WRITING = job_of(
    MeasuredRun(
        model=model_by_slug("llama-3.1-8b"),
        work=Work.INFERENCE,
        sequence_tokens=1024,
        new_tokens=128,
    )
)


def result(**changes: Any) -> dict[str, Any]:
    return {
        "format": "memory-test-result/1",
        "job": JOB,
        "outcome": "measured",
        "peaks": {
            "allocated_bytes": 20_000_000_000,
            "reserved_bytes": 21_000_000_000,
            "device_bytes": 21_500_000_000,
            "others_bytes": 0,
        },
        "speeds": {"step_seconds": 0.8, "trained_parameters": 41_943_040},
        "machine": {
            "python": "3.11.7",
            "packages": {"torch": "2.9.0", "peft": "0.18.0"},
            "gpu": "NVIDIA L40S",
            "memory_bytes": 47_700_000_000,
            "cuda": "12.8",
            "driver": "570.86",
        },
    } | changes


def read(content: Any):
    return result_of(content=json.dumps(content).encode())


class TestReading:
    def test_gives_the_peaks_in_bytes(self):
        whole = read(result())

        assert whole.outcome is Outcome.MEASURED
        assert whole.peak_bytes == 21_500_000_000
        assert whole.gpu == "NVIDIA L40S"
        assert whole.packages["torch"] == "2.9.0"

    def test_takes_what_pytorch_held_where_the_driver_was_not_asked(self):
        whole = read(result(peaks={"allocated_bytes": 5, "reserved_bytes": 7}))

        assert whole.peak_bytes == 7

    def test_tells_of_a_run_that_ran_out_of_memory(self):
        whole = read(result(outcome="out_of_memory", peaks={}, speeds={}))

        assert whole.outcome is Outcome.OUT_OF_MEMORY
        assert whole.peak_bytes is None

    @pytest.mark.parametrize(
        ("changes", "field"),
        [
            ({"outcome": "fine"}, "outcome"),
            ({"outcome": None}, "outcome"),
            ({"job": None}, "job"),
            ({"peaks": []}, "peaks"),
            ({"peaks": {"allocated_bytes": 1.5}}, "allocated_bytes"),
            ({"peaks": {"allocated_bytes": True}}, "allocated_bytes"),
            ({"peaks": {"allocated_bytes": -1}}, "allocated_bytes"),
            ({"peaks": {"allocated_bytes": "20"}}, "allocated_bytes"),
            ({"peaks": {"allocated_bytes": 10**16}}, "allocated_bytes"),
            ({"peaks": {}}, "allocated_bytes"),
            ({"speeds": {"step_seconds": 0}}, "step_seconds"),
            ({"speeds": {"step_seconds": "fast"}}, "step_seconds"),
            ({"speeds": {"step_seconds": 10**400}}, "step_seconds"),
            ({"machine": {"gpu": "L4"}}, "memory_bytes"),
            ({"machine": {"gpu": "x" * 200}}, "gpu"),
            ({"machine": {"gpu": "a\nb"}}, "gpu"),
            ({"machine": {"memory_bytes": 47_700_000_000}}, "gpu"),
            ({"machine": {"memory_bytes": 20_000_000_000, "gpu": "L4"}}, "memory_bytes"),
            ({"machine": {"packages": []}}, "packages"),
            ({"machine": {"packages": {"torch": 2}}}, "torch"),
        ],
    )
    def test_refuses_and_names_what_is_broken(self, changes, field):
        with pytest.raises(ResultError) as refused:
            read(result(**changes))

        assert refused.value.problem == "broken"
        assert refused.value.values["field"] == field

    @pytest.mark.parametrize(
        ("content", "problem"),
        [
            (b" " * (MOST_FILE_BYTES + 1), "too_large"),
            (b"\xff\xfe\x00", "not_text"),
            (b"", "not_json"),
            (b"id,task,model", "not_json"),
            (b"[" * 60_000, "not_json"),
            (b"[]", "other_format"),
            (b"{}", "other_format"),
            (b'{"format": "memory-test-result/2"}', "other_format"),
        ],
    )
    def test_refuses_other_files(self, content, problem):
        with pytest.raises(ResultError) as refused:
            result_of(content=content)

        assert refused.value.problem == problem

    @given(st.binary(max_size=200))
    def test_never_fails_otherwise(self, content):
        with pytest.raises(ResultError):
            result_of(content=content)


class TestRows:
    def test_a_training_row_tells_the_cards_own_peak_and_is_judged(self):
        (row,) = rows_of(read(result()))

        assert row["value"] == "21500000000"
        assert row["unit"] == "B"
        assert row["metric"] == "peak_memory"
        assert (row["method"], row["precision"], row["optimizer"]) == ("LoRA", "bf16", "AdamW")
        assert row["lora_targets"] == "all linear"
        assert "value: device peak; allocated 20000000000 B" in row["note"]
        assert "torch 2.9.0" in row["note"]
        table = measurements_of(content=csv_text([row], has_heading=True).encode())
        assert [each.value for each in table.measurements] == [21_500_000_000]
        assert table.missing_columns == ()

    def test_inference_has_rows_of_memory_and_of_both_speeds(self):
        whole = result(
            job=WRITING,
            speeds={
                "prompt_bytes": 17_000_000_000,
                "prefill_tokens_per_s": 9000.5,
                "decode_tokens_per_s": 41.257,
            },
        )

        memory, prefill, decode = rows_of(read(whole), source="us")

        assert memory["value"] == "20000000000"
        assert "value: allocated peak" in memory["note"]
        assert memory["method"] == "Transformers, 128 generated after the prompt"
        assert (prefill["metric"], prefill["value"]) == ("prefill_speed", "9000.50")
        assert (decode["metric"], decode["value"]) == ("decode_speed", "41.26")
        content = csv_text([memory, prefill, decode], has_heading=True).encode()
        assert len(measurements_of(content=content).measurements) == 3

    def test_another_peak_may_be_chosen(self):
        (row,) = rows_of(read(result()), peak=Peak.RESERVED)

        assert row["value"] == "21000000000"
        assert row["note"].startswith("value: reserved peak")

    def test_a_peak_that_was_not_measured_makes_no_row(self):
        assert rows_of(read(result(peaks={"allocated_bytes": 5, "reserved_bytes": 7}))) == []

    def test_a_run_that_did_not_end_makes_no_row(self):
        assert rows_of(read(result(outcome="out_of_memory"))) == []

    @pytest.mark.parametrize(
        ("work", "method", "precision", "word"),
        [
            (Work.FULL, "full", "bf16", "moments in bf16"),
            (Work.QLORA, "QLoRA", "nf4", "double quantization"),
        ],
    )
    def test_the_note_names_the_recipe(self, work, method, precision, word):
        run = MeasuredRun(model=model_by_slug("llama-3.1-8b"), work=work, sequence_tokens=512)

        (row,) = rows_of(read(result(job=job_of(run))))

        assert (row["method"], row["precision"]) == (method, precision)
        assert word in row["note"]
