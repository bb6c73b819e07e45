"""``python -m sizing accuracy``, run in the process."""

import json
from pathlib import Path

import pytest

from sizing import cli
from sizing.bounds import InputError
from sizing.cli import main
from sizing.commands import accuracy
from sizing.measurements import COLUMNS, MOST_FILE_BYTES

SERVED = {
    "id": "x1",
    "task": "inference",
    "model_slug": "qwen3-8b",
    "method": "Transformers, 2048 generated after the prompt",
    "precision": "BF16",
    "seq_len": "6144",
    "micro_batch": "1",
    "gpu": "H20 96GB",
    "gpus": "1",
    "metric": "peak_memory",
    "value": "17.6",
    "unit": "GB",
    "source": "https://example.org/team/runs",
}


def write(path: Path, *rows: dict[str, str], columns: tuple[str, ...] = COLUMNS) -> str:
    lines = [",".join(columns)]
    lines += [",".join(f'"{row.get(column, "")}"' for column in columns) for row in rows]
    path.write_text("\n".join(lines), encoding="utf-8")
    return str(path)


@pytest.fixture
def runs(tmp_path: Path) -> str:
    return write(
        tmp_path / "runs.csv",
        SERVED,
        SERVED | {"id": "x2", "model_slug": "nobody-7b"},
        SERVED | {"id": "x3", "task": "rendering"},
        SERVED | {"id": "x4", "value": "much"},
        SERVED | {"id": "x5", "method": "an engine of ours"},
    )


def test_judges_a_file_and_counts_what_it_cannot_judge_as_json(
    runs: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status = main(["accuracy", "--data", runs, "--json"])

    answer = json.loads(capsys.readouterr().out)
    assert status == 0
    assert (answer["data"], answer["rows"], answer["judged"]) == ("runs.csv", 5, 1)
    assert answer["own_table"] == {"rows": 399, "read_on": "2026-11-30"}
    assert set(answer["constants_fitted_on"]) == {"training", "serving"}
    assert [(each["reason"], each["rows"]) for each in answer["not_judged"]] == [
        ("other_task", 1),
        ("broken_number", 1),
        ("unknown_model", 1),
        ("not_estimated", 1),
    ]
    whole, _method, source = answer["groups"]
    assert (whole["kind"], whole["rows"]) == ("inference_16_bits", 1)
    assert source["source_name"] == "team/runs"
    # Nobody fitted a source that is not in our table, so there is nothing to leave out.
    assert whole["in_sample"] == whole["left_out"]


def test_prints_the_same_as_a_table(runs: str, capsys: pytest.CaptureFixture[str]) -> None:
    status = main(["accuracy", "--data", runs])

    text = capsys.readouterr().out
    assert status == 0
    assert text.startswith("Rows of runs.csv: 5, of which 1 judged.\n")
    assert "inference memory, 16 bits (target" in text
    assert "    team/runs" in text
    assert "Rows not judged: 4." in text
    assert "    1  the model is not in the table of models: nobody-7b" in text


def test_training_on_one_card_is_set_beside_published_rules(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trained = SERVED | {"task": "fine-tuning", "method": "LoRA", "value": "23.8", "seq_len": "2048"}

    main(["accuracy", "--data", write(tmp_path / "trained.csv", trained)])

    text = capsys.readouterr().out
    assert "fine-tuning memory, one card (target" in text
    assert "LLaMA-Factory table of hardware " in text
    assert "accelerate" not in text
    assert "Verdicts with a margin of 10 % on one card of 24, 32, 48, 80, 96 and 141 GB." in text


def test_a_first_line_alone_is_a_report_on_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status = main(["accuracy", "--data", write(tmp_path / "none.csv")])

    text = capsys.readouterr().out
    assert (status, text.count("\n")) == (0, 3)
    assert text.startswith("Rows of none.csv: 0, of which 0 judged.")


def test_names_columns_that_a_file_lacks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    columns = tuple(column for column in COLUMNS if column not in {"sharding", "note"})

    main(["accuracy", "--data", write(tmp_path / "few.csv", SERVED, columns=columns)])

    assert "Columns that the file lacks: sharding, note." in capsys.readouterr().out


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "the file is empty"),
        (b"\x89PNG\r\n\x1a\n\xff", "the file is not UTF-8 text"),
        (b"a,b\n1,2\n", "the first line lacks task, metric, value, unit"),
        (b"a" * (MOST_FILE_BYTES + 1), "are read; split it"),
    ],
)
def test_refuses_a_file_that_is_no_such_table(
    content: bytes, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bad.csv"
    path.write_bytes(content)

    status = main(["accuracy", "--data", str(path)])

    output = capsys.readouterr()
    assert (status, output.out) == (2, "")
    assert output.err.startswith("error: --data: ")
    assert words in output.err


@pytest.mark.parametrize("name", ["nowhere.csv", ".", "a\0b"])
def test_refuses_what_is_no_file(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status = main(["accuracy", "--data", f"{tmp_path}/{name}"])

    output = capsys.readouterr()
    assert (status, output.out) == (2, "")
    assert "cannot be read" in output.err or "is no name of a file" in output.err


def test_help_shows_examples(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["accuracy", "--help"])

    assert caught.value.code == 0
    assert "python -m sizing accuracy --data my-runs.csv" in capsys.readouterr().out


def test_bad_input_of_any_command_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(_options: object) -> int:
        raise InputError(field="gpus", problem="missing")

    monkeypatch.setattr(accuracy, "run", refuse)

    status = cli.main(["accuracy"])

    assert (status, capsys.readouterr().err) == (
        2,
        "error: gpus is missing: give it a value.\n",
    )
