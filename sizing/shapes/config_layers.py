"""What differs between the layers of a configuration: experts, windows, states of fixed size."""

from typing import Final, NamedTuple

from sizing.bounds import InputError, check_at_most
from sizing.shapes.architecture import Experts, LatentAttention, LinearAttention
from sizing.shapes.assumptions import Assumption
from sizing.shapes.config_families import Family
from sizing.shapes.config_fields import Fields, missing

# Kinds of layers in ``layer_types`` that can be counted.
SLIDING: Final = "sliding_attention"
LINEAR: Final = "linear_attention"
CHUNKED: Final = "chunked_attention"
KNOWN_LAYERS: Final = ("full_attention", SLIDING, LINEAR, CHUNKED)

# Of Qwen3-Next where its file leaves it out: each fourth layer attends to everything.
FULL_ATTENTION_INTERVAL: Final = 4


class Layers(NamedTuple):
    """How many layers slide, over how many tokens, and how many keep a state."""

    window_layers: int
    window_tokens: int
    linear_layers: int
    assumptions: tuple[Assumption, ...] = ()


def layers_of(fields: Fields, family: Family, *, layers: int) -> Layers:
    """Count the layers of each kind."""
    listed = fields.per_layer("layer_types", layers=layers)
    if listed is not None:
        return _listed_layers(fields, family, listed)
    if family.has_gated_delta:
        every = fields.count("full_attention_interval", bounds="layer_interval")
        return Layers(0, 0, layers - layers // (every or FULL_ATTENTION_INTERVAL))
    return _ruled_layers(fields, family, layers)


def linear_attention(fields: Fields) -> LinearAttention:
    """Read the dimensions of layers that keep a state."""
    heads, width = "linear_heads", "linear_head_dim"
    return LinearAttention(
        key_heads=_needed(fields, "linear_num_key_heads", heads),
        key_head_dim=_needed(fields, "linear_key_head_dim", width),
        value_heads=_needed(fields, "linear_num_value_heads", heads),
        value_head_dim=_needed(fields, "linear_value_head_dim", width),
        conv_kernel=_needed(fields, "linear_conv_kernel_dim", "conv_kernel"),
    )


def latent_attention(fields: Fields) -> LatentAttention | None:
    """Read the dimensions of attention over a latent, where the file has them."""
    rank = fields.count("kv_lora_rank")
    if rank is None:
        return None
    return LatentAttention(
        kv_lora_rank=rank,
        q_lora_rank=fields.count("q_lora_rank") or 0,
        qk_nope_dim=_needed(fields, "qk_nope_head_dim", "qk_nope_dim"),
        qk_rope_dim=_needed(fields, "qk_rope_head_dim", "qk_rope_dim"),
        v_head_dim=fields.needed("v_head_dim"),
    )


def experts_of(fields: Fields, family: Family, *, layers: int) -> Experts | None:
    """Read the mixture of experts, where the file has one of more than one expert."""
    total = (
        None if fields.raw(fields.spelled("experts")) == 1 else fields.count("experts", zero=True)
    )
    per_token = fields.count("experts_per_token", zero=True)
    if total is None:
        _refuse_experts_without_number(fields, per_token)
        return None
    if per_token is None:
        raise missing("experts_per_token")
    check_at_most(
        field=fields.spelled("experts_per_token"),
        value=per_token,
        dimension=fields.spelled("experts"),
        most=total,
    )
    meaning = "expert_intermediate" if family.expert_width == "own" else "intermediate"
    wide = fields.count("shared_intermediate", zero=True)
    shared = fields.count("shared_experts", zero=True)
    return Experts(
        total=total,
        per_token=per_token,
        shared=shared or (1 if wide else family.shared_experts),
        intermediate=fields.needed(meaning),
        first_dense_layers=layers - sum(_has_experts(fields, layers)),
        shared_intermediate=wide or 0,
    )


def _listed_layers(fields: Fields, family: Family, listed: list[object]) -> Layers:
    for each in listed:
        if each not in KNOWN_LAYERS or (each == LINEAR and not family.has_gated_delta):
            raise InputError(
                field="layer_types", problem="config_unknown_layer", values={"given": each}
            )
    sliding = listed.count(SLIDING)
    window = _window(fields, family) if sliding else None
    if sliding and window is None:
        values = {"other": fields.spelled("window_tokens")}
        raise InputError(field="layer_types", problem="config_window_missing", values=values)
    if sliding and fields.flag("use_sliding_window") is False:
        values = {"other": "use_sliding_window"}
        raise InputError(field="layer_types", problem="config_window_off", values=values)
    chunked = (Assumption("chunks_ignored"),) if CHUNKED in listed else ()
    return Layers(sliding, window or 0, listed.count(LINEAR), chunked)


def _ruled_layers(fields: Fields, family: Family, layers: int) -> Layers:
    window = _window(fields, family)
    rule, _, every = family.window_rule.partition(":")
    if window is None or rule == "none":
        return Layers(0, 0, 0)
    if rule == "unknown":
        return Layers(0, 0, 0, (Assumption("window_ignored", (("tokens", window),)),))
    if rule == "qwen":
        whole = fields.count("max_window_layers", bounds="first_dense_layers") or 0
        slides = fields.flag("use_sliding_window") and layers > whole
        return _sliding(layers - whole if slides else 0, window)
    return _sliding(layers if rule == "every" else _alternating(fields, layers, every), window)


def _alternating(fields: Fields, layers: int, every: str) -> int:
    """Count the sliding layers where each n-th attends to everything."""
    given = fields.raw("sliding_window_pattern")
    if not isinstance(given, str):
        pattern = fields.count("sliding_window_pattern", bounds="layer_interval")
        return layers - layers // (pattern or int(every or 2))
    # As Exaone writes it: L for a local layer, G for a global one, over and over.
    if not given or set(given) - set("LG"):
        values = {"given": given}
        raise InputError(
            field="sliding_window_pattern", problem="config_not_pattern", values=values
        )
    return sum(given[layer % len(given)] == "L" for layer in range(layers))


def _sliding(layers: int, window: int) -> Layers:
    return Layers(layers, window if layers else 0, 0)


def _window(fields: Fields, family: Family) -> int | None:
    """Return the window: as given, none where written as null, else what the family takes."""
    if fields.is_written("sliding_window") or fields.is_written("window_size"):
        return fields.count("window_tokens", zero=True)
    return family.window_tokens or None


def _refuse_experts_without_number(fields: Fields, per_token: int | None) -> None:
    is_dense = fields.raw(fields.spelled("experts")) == 1
    if per_token is not None and not is_dense:
        values = {"given": per_token, "other": fields.spelled("experts")}
        field = fields.spelled("experts_per_token")
        raise InputError(field=field, problem="config_experts_off", values=values)


def _has_experts(fields: Fields, layers: int) -> list[bool]:
    """Say for each layer whether it has experts, by whichever rule the family writes."""
    sparse = _listed_sparse(fields, layers)
    if sparse is None:
        sparse = _ruled_sparse(fields, layers)
    dense = fields.indexes("mlp_only_layers", layers=layers) or frozenset()
    return [each and layer not in dense for layer, each in enumerate(sparse)]


def _listed_sparse(fields: Fields, layers: int) -> list[bool] | None:
    chosen = fields.indexes("moe_layers", layers=layers)
    if chosen is not None:
        return [layer in chosen for layer in range(layers)]
    if isinstance(fields.raw("moe_layer_freq"), list):
        each = fields.per_layer("moe_layer_freq", layers=layers) or []
        return [value == 1 for value in each]
    kinds = fields.per_layer("mlp_layer_types", layers=layers)
    return None if kinds is None else [kind == "sparse" for kind in kinds]


def _ruled_sparse(fields: Fields, layers: int) -> list[bool]:
    first = _layer(fields, "first_k_dense_replace") or _layer(fields, "moe_layer_start_index")
    last = fields.raw("moe_layer_end_index")
    end = layers if last in (None, -1) else _layer(fields, "moe_layer_end_index") + 1
    counted_from_0 = fields.count("moe_layer_freq", bounds="layer_interval") or 1
    step = 1
    for name in ("decoder_sparse_step", "interleave_moe_layer_step", "moe_layer_interval"):
        step = max(step, fields.count(name, bounds="layer_interval") or 1)
    return [
        first <= layer < end and layer % counted_from_0 == 0 and (layer + 1) % step == 0
        for layer in range(layers)
    ]


def _layer(fields: Fields, name: str) -> int:
    return fields.count(name, bounds="first_dense_layers") or 0


def _needed(fields: Fields, name: str, bounds: str) -> int:
    value = fields.count(name, bounds=bounds)
    if value is None:
        raise missing(name)
    return value
