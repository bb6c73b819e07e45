"""The command line, run in the process."""

import json

import pytest

from sizing.cli import main


def test_prints_the_rule_and_every_card_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    status = main(["capacity", "--json"])

    answer = json.loads(capsys.readouterr().out)
    assert status == 0
    assert answer["rule"]["bytes_per_parameter"] == {"qlora": 1.0, "lora16": 2.5, "full": 16.0}
    assert len(answer["cards"]) == 53


def test_prints_only_the_cards_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    main(["capacity", "--card", "l40s", "--card", "rtx-4090", "--json"])

    assert json.loads(capsys.readouterr().out)["cards"] == [
        {"slug": "l40s", "memory_gb": 48, "qlora_b": 35, "lora16_b": 15, "full_b": 2},
        {"slug": "rtx-4090", "memory_gb": 24, "qlora_b": 15, "lora16_b": 7, "full_b": 1},
    ]


def test_prints_a_table_with_the_rule_beneath(capsys: pytest.CaptureFixture[str]) -> None:
    main(["capacity", "--card", "h100-sxm"])

    header, row, rule = capsys.readouterr().out.splitlines()
    assert header.split() == ["card", "memory", "GB", "QLoRA", "B", "LoRA16", "B", "full", "B"]
    assert row.split() == ["h100-sxm", "80", "60", "25", "4"]
    assert rule.startswith("80 % of memory")


def test_refuses_an_unknown_card_and_prints_no_table(capsys: pytest.CaptureFixture[str]) -> None:
    status = main(["capacity", "--card", "rtx4090"])

    output = capsys.readouterr()
    assert (status, output.out) == (2, "")
    assert "no card named 'rtx4090'. Nearest: rtx-4090" in output.err


def test_help_shows_examples(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["capacity", "--help"])

    assert caught.value.code == 0
    assert "python -m sizing capacity --card rtx-4090" in capsys.readouterr().out
