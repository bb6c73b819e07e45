"""Parameters computed from a model's shape, held against the totals that its table states."""

import pytest

from sizing.csv_tables import table_rows
from sizing.shapes.architecture import LinearAttention
from sizing.shapes.language_models import UnknownModelError, all_language_models, model_by_slug

ROWS = {row["slug"]: row for row in table_rows("models.csv")}


@pytest.mark.parametrize("slug", ROWS)
def test_the_shape_gives_the_stated_number_of_parameters(slug):
    model = all_language_models()[slug]

    assert model.parameters == int(ROWS[slug]["params_total_computed"])
    assert model.active_parameters == int(ROWS[slug]["params_active_computed"])


def test_llama_3_8b_by_hand():
    model = model_by_slug("llama-3-8b")

    # 4096 x (4096 + 2 x 1024) for queries, keys and values, and 4096 x 4096 for the output.
    assert model.attention_parameters == 25_165_824 + 16_777_216
    # Three matrices of 4096 x 14336 and two norms beside the attention, 32 times.
    assert model.block_parameters == 32 * (41_943_040 + 176_160_768 + 8_192)
    assert model.embedding_parameters == 2 * 128_256 * 4_096
    # The embedding is looked up, not read through.
    assert model.read_parameters == 8_030_261_248 - 128_256 * 4_096


def test_a_shared_head_is_read_through():
    model = model_by_slug("llama-3.2-1b")

    assert model.read_parameters == model.parameters == 1_235_814_400


@pytest.mark.parametrize(
    ("slug", "full", "window"),
    [("llama-3-8b", 32, 0), ("gemma-3-27b-it", 10, 52), ("gpt-oss-20b", 12, 12)],
)
def test_some_layers_look_at_a_window_only(slug, full, window):
    model = model_by_slug(slug)

    assert (model.full_layers, model.window_layers) == (full, window)


def test_layers_with_a_state_keep_the_same_whatever_the_length():
    linear = LinearAttention(
        key_heads=16, key_head_dim=128, value_heads=32, value_head_dim=128, conv_kernel=4
    )

    # 32 heads of 128 x 128, and the last three inputs of the convolution over 8,192 channels.
    assert linear.state_elements == 524_288 + 24_576
    # Projections to 2 x 2,048 + 2 x 4,096 + 64, convolution, scales, output.
    assert linear.parameters(hidden=2_048) == 25_296_896 + 32_768 + 192 + 8_388_608


def test_an_unknown_model_is_told_with_similar_ones():
    with pytest.raises(UnknownModelError) as told:
        model_by_slug("llama 3.1 8")

    assert told.value.slug == "llama 3.1 8"
    assert "llama-3.1-8b" in told.value.nearest
