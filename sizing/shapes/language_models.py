"""The table of language models: their shapes and where each was read."""

from functools import cache
from types import MappingProxyType
from typing import Final

from sizing.csv_tables import table_rows
from sizing.nearest import nearest
from sizing.shapes.architecture import Experts, LanguageModel, LatentAttention

_TABLE: Final = "models.csv"


class UnknownModelError(LookupError):
    """No model of the table has this slug; ``nearest`` holds similar ones."""

    def __init__(self, slug: str, nearest: tuple[str, ...]) -> None:
        super().__init__(slug)
        self.slug = slug
        self.nearest = nearest


@cache
def all_language_models() -> MappingProxyType[str, LanguageModel]:
    """Return the whole table by slug, in the order of the file."""
    return MappingProxyType({row["slug"]: _language_model(row) for row in table_rows(_TABLE)})


def model_by_slug(slug: str) -> LanguageModel:
    """Return one model.

    Raises
    ------
    UnknownModelError
        No such slug in the table.
    """
    try:
        return all_language_models()[slug]
    except KeyError:
        raise UnknownModelError(slug, nearest(slug, known=all_language_models())) from None


def _language_model(row: dict[str, str]) -> LanguageModel:
    return LanguageModel(
        slug=row["slug"],
        name=row["name"],
        layers=int(row["layers"]),
        hidden=int(row["hidden"]),
        intermediate=int(row["intermediate"]),
        heads=int(row["heads"]),
        kv_heads=int(row["kv_heads"]),
        head_dim=int(row["head_dim"]),
        vocabulary=int(row["vocab"]),
        has_tied_embeddings=row["tied_embeddings"] == "1",
        mlp_matrices=int(row["mlp_matrices"]),
        has_qkv_bias=row["qkv_bias"] == "1",
        experts=_experts(row) if row["arch"] == "moe" else None,
        latent=_latent(row) if row["attn"] == "MLA" else None,
        window_layers=_window_layers(row),
        window_tokens=_number(row["sliding_window"]),
        max_context=_number(row["max_context"]),
        source=row["source"],
        note=row["note"],
    )


def _experts(row: dict[str, str]) -> Experts:
    return Experts(
        total=int(row["experts"]),
        per_token=int(row["experts_per_token"]),
        shared=_number(row["shared_experts"]),
        intermediate=int(row["moe_intermediate"]),
        first_dense_layers=_number(row["first_dense_layers"]),
    )


def _latent(row: dict[str, str]) -> LatentAttention:
    return LatentAttention(
        kv_lora_rank=int(row["kv_lora_rank"]),
        q_lora_rank=_number(row["q_lora_rank"]),
        qk_nope_dim=int(row["qk_nope_dim"]),
        qk_rope_dim=int(row["qk_rope_dim"]),
        v_head_dim=int(row["v_head_dim"]),
    )


def _window_layers(row: dict[str, str]) -> int:
    """Every layer slides, or all but each n-th."""
    if not row["sliding_window"]:
        return 0
    layers, every = int(row["layers"]), _number(row["full_attn_every"])
    return layers - layers // every if every else layers


def _number(cell: str) -> int:
    return int(cell) if cell else 0
