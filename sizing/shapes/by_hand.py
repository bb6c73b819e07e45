"""A language model described by hand: by its dimensions, or only by its size.

Of a model known by its size alone, the shape is taken between the two models of a ladder that are
nearest in size; the result says so. Error of what follows from that: weights 1 %; keys and values,
and activations, a factor two, because models of one size differ by as much in their heads.
"""

import math
from dataclasses import dataclass, replace
from typing import Final

from sizing.bounds import (
    BOUNDS,
    InputError,
    check_at_most,
    check_bounds,
    check_divides,
    printable,
)
from sizing.shapes.architecture import Experts, LanguageModel
from sizing.shapes.assumptions import Assumption, in_english
from sizing.shapes.language_models import model_by_slug
from sizing.units import BILLION

# Dense models of the table with grouped heads, gated MLPs and no window, as most are built now.
LADDER: Final = (
    "llama-3.2-1b",
    "llama-3.2-3b",
    "llama-3.1-8b",
    "qwen3-14b",
    "qwen3-32b",
    "llama-3.1-70b",
    "llama-3.1-405b",
)
# The ladder's models share the embedding with the head below this, and do not above it.
TIED_BELOW_PARAMETERS: Final = 5 * BILLION
# Up to this width the ladder's heads are half as wide.
NARROW_HIDDEN: Final = 2_048
NARROW_HEAD_DIM: Final = 64
HEAD_DIM: Final = 128
KV_HEADS: Final = 8
VOCABULARY: Final = 128_256
# Of a very small model, the embedding takes no more than this part of the parameters.
MOST_EMBEDDING_SHARE: Final = 4

USUAL_MLP_MATRICES: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Dimensions:
    """What somebody knows of a model. None: not given, taken as usual.

    ``experts`` and all that follows them go together; without them the model is dense.
    """

    layers: int
    hidden: int
    intermediate: int
    heads: int
    vocabulary: int
    kv_heads: int | None = None
    head_dim: int | None = None
    has_tied_embeddings: bool = False
    mlp_matrices: int = USUAL_MLP_MATRICES
    experts: int | None = None
    experts_per_token: int | None = None
    expert_intermediate: int | None = None
    shared_experts: int = 0
    first_dense_layers: int = 0
    window_layers: int = 0
    window_tokens: int | None = None


def model_by_hand(dimensions: Dimensions, *, name: str = "") -> LanguageModel:
    """Return the model that has these dimensions.

    Raises
    ------
    InputError
        A dimension is no whole number, out of bounds, or contradicts another.
    """
    given = dimensions
    _check_dimensions(given)
    model = LanguageModel(
        slug="",
        name=_name(name, ""),
        layers=given.layers,
        hidden=given.hidden,
        intermediate=given.intermediate,
        heads=given.heads,
        kv_heads=given.kv_heads or given.heads,
        head_dim=given.head_dim or given.hidden // given.heads,
        vocabulary=given.vocabulary,
        has_tied_embeddings=given.has_tied_embeddings,
        mlp_matrices=given.mlp_matrices,
        experts=_experts(given),
        window_layers=given.window_layers,
        window_tokens=given.window_tokens or 0,
    )
    refuse_too_many_parameters(model, field="hidden")
    taken = [f"kv_heads = {model.kv_heads}"] if given.kv_heads is None else []
    taken += [f"head_dim = {model.head_dim}"] if given.head_dim is None else []
    assumptions = (Assumption("shape_defaults", (("fields", ", ".join(taken)),)),) if taken else ()
    size = f"{model.parameters / BILLION:.3g}B"
    return replace(
        model, name=model.name or size, note=in_english(assumptions), assumptions=assumptions
    )


def model_of_size(*, parameters_billions: float, name: str = "") -> LanguageModel:
    """Return a dense decoder of about this many billion parameters, of a typical shape.

    Raises
    ------
    InputError
        The size is no number, or out of bounds.
    """
    check_bounds(parameters_billions=parameters_billions)
    wanted = round(parameters_billions * BILLION)
    smaller, larger = _neighbours(wanted)
    between = Assumption("typical_shape", (("smaller", smaller.name), ("larger", larger.name)))
    model = _typical(wanted, smaller, larger)
    return replace(
        model,
        name=_name(name, f"{parameters_billions:g}B"),
        note=str(between),
        assumptions=(between,),
    )


def refuse_too_many_parameters(model: LanguageModel, *, field: str) -> None:
    """Refuse dimensions that are each within bounds and make no model together."""
    most = BOUNDS["parameters_billions"].most
    billions = model.parameters // BILLION
    if billions > most:
        values = {"given": billions, "most": most}
        raise InputError(field=field, problem="too_many_parameters", values=values)


def _check_dimensions(given: Dimensions) -> None:
    check_bounds(
        layers=given.layers,
        hidden=given.hidden,
        intermediate=given.intermediate,
        heads=given.heads,
        vocabulary=given.vocabulary,
        mlp_matrices=given.mlp_matrices,
        shared_experts=given.shared_experts,
        first_dense_layers=given.first_dense_layers,
        window_layers=given.window_layers,
    )
    optional = {
        "kv_heads": given.kv_heads,
        "head_dim": given.head_dim,
        "experts": given.experts,
        "experts_per_token": given.experts_per_token,
        "expert_intermediate": given.expert_intermediate,
        "window_tokens": given.window_tokens,
    }
    check_bounds(**{field: value for field, value in optional.items() if value is not None})
    _check_heads(given)
    for field, layers in (
        ("first_dense_layers", given.first_dense_layers),
        ("window_layers", given.window_layers),
    ):
        check_at_most(field=field, value=layers, dimension="layers", most=given.layers)
    _check_pair("window_layers", given.window_layers or None, "window_tokens", given.window_tokens)
    _check_experts(given)


def _check_heads(given: Dimensions) -> None:
    if given.head_dim is None and given.hidden % given.heads:
        values = {"given": given.hidden, "other": "heads", "other_given": given.heads}
        raise InputError(field="hidden", problem="not_dividing_both", values=values)
    if given.kv_heads is not None:
        check_at_most(field="kv_heads", value=given.kv_heads, dimension="heads", most=given.heads)
        check_divides(field="kv_heads", value=given.kv_heads, dimension="heads", whole=given.heads)


def _check_experts(given: Dimensions) -> None:
    _check_pair("experts", given.experts, "experts_per_token", given.experts_per_token)
    _check_pair("experts", given.experts, "expert_intermediate", given.expert_intermediate)
    _check_pair("shared_experts", given.shared_experts or None, "experts", given.experts, one=True)
    _check_pair(
        "first_dense_layers", given.first_dense_layers or None, "experts", given.experts, one=True
    )
    if given.experts is not None and given.experts_per_token is not None:
        check_at_most(
            field="experts_per_token",
            value=given.experts_per_token,
            dimension="experts",
            most=given.experts,
        )


def _check_pair(
    field: str, value: int | None, other: str, other_value: int | None, *, one: bool = False
) -> None:
    """Refuse one of two fields that go together; with ``one``, only the first without the other."""
    if value is not None and other_value is None:
        raise InputError(field=field, problem="needs_both", values={"other": other})
    if value is None and other_value is not None and not one:
        raise InputError(field=other, problem="needs_both", values={"other": field})


def _experts(given: Dimensions) -> Experts | None:
    if given.experts is None:
        return None
    assert given.experts_per_token is not None
    assert given.expert_intermediate is not None
    return Experts(
        total=given.experts,
        per_token=given.experts_per_token,
        shared=given.shared_experts,
        intermediate=given.expert_intermediate,
        first_dense_layers=given.first_dense_layers,
    )


def _neighbours(wanted: int) -> tuple[LanguageModel, LanguageModel]:
    """Return the two models of the ladder around a size, or the two nearest at its ends."""
    models = [model_by_slug(slug) for slug in LADDER]
    above = next(
        (place for place, model in enumerate(models) if model.parameters >= wanted), len(models)
    )
    place = min(max(above, 1), len(models) - 1)
    return models[place - 1], models[place]


def _typical(wanted: int, smaller: LanguageModel, larger: LanguageModel) -> LanguageModel:
    """Return a model of the size, its width and depth on a line between two in logarithms.

    The width of the MLP takes up the rest, so that the size is met.
    """
    share = math.log(wanted / smaller.parameters) / math.log(larger.parameters / smaller.parameters)
    hidden = _on_line(smaller.hidden, larger.hidden, share)
    layers = max(1, round(_on_line(smaller.layers, larger.layers, share)))
    head_dim = NARROW_HEAD_DIM if hidden <= NARROW_HIDDEN else HEAD_DIM
    group = head_dim * KV_HEADS
    # Grouped heads come in whole groups; a very small model has fewer than one.
    places = round(hidden / head_dim)
    heads = max(1, places) if places < KV_HEADS else round(hidden / group) * KV_HEADS
    hidden = heads * head_dim
    is_tied = wanted < TIED_BELOW_PARAMETERS
    most_rows = wanted // (MOST_EMBEDDING_SHARE * hidden * (1 if is_tied else 2))
    model = LanguageModel(
        slug="",
        name="",
        layers=layers,
        hidden=hidden,
        intermediate=0,
        heads=heads,
        kv_heads=min(KV_HEADS, heads),
        head_dim=head_dim,
        vocabulary=min(VOCABULARY, most_rows),
        has_tied_embeddings=is_tied,
    )
    rest = wanted - model.parameters
    return replace(model, intermediate=max(1, round(rest / (USUAL_MLP_MATRICES * hidden * layers))))


def _on_line(smaller: int, larger: int, share: float) -> float:
    return math.exp(math.log(smaller) + share * (math.log(larger) - math.log(smaller)))


def _name(name: str, otherwise: str) -> str:
    return " ".join(str(printable(name)).split()) or otherwise
