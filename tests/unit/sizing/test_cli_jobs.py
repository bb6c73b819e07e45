"""``python -m sizing estimate``, ``fit`` and ``rank``, run in the process."""

import json
from pathlib import Path
from typing import Any

import pytest

from sizing.cards import all_cards
from sizing.cli import main
from sizing.plain import answers
from sizing.plain.answers import money_text
from sizing.plain.jobs import job_from
from sizing.serving.peaks import UnknownPeakError
from sizing.shapes.config_json import MOST_CONFIG_BYTES
from tests.unit.sizing.published_configs import LLAMA

QLORA = ["--model", "llama-3.1-8b", "--method", "qlora"]
FULL = ["--model", "llama-3.1-8b", "--method", "full"]
SERVED = ["--task", "serving", "--model", "llama-3.1-8b"]


@pytest.fixture
def ask(capsys: pytest.CaptureFixture[str]) -> Any:
    """Return a caller of a command that must succeed: its text, or its object with ``--json``."""

    def run(*arguments: str) -> Any:
        status = main(list(arguments))
        output = capsys.readouterr()
        assert (status, output.err) == (0, "")
        return json.loads(output.out) if "--json" in arguments else output.out

    return run


class TestEstimate:
    def test_terms_sum_to_the_peak_and_formulas_to_the_terms(self, ask: Any) -> None:
        answer = ask("estimate", *QLORA, "--json")

        assert sum(term["size_bytes"] for term in answer["terms"]) == answer["peak_bytes"]
        for term in answer["terms"]:
            formulas = [each for each in answer["formulas"] if each["part"] == term["part"]]
            summed = sum(each["size_bytes"] for each in formulas)
            assert summed == pytest.approx(term["size_bytes"], abs=5)
        assert answer["low_bytes"] < answer["peak_bytes"] < answer["high_bytes"]

    @pytest.mark.parametrize(
        "options", [[*QLORA, "--lora-rank", "64"], [*SERVED, "--kv-format", "fp8"]]
    )
    def test_the_job_of_an_answer_gives_it_again(self, ask: Any, options: list[str]) -> None:
        answer = ask("estimate", *options, "--json")

        again = [part for name, text in answer["job"].items() for part in (flag(name), text)]
        assert ask("estimate", *again, "--json") == answer

    def test_the_text_shows_every_formula_with_its_figures(self, ask: Any) -> None:
        text = ask("estimate", *QLORA)

        assert text.startswith("Llama 3.1 8B: training, method qlora\nPeak of one card: ")
        assert "4 bytes × 41.9 M parameters of adapters" in text
        assert "Left out: data loading, evaluation, checkpoint writing." in text

    def test_serving_shows_its_formulas_too(self, ask: Any) -> None:
        text = ask("estimate", *SERVED)

        assert "parameters × bits / 8 / cards (parameters 8.03 B, format BF16" in text

    def test_shared_terms_say_by_how_much(self, ask: Any) -> None:
        text = ask("estimate", *FULL, "--gpus", "8")

        assert "0.125 of it on this card" in text

    def test_offloaded_states_are_told_for_the_server(self, ask: Any) -> None:
        text = ask("estimate", *FULL, "--gpus", "8", "--offload", "optimizer")

        assert "Memory of the server: " in text

    def test_a_configuration_is_read_from_its_file(self, ask: Any, tmp_path: Path) -> None:
        path = tmp_path / "config.json"
        path.write_text(json.dumps(LLAMA), encoding="utf-8")

        answer = ask("estimate", "--config", str(path), "--method", "lora", "--json")

        assert (answer["model"]["slug"], answer["model"]["parameters"]) == (None, 6_738_415_616)
        assert "model" not in answer["job"]

    def test_what_is_taken_for_granted_is_told(self, ask: Any) -> None:
        text = ask("estimate", "--parameters-billions", "7", "--method", "lora")

        assert "Taken for granted: Only the size is given" in text


class TestFit:
    def test_without_a_card_every_card_has_its_verdict(self, ask: Any) -> None:
        answer = ask("fit", *QLORA, "--json")

        assert len(answer["cards"]) == len(all_cards())
        by_slug = {row["card"]: row for row in answer["cards"]}
        assert by_slug["rtx-4090"]["verdict"] == "comfortable"
        assert "backwards" not in by_slug["rtx-4090"]

    def test_a_named_card_is_answered_in_full(self, ask: Any) -> None:
        (row,) = ask("fit", *FULL, "--card", "h100-sxm", "--json")["cards"]

        assert row["verdict"] == "no"
        assert row["missing_bytes"] > 0
        assert row["change"]["verdict"] != "no"
        assert job_from(row["change"]["job"]).model.slug == "llama-3.1-8b"
        assert row["speed"]["training_tokens_per_hour"]["low"] > 0
        assert row["backwards"]["most_requests"] is None

    def test_the_text_tells_the_change_and_what_the_card_holds(self, ask: Any) -> None:
        text = ask("fit", *FULL, "--card", "rtx-4090")

        assert "smallest change that fits: method from full to qlora" in text
        assert "largest model of a typical shape: " in text
        assert text.endswith("A fit keeps a margin of 10 % above the estimate.\n")

    def test_says_when_no_single_change_helps(self, ask: Any) -> None:
        text = ask("fit", "--model", "deepseek-v3", "--method", "full", "--card", "t4")

        assert "no single change makes it fit" in text

    def test_serving_tells_speeds_and_requests(self, ask: Any) -> None:
        text = ask("fit", *SERVED, "--card", "l40s")

        assert "tokens per second of each request: " in text
        assert "most requests at once: " in text

    def test_a_speed_that_nobody_knows_is_not_made_up(
        self, ask: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def unknown(*_arguments: object, **_options: object) -> None:
            raise UnknownPeakError("l40s")

        monkeypatch.setattr(answers, "training_tokens_per_hour", unknown)
        monkeypatch.setattr(answers, "prefill_speed", unknown)

        trained = ask("fit", *QLORA, "--card", "l40s", "--json")["cards"][0]["speed"]
        served = ask("fit", *SERVED, "--card", "l40s", "--json")["cards"][0]["speed"]

        assert trained == {"training_tokens_per_hour": None}
        assert served["prompt_tokens_per_s"] is None
        assert "training tokens per hour: not known" in ask("fit", *QLORA, "--card", "l40s")


class TestRank:
    def test_what_fits_and_costs_least_comes_first(self, ask: Any) -> None:
        prices = ["--price", "rtx-4090=0.33", "--price", "l40s=0.79"]

        answer = ask("rank", *QLORA, *prices, "--training-tokens", "50000000", "--json")

        assert len(answer["rows"]) == 4 * len(all_cards())
        first = answer["rows"][0]
        assert (first["card"], first["gpus"]) == ("rtx-4090", 1)
        assert "cheapest" in first["reasons"]
        assert (first["price_per_gpu_hour"], first["price_per_hour"]) == ("0.33", "0.33")
        low, middle, high = (float(first["total"][end]) for end in ("low", "middle", "high"))
        assert low < middle < high
        assert middle == pytest.approx(first["hours"]["middle"] * 0.33, rel=1e-2)

    def test_without_a_price_there_is_no_offer(self, ask: Any) -> None:
        answer = ask("rank", *QLORA, "--card", "rtx-4090", "--gpus", "1,8", "--json")

        rows = answer["rows"]
        assert [row["gpus"] for row in rows] == [1, 8]
        assert {row["price_per_hour"] for row in rows} == {None}
        assert all("no_offer" in row["reasons"] for row in rows)

    def test_a_price_of_several_cards_counts_them_all(self, ask: Any) -> None:
        answer = ask("rank", *QLORA, "--price", "h100-sxmx8=2.5", "--top", "1", "--json")

        (row,) = answer["rows"]
        assert (row["gpus"], row["price_per_gpu_hour"], row["price_per_hour"]) == (
            8,
            "2.50",
            "20.00",
        )

    def test_the_text_shows_the_first_rows_and_how_many_more(self, ask: Any) -> None:
        text = ask("rank", *QLORA, "--price", "rtx-4090=0.33", "--top", "3")

        assert text.count("rtx-4090") == 3
        assert text.endswith("And 209 more; --top 212 shows all.\n")
        assert "more" not in ask("rank", *QLORA, "--card", "l4", "--price", "l4=0.3")

    def test_prices_come_from_a_table_and_single_ones_overrule_it(
        self, ask: Any, tmp_path: Path
    ) -> None:
        path = tmp_path / "prices.csv"
        path.write_text("slug,gpus,price\nrtx-4090,1,0.40\nl4,1,0.20\n", encoding="utf-8")
        options = ["--prices", str(path), "--price", "rtx-4090x1=0.10", "--json"]

        rows = ask("rank", *QLORA, "--gpus", "1", *options)["rows"]

        found = {row["card"]: row["price_per_hour"] for row in rows if row["price_per_hour"]}
        assert found == {"rtx-4090": "0.10", "l4": "0.20"}

    def test_serving_ranks_by_the_tokens_to_generate(self, ask: Any) -> None:
        options = ["--generated-tokens", "1000000", "--price", "l40s=0.79"]

        text = ask("rank", *SERVED, *options, "--top", "2")

        assert "l40s" in text.splitlines()[2]


def flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["estimate"], "model is missing: give one of model, config, parameters_billions."),
        (["estimate", "--model", "llama-3.1-8b"], "method is missing: give one of full, lora,"),
        (["estimate", "--model", "lama-8b", "--method", "lora"], "did you mean llama-3-8b"),
        (["estimate", *QLORA, "--gpus", "0"], "gpus is 0, but the least is 1"),
        (["estimate", *QLORA, "--lora-rank", "9000"], "lora_rank is 9000, but it cannot exceed"),
        (["estimate", *FULL, "--quantization", "nf4"], "only has a meaning with method qlora"),
        (["fit", *QLORA, "--card", "rtx4090"], "did you mean rtx-4090"),
        (["fit", *QLORA, "--gpus", "two"], "gpus is “two”, not a whole number"),
        (["rank", *QLORA, "--gpus", "3"], "gpus is “3”, which is not known: choose one of 1, 2"),
        (["rank", *QLORA, "--price", "rtx-4090"], "write it as rtx-4090=0.33"),
        (["rank", *QLORA, "--prices", "/nowhere.csv"], "prices is “/nowhere.csv”, which cannot"),
        (["rank", *QLORA, "--top", "0"], "top is 0, but the least is 1"),
        (["rank", *QLORA, "--training-tokens", "-1"], "training_tokens is -1, but the least is 1"),
        (
            ["estimate", *QLORA, "--lora-rnk", "8"],
            "--lora-rnk is not known here: did you mean --lora-r",
        ),
        (
            ["estimate", *QLORA, "--lora-rnk=8"],
            "--lora-rnk=8 is not known here: did you mean --lora",
        ),
        (["rank", *QLORA, "zzz"], "zzz is not known here: see python -m sizing rank --help."),
        (["estimate", "--config", "a\0b", "--method", "lora"], "config is “a?b”, which cannot be"),
    ],
)
@pytest.mark.parametrize("json_too", [[], ["--json"]])
def test_bad_input_is_one_sentence_and_no_answer(
    arguments: list[str], words: str, json_too: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    status = main([*arguments, *json_too])

    output = capsys.readouterr()
    assert (status, output.out) == (2, "")
    assert words in output.err
    assert output.err.count("\n") == 1


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"\xff\xfe\x00", "config.json is not text in UTF-8"),
        (b"not a configuration", "config.json is not JSON, first at line 1, column 1"),
        (b"x" * (MOST_CONFIG_BYTES + 5), "config.json is larger than 1000 kB"),
        (json.dumps(LLAMA | {"hidden_size": "4096"}).encode(), "is the text “4096”"),
        (b"[]", "config.json is a JSON list, not an object"),
    ],
)
def test_a_file_that_is_no_configuration_is_refused(
    content: bytes, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "config.json"
    path.write_bytes(content)

    status = main(["estimate", "--config", str(path), "--method", "lora"])

    output = capsys.readouterr()
    assert (status, output.out) == (2, "")
    assert words in output.err


@pytest.mark.parametrize("command", ["estimate", "fit", "rank"])
def test_help_shows_examples_that_work(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main([command, "--help"])

    text = capsys.readouterr().out
    assert caught.value.code == 0
    assert text.startswith(f"usage: python -m sizing {command} [options]")
    examples = [line.split()[3:] for line in text.splitlines() if line.startswith("  python -m")]
    assert len(examples) >= 3
    for example in examples:
        if "config.json" not in example and "my.csv" not in example:
            assert main(example) == 0


@pytest.mark.parametrize(
    ("micro", "text"),
    [(None, None), (330_000, "0.33"), (324_000, "0.324"), (1_999_999, "2.00"), (500, "0.001")],
)
def test_money_has_two_decimals_or_three(micro: int | None, text: str | None) -> None:
    assert money_text(micro) == text
