"""``measure`` without a card: the plan, the script, the refusals; and rows of stand-in results.

No card was at hand: what PyTorch itself would say is not tested here.
"""

import csv
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sizing.cli import main
from sizing.commands import measure
from sizing.measure import on_card, runner
from sizing.measure.on_card import asked_devices, device_states, peaks_of, state_of
from sizing.measure.results import Outcome, Result
from sizing.measure.runner import RunFailedError, measured, missing_for
from sizing.measure.runs import MeasuredRun, Work, job_of

TOLD = "GPU-1f2e, NVIDIA L40S, 512, 46068, 570.86\nGPU-9, NVIDIA L4, [N/A], 23034, 570.86\n"


def stand_in(run: MeasuredRun, **changes) -> Result:
    """Return what the script would have written for a run."""
    size = 10**9 * run.model.layers
    return replace(
        Result(
            job=job_of(run),
            outcome=Outcome.MEASURED,
            allocated_bytes=size - 10**8,
            reserved_bytes=size,
            device_bytes=size + 6 * 10**8,
            others_bytes=0,
            prompt_bytes=None,
            prefill_tokens_per_s=None,
            decode_tokens_per_s=None,
            step_seconds=0.5,
            gpu="NVIDIA L40S",
            memory_bytes=48 * 10**9,
            driver="570.86",
            packages={},
        ),
        **changes,
    )


@pytest.fixture
def machine_with_a_card(monkeypatch):
    monkeypatch.setattr(measure, "missing_for", lambda work: "")
    monkeypatch.setattr(measure, "measured", stand_in)


class TestWithoutACard:
    def test_says_so_in_one_line(self, capsys):
        status = main(["measure", "--work", "full"])

        told = capsys.readouterr()
        assert status == 3
        assert told.out == ""
        assert told.err.count("\n") == 1
        assert "nothing was measured" in told.err

    def test_names_what_to_install(self, monkeypatch):
        monkeypatch.setattr(runner, "find_spec", lambda name: None)

        assert "pip install 'gpubourse[measure]'" in missing_for(Work.QLORA)
        assert "bitsandbytes" in missing_for(Work.QLORA)
        assert "bitsandbytes" not in missing_for(Work.LORA)

    def test_names_the_card_where_only_that_is_missing(self, monkeypatch):
        monkeypatch.setattr(runner, "find_spec", lambda name: name)
        monkeypatch.setattr(runner, "asked_devices", list)

        assert missing_for(Work.FULL).startswith("no NVIDIA card found")
        monkeypatch.setattr(runner, "asked_devices", lambda: device_states(TOLD))
        assert missing_for(Work.FULL) == ""

    def test_the_script_ends_with_what_is_missing(self, tmp_path, monkeypatch, capsys):
        monkeypatch.setattr(on_card, "packages", dict)
        job = tmp_path / "job.json"
        job.write_text(json.dumps(job_of(run())), encoding="utf-8")

        status = on_card.main(["--job", str(job), "--out", str(tmp_path / "out.json")])

        assert status == 3
        assert "pip install torch transformers peft" in capsys.readouterr().err
        assert not (tmp_path / "out.json").exists()

    @pytest.mark.parametrize("content", [None, "", "[", "{}", '{"format": "memory-test-job/2"}'])
    def test_the_script_refuses_what_is_no_job(self, tmp_path, capsys, content):
        job = tmp_path / "job.json"
        if content is not None:
            job.write_text(content, encoding="utf-8")

        status = on_card.main(["--job", str(job)])

        assert status == 2
        assert "the job cannot be read" in capsys.readouterr().err

    def test_a_run_that_fails_tells_what_it_said(self, monkeypatch):
        # Another Python could find PyTorch; the real one of this process has none.
        monkeypatch.setattr(runner.sys, "executable", "/bin/false")

        with pytest.raises(RunFailedError, match="exit status 1"):
            measured(run())


class TestPlan:
    def test_prints_what_is_expected_and_runs_nothing(self, capsys):
        status = main(["measure", "--dry-run", "--json"])

        runs = json.loads(capsys.readouterr().out)["runs"]
        assert status == 0
        assert len(runs) == 4 * 2 * 3
        assert {each["job"]["work"] for each in runs} == {work.value for work in Work}
        assert all(each["outcome"] is None for each in runs)
        for each in runs:
            assert sum(each["expected"]["terms"].values()) == each["expected"]["peak_bytes"]

    def test_is_a_table_for_people(self, capsys):
        main(["measure", "--dry-run", "--work", "qlora", "--tokens", "4096"])

        lines = capsys.readouterr().out.splitlines()
        assert len(lines) == 4
        assert lines[1].startswith("Llama 3.1 8B, 2 of 32 layers: qlora, 1 x 4096 tokens")

    def test_gives_the_script_of_the_whole_model(self, capsys):
        main(["measure", "--print-script", "--model", "qwen3-8b", "--work", "lora"])

        text = capsys.readouterr().out
        assert '"slug": "qwen3-8b"' in text
        compile(text, "memory_test.py", "exec")

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            (["--model", "llama-3.1-9b"], "llama-3.1-8b"),
            (["--model", "qwen3-30b-a3b"], "dense decoders"),
            (["--tokens", "0"], "sequence_tokens is 0"),
            (["--work", "lora", "--lora-rank", "9999"], "at most 4096"),
        ],
    )
    def test_refuses_bad_input_with_a_sentence(self, capsys, options, words):
        status = main(["measure", "--dry-run", *options])

        told = capsys.readouterr()
        assert status == 2
        assert told.out == ""
        assert words in told.err


@pytest.mark.usefixtures("machine_with_a_card")
class TestWithResults:
    OPTIONS = ("measure", "--work", "lora", "--tokens", "512")

    def test_shows_each_error_and_writes_rows(self, tmp_path, capsys):
        out = tmp_path / "rows.csv"

        status = main([*self.OPTIONS, "--out", str(out), "--source", "us"])
        main([*self.OPTIONS, "--out", str(out), "--peak", "reserved"])

        rows = list(csv.DictReader(out.read_text(encoding="utf-8").splitlines()))
        assert status == 0
        assert [row["value"] for row in rows[:3]] == ["2600000000", "4600000000", "32600000000"]
        assert rows[3]["value"] == "2000000000"
        assert [row["model_slug"] for row in rows[:3]] == ["", "", "llama-3.1-8b"]
        assert rows[0]["source"] == "us"
        assert "32.60" in capsys.readouterr().out

    def test_tells_what_ran_out_of_memory_and_what_failed(self, monkeypatch, capsys):
        def outcome(run: MeasuredRun) -> Result:
            if run.model.slug:
                return stand_in(run, outcome=Outcome.OUT_OF_MEMORY)
            raise RunFailedError("the driver is too old")

        monkeypatch.setattr(measure, "measured", outcome)

        main(list(self.OPTIONS))
        main([*self.OPTIONS, "--json"])

        text = capsys.readouterr().out
        assert "failed: the driver is too old" in text
        assert "out_of_memory" in text
        assert '"outcome": "failed"' in text

    def test_leaves_out_works_whose_packages_are_missing(self, monkeypatch, capsys):
        monkeypatch.setattr(
            measure, "missing_for", lambda work: "get more" if work is Work.QLORA else ""
        )

        status = main([*self.OPTIONS, "--work", "qlora"])

        told = capsys.readouterr()
        assert status == 0
        assert told.err == "qlora: get more\n"
        assert len(told.out.splitlines()) == 4


class Properties:
    uuid = "1f2e"
    total_memory = 48 * 10**9


class Memory:
    """The figures of PyTorch's allocator, as one card would give them."""

    def get_device_properties(self, index: int) -> Properties:
        return Properties()

    def max_memory_allocated(self) -> int:
        return 5

    def max_memory_reserved(self) -> int:
        return 7


class Torch:
    cuda = Memory()


class TestDevices:
    def test_lines_of_another_shape_are_skipped(self):
        (state,) = device_states(TOLD + "No devices were found\n")

        assert (state.uuid, state.name, state.driver) == ("1f2e", "NVIDIA L40S", "570.86")
        assert (state.used_bytes, state.total_bytes) == (512 * 2**20, 46_068 * 2**20)

    def test_the_card_in_use_is_found_by_its_number(self):
        devices = device_states("GPU-a, X, 1, 9, 5\nGPU-b, Y, 2, 9, 5\n")

        first, second = devices
        assert state_of(devices, uuid="b") == second
        assert state_of(devices, uuid="GPU-a") == first
        assert state_of(devices, uuid="") is None
        assert state_of(devices[:1], uuid="") == first

    def test_a_machine_without_the_program_has_none(self, monkeypatch):
        monkeypatch.setattr(on_card.shutil, "which", lambda name: None)
        assert asked_devices() == []
        monkeypatch.setattr(on_card.shutil, "which", lambda name: "/bin/false")
        assert asked_devices() == []
        monkeypatch.setattr(on_card.shutil, "which", lambda name: "/bin/echo")
        assert asked_devices() == []

    def test_the_cards_own_peak_is_what_the_run_added(self):
        before = device_states("GPU-1f2e, X, 100, 900, 5\n")
        after = device_states("GPU-1f2e, X, 400, 900, 5\n")

        assert peaks_of(Torch(), before=before, after=after) == {
            "allocated_bytes": 5,
            "reserved_bytes": 7,
            "device_bytes": 300 * 2**20,
            "others_bytes": 100 * 2**20,
        }
        assert peaks_of(Torch(), before=[], after=after)["device_bytes"] is None


def run(**changes) -> MeasuredRun:
    from sizing.shapes.language_models import model_by_slug

    values: dict[str, Any] = {
        "model": model_by_slug("llama-3.1-8b"),
        "work": Work.LORA,
        "sequence_tokens": 512,
    }
    return MeasuredRun(**values | changes)


def test_the_package_is_imported_without_pytorch():
    import subprocess
    import sys

    code = (
        "import sys, sizing.commands.measure; "
        "print(any(n.split('.')[0] in ('torch', 'django') for n in sys.modules))"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert told.stdout.strip() == "False"
    assert Path(on_card.__file__).name == "on_card.py"
