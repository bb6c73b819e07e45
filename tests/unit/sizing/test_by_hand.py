"""Models that somebody describes: by their dimensions, or by their size alone."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sizing.bounds import InputError
from sizing.shapes.by_hand import Dimensions, model_by_hand, model_of_size
from sizing.shapes.language_models import model_by_slug

LLAMA = Dimensions(
    layers=32, hidden=4096, intermediate=14336, heads=32, kv_heads=8, vocabulary=128_256
)
MIXTURE = replace(LLAMA, experts=8, experts_per_token=2, expert_intermediate=14336)


def test_the_dimensions_of_llama_3_give_its_parameters():
    model = model_by_hand(LLAMA, name="mine")

    assert (model.name, model.slug) == ("mine", "")
    assert model.parameters == model_by_slug("llama-3-8b").parameters
    assert model.note == "Not given and taken as usual: head_dim = 128."


def test_a_mixture_by_hand_is_that_of_the_table():
    model = model_by_hand(replace(MIXTURE, vocabulary=32_000, head_dim=128))

    assert model.parameters == model_by_slug("mixtral-8x7b-v0.1").parameters
    assert (model.name, model.note) == ("46.7B", "")


def test_layers_may_slide_and_keys_default_to_queries():
    model = model_by_hand(replace(LLAMA, kv_heads=None, window_layers=16, window_tokens=1024))

    assert (model.kv_heads, model.window_layers, model.window_tokens) == (32, 16, 1024)
    assert model.note == "Not given and taken as usual: kv_heads = 32, head_dim = 128."


@pytest.mark.parametrize(
    ("change", "field", "problem"),
    [
        ({"layers": 0}, "layers", "below_least"),
        ({"hidden": 10**9}, "hidden", "above_most"),
        ({"heads": 33}, "hidden", "not_dividing_both"),
        ({"heads": "32"}, "heads", "not_whole"),
        ({"kv_heads": 64}, "kv_heads", "above_dimension"),
        ({"kv_heads": 5}, "kv_heads", "not_dividing"),
        ({"kv_heads": 0}, "kv_heads", "below_least"),
        ({"mlp_matrices": 4}, "mlp_matrices", "above_most"),
        ({"experts_per_token": None}, "experts", "needs_both"),
        ({"experts": None}, "experts_per_token", "needs_both"),
        ({"experts": None, "experts_per_token": None}, "expert_intermediate", "needs_both"),
        ({"experts_per_token": 9}, "experts_per_token", "above_dimension"),
        ({"first_dense_layers": 33}, "first_dense_layers", "above_dimension"),
        ({"window_layers": 4}, "window_layers", "needs_both"),
        ({"window_tokens": 4}, "window_tokens", "needs_both"),
        ({"hidden": 65_536, "experts": 4_096, "expert_intermediate": 10**6}, "hidden",
         "too_many_parameters"),
    ],
)  # fmt: skip
def test_a_dimension_that_cannot_be_meant_is_refused_by_name(change, field, problem):
    with pytest.raises(InputError) as refused:
        model_by_hand(replace(MIXTURE, **change))

    assert (refused.value.field, refused.value.problem) == (field, problem)
    assert field in str(refused.value)


@pytest.mark.parametrize(
    ("field", "dimensions"),
    [
        ("shared_experts", replace(LLAMA, shared_experts=1)),
        ("first_dense_layers", replace(LLAMA, first_dense_layers=1)),
    ],
)
def test_what_only_a_mixture_has_is_refused_for_a_dense_model(field, dimensions):
    with pytest.raises(InputError) as refused:
        model_by_hand(dimensions)

    assert str(refused.value) == f"{field} is given without experts: give both, or neither."


@pytest.mark.parametrize("slug", ["llama-3.1-8b", "qwen3-32b", "llama-3.1-405b", "llama-3.2-1b"])
def test_a_size_of_the_ladder_gives_nearly_its_model(slug):
    known = model_by_slug(slug)

    model = model_of_size(parameters_billions=known.parameters / 10**9)

    assert (model.layers, model.kv_heads) == (known.layers, known.kv_heads)
    assert abs(model.parameters - known.parameters) < known.parameters / 1000


def test_a_size_says_between_which_models_its_shape_was_taken():
    model = model_of_size(parameters_billions=20)

    assert model.name == "20B"
    assert model.note == (
        "Only the size is given: the shape is taken between Qwen3 14B and Qwen3 32B, or beyond "
        "the nearer of them."
    )


@given(smaller=st.floats(0.1, 20_000), larger=st.floats(0.1, 20_000))
def test_a_larger_size_never_has_a_smaller_shape(smaller, larger):
    smaller, larger = sorted((smaller, larger))

    small, large = (model_of_size(parameters_billions=each) for each in (smaller, larger))

    assert small.hidden <= large.hidden
    assert small.layers <= large.layers
    assert small.kv_width <= large.kv_width
    assert abs(small.parameters - smaller * 10**9) <= smaller * 10**7
    assert small.heads % small.kv_heads == 0


@pytest.mark.parametrize(
    "size", [0, -7, 1e308, float("nan"), float("inf"), "7", None, True, 10**99]
)
def test_a_size_that_cannot_be_meant_is_refused(size):
    with pytest.raises(InputError) as refused:
        model_of_size(parameters_billions=size)

    assert refused.value.field == "parameters_billions"
