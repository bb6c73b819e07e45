"""The page on training memory tells what the engine computes."""

import re
from pathlib import Path

from sizing.shapes.language_models import model_by_slug
from sizing.training.choices import RECIPES, Method
from sizing.training.job import TrainingJob
from sizing.training.memory import estimate_training
from sizing.training.states import recipe_bytes

PAGE = Path(__file__).parents[3] / "docs" / "algorithms" / "training-memory.md"


def _rows(section: str) -> list[list[str]]:
    text = PAGE.read_text(encoding="utf-8").split(f"## {section}\n")[1].split("\n## ")[0]
    return [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in text.splitlines()
        if line.startswith("|") and "---" not in line
    ]


def test_the_worked_example_is_what_the_engine_says():
    estimate = estimate_training(
        TrainingJob(
            model=model_by_slug("llama-3-8b"),
            method=Method.QLORA,
            lora_rank=16,
            sequence_tokens=4096,
            micro_batch=2,
        )
    )

    told = {row[0]: int(row[2].replace(",", "")) for row in _rows("Worked example")[1:]}

    assert told == {
        **{term.part.value: term.size_bytes for term in estimate.terms},
        "peak": estimate.peak_bytes,
    }


def test_recipes_are_told_with_their_bytes():
    told = {row[0][0]: row for row in _rows("Weights, gradients, states")[1:]}

    assert list(told) == list(RECIPES)
    for letter, row in told.items():
        addends = [int(number) for number in re.findall(r"\d+", row[1])]
        assert sum(addends) == int(row[2]) == recipe_bytes(RECIPES[letter])
