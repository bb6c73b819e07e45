"""Families of models by the ``model_type`` of their configuration, and what each leaves unsaid.

A file leaves out what equals the default of its family's class. The table holds those defaults that
shape a model, with where each row was checked, and the families that are no decoder of text or
whose layers this engine cannot count.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from types import MappingProxyType
from typing import Final

from sizing.csv_tables import table_rows

_TABLE: Final = "config_families.csv"


class Kind(StrEnum):
    """What a family is. Only decoders are counted; the others are refused, each with its reason."""

    DECODER = "decoder"
    ENCODER = "encoder"
    ENCODER_DECODER = "encoder_decoder"
    VISION = "vision"
    SOUND = "sound"
    STATE_SPACE = "state_space"
    OTHER_SHAPE = "other_shape"


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """What a family takes where its file says nothing. 0 or empty: no such default.

    ``window_rule``: ``every`` layer slides where a window is given, ``pattern:6`` all but each
    sixth, ``alternate`` each second, ``qwen`` as its two switches say, ``none`` of them.
    ``expert_width``: the field that says how wide an expert is, ``own`` or ``intermediate``.
    """

    model_type: str
    kind: Kind
    mlp_matrices: int = 3
    has_qkv_bias: bool = False
    # None: nobody knows, the file must say it.
    has_tied_embeddings: bool | None = None
    head_dim: int = 0
    mlp_ratio: int = 0
    window_rule: str = "unknown"
    window_tokens: int = 0
    expert_width: str = "own"
    shared_experts: int = 0
    has_learned_positions: bool = False
    has_gated_delta: bool = False
    # Needed fields that published files of the family leave out, with their default.
    defaults: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    is_known: bool = True


@cache
def all_families() -> MappingProxyType[str, Family]:
    """Return the whole table by ``model_type``."""
    return MappingProxyType({row["model_type"]: _family(row) for row in table_rows(_TABLE)})


def unknown_family(model_type: str) -> Family:
    """Return a family that nobody described: gated MLPs, nothing taken for granted."""
    return Family(model_type=model_type, kind=Kind.DECODER, is_known=False)


def _family(row: dict[str, str]) -> Family:
    kind = Kind(row["kind"])
    if kind is not Kind.DECODER:
        return Family(model_type=row["model_type"], kind=kind)
    return Family(
        model_type=row["model_type"],
        kind=kind,
        mlp_matrices=int(row["mlp_matrices"]),
        has_qkv_bias=row["qkv_bias"] == "1",
        has_tied_embeddings=row["tied"] == "1",
        head_dim=int(row["head_dim"] or 0),
        mlp_ratio=int(row["mlp_ratio"] or 0),
        window_rule=row["window_rule"],
        window_tokens=int(row["window_tokens"] or 0),
        expert_width=row["expert_width"] or "own",
        shared_experts=int(row["shared_experts"] or 0),
        has_learned_positions=row["learned_positions"] == "1",
        has_gated_delta=row["gated_delta"] == "1",
        defaults=_defaults(row["defaults"]),
    )


def _defaults(cell: str) -> Mapping[str, int]:
    pairs = (each.split("=") for each in cell.split())
    return MappingProxyType({name: int(value) for name, value in pairs})
