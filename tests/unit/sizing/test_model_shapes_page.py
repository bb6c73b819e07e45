"""The worked example of the page on shapes, computed."""

from pathlib import Path

from sizing.shapes.language_models import model_by_slug
from tests.unit.sizing.published_configs import PUBLISHED

PAGE = Path("docs/algorithms/model-shapes.md").read_text(encoding="utf-8")


def test_the_worked_example_is_what_the_engine_computes():
    model = model_by_slug("llama-3-8b")
    mlps = 32 * 3 * 4_096 * 14_336

    stated = {
        "attention, all layers": model.layers * model.attention_parameters,
        "MLPs, all layers": mlps,
        "norms": model.parameters
        - model.layers * model.attention_parameters
        - mlps
        - model.embedding_parameters,
        "embedding and head": model.embedding_parameters,
        "together": model.parameters,
    }

    for part, parameters in stated.items():
        line = [each for each in PAGE.splitlines() if each.startswith(f"| {part} |")][-1]
        assert line.endswith(f"| {parameters:,} |")


def test_the_page_states_how_many_published_configurations_agree():
    families = {
        config.get("text_config", config)["model_type"] for config, _, _ in PUBLISHED.values()
    }
    beyond = [name for name, (_, _, permille) in PUBLISHED.items() if permille > 1]

    assert f"Against {len(PUBLISHED)} published configurations of {len(families)} families" in PAGE
    assert beyond == ["Kimi K2", "Qwen3-Next 80B-A3B", "Llama 4 Maverick (text)"]
