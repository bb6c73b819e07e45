"""The shape of a decoder from the fields of its configuration, family by family."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from sizing.bounds import InputError, check_at_most, check_divides
from sizing.shapes.architecture import Experts, LanguageModel
from sizing.shapes.assumptions import Assumption
from sizing.shapes.by_hand import refuse_too_many_parameters
from sizing.shapes.config_families import Family
from sizing.shapes.config_fields import BIAS_SPELLINGS, Fields, missing
from sizing.shapes.config_layers import experts_of, latent_attention, layers_of, linear_attention

# OPT keeps two rows more than it has positions.
OPT_POSITION_OFFSET: Final = 2
# The first Qwen writes the width of both halves of its gated MLP together.
QWEN_1_HALVES: Final = 2
_FALCONS: Final = ("falcon", "RefinedWeb", "RefinedWebModel")


def described_model(config: Mapping[str, object], family: Family) -> LanguageModel:
    """Return the model that the fields describe, without a name; ``assumptions`` filled in.

    Raises
    ------
    InputError
        A field is missing, of the wrong kind, out of bounds, or contradicts another.
    """
    fields = Fields(config, defaults=family.defaults)
    layers, hidden, heads = (fields.needed(each) for each in ("layers", "hidden", "heads"))
    kinds = layers_of(fields, family, layers=layers)
    experts = experts_of(fields, family, layers=layers)
    latent = latent_attention(fields)
    model = LanguageModel(
        slug="",
        name="",
        layers=layers,
        hidden=hidden,
        intermediate=_intermediate(fields, family, hidden=hidden, experts=experts),
        heads=heads,
        kv_heads=heads if latent else _kv_heads(fields, family, heads=heads),
        head_dim=(
            latent.qk_nope_dim + latent.qk_rope_dim
            if latent
            else _head_dim(fields, family, hidden=hidden, heads=heads)
        ),
        vocabulary=fields.needed("vocabulary"),
        has_tied_embeddings=_is_tied(fields, family),
        mlp_matrices=family.mlp_matrices,
        has_qkv_bias=_has_qkv_bias(fields, family),
        has_gated_queries=family.has_gated_delta,
        experts=experts,
        latent=latent,
        window_layers=kinds.window_layers,
        window_tokens=kinds.window_tokens,
        linear_layers=kinds.linear_layers,
        linear=linear_attention(fields) if kinds.linear_layers else None,
        learned_positions=_learned_positions(fields, family),
        max_context=fields.optional("max_context") or 0,
        assumptions=kinds.assumptions,
    )
    refuse_too_many_parameters(model, field=fields.spelled("hidden"))
    return replace(model, assumptions=(*_assumed(fields, family), *model.assumptions))


def _intermediate(fields: Fields, family: Family, *, hidden: int, experts: Experts | None) -> int:
    """Return the width of a dense MLP; of an expert where no layer has one."""
    name = fields.spelled("dense_intermediate")
    width = fields.count("dense_intermediate") if fields.has(name) else fields.count("intermediate")
    if width is None and experts is not None and not experts.first_dense_layers:
        return experts.intermediate
    if width is None and family.mlp_ratio:
        return hidden * (fields.count("expansion_ratio", bounds="heads") or family.mlp_ratio)
    if width is None:
        raise missing("intermediate")
    if family.model_type == "qwen":
        return width // QWEN_1_HALVES
    return width


def _kv_heads(fields: Fields, family: Family, *, heads: int) -> int:
    name = fields.spelled("kv_heads")
    kv_heads = _kv_heads_by_switch(fields, family)
    if kv_heads is None:
        kv_heads = fields.optional("kv_heads")
    if kv_heads is None:
        return heads
    dimension = fields.spelled("heads")
    check_at_most(field=name, value=kv_heads, dimension=dimension, most=heads)
    check_divides(field=name, value=kv_heads, dimension=dimension, whole=heads)
    return kv_heads


def _kv_heads_by_switch(fields: Fields, family: Family) -> int | None:
    """Return what a switch says: Falcon, StarCoder, MPT and ChatGLM have one."""
    if family.model_type == "chatglm":
        grouped = fields.flag("multi_query_attention")
        return fields.count("multi_query_group_num", bounds="kv_heads") if grouped else None
    if family.model_type == "mpt":
        return 1 if fields.raw("attn_config.attn_type") == "multiquery_attention" else None
    is_shared = fields.flag("multi_query")
    if family.model_type == "gpt_bigcode":
        return None if is_shared is False else 1
    if family.model_type not in _FALCONS or fields.flag("new_decoder_architecture"):
        return None
    if family.model_type == "RefinedWeb":
        # The first name of the grouped kind, which has no such switch.
        return None
    return None if is_shared is False else 1


def _head_dim(fields: Fields, family: Family, *, hidden: int, heads: int) -> int:
    given = fields.count("head_dim", zero=True) or family.head_dim
    if given:
        return given
    if hidden % heads:
        raise InputError(
            field=fields.spelled("hidden"),
            problem="not_dividing_both",
            values={"given": hidden, "other": fields.spelled("heads"), "other_given": heads},
        )
    return hidden // heads


def _is_tied(fields: Fields, family: Family) -> bool:
    given = fields.flag("tie_word_embeddings")
    return bool(family.has_tied_embeddings) if given is None else given


def _has_qkv_bias(fields: Fields, family: Family) -> bool:
    is_without = fields.flag("no_bias")
    if is_without is not None and family.model_type == "mpt":
        return not is_without
    given = fields.flag(*BIAS_SPELLINGS)
    return family.has_qkv_bias if given is None else given


def _learned_positions(fields: Fields, family: Family) -> int:
    if not family.has_learned_positions:
        return 0
    return fields.needed("max_context") + (OPT_POSITION_OFFSET if family.model_type == "opt" else 0)


def _assumed(fields: Fields, family: Family) -> list[Assumption]:
    assumed = []
    if not family.is_known:
        assumed.append(Assumption("family_unknown", (("family", family.model_type or "—"),)))
    used: list[tuple[str, int | str]] = [*fields.defaults_used]
    if fields.flag("tie_word_embeddings") is None:
        if family.has_tied_embeddings is None:
            assumed.append(Assumption("tied_unknown"))
        else:
            used.append(("tie_word_embeddings", "true" if family.has_tied_embeddings else "false"))
    return [
        *assumed,
        *(Assumption("default_used", (("field", name), ("value", value))) for name, value in used),
    ]
