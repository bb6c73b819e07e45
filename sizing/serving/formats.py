"""How weights and the KV cache are stored while a model is served, and the bytes that this takes.

Bits of every format come from the table ``weight_formats.csv``, with source and date. A format may
store the matrices of the layers, the embedding and the output matrix differently: quantizers keep
the last two wider, and that is what makes small models with large vocabularies heavier than "4
bits" suggests. Norms and routers stay 16 bits wide and are counted with the layers, an error below
0.1 % of any model.
"""

from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from types import MappingProxyType
from typing import Final

from sizing.bounds import InputError
from sizing.csv_tables import table_rows
from sizing.nearest import nearest
from sizing.shapes.architecture import LanguageModel

BITS_PER_BYTE: Final = 8
SIXTEEN_BITS: Final = 16


class SpeedClass(StrEnum):
    """Kernels of one kind: what decides how much of the bandwidth decoding reaches."""

    SIXTEEN = "16"
    FP8 = "fp8"
    INT8 = "int8"
    INT4 = "int4"
    NF4 = "nf4"


class KvFormat(StrEnum):
    """How keys and values are stored. The names of llama.cpp's block types are theirs."""

    SIXTEEN = "16"
    FP8 = "fp8"
    INT8 = "int8"
    Q8_0 = "q8_0"
    Q4_0 = "q4_0"


# Bits per element, scales included. Definitions: the block types of llama.cpp have one 16-bit scale
# for 32 elements.
KV_BITS: Final = MappingProxyType(
    {
        KvFormat.SIXTEEN: 16.0,
        KvFormat.FP8: 8.0,
        KvFormat.INT8: 8.0,
        KvFormat.Q8_0: 8.5,
        KvFormat.Q4_0: 4.5,
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightFormat:
    """Bits per parameter of each group of weights, scales included.

    ``has_own_head`` says that files of this format store the output matrix apart even where the
    model shares it with the embedding; ``is_gguf`` that only llama.cpp and its kin read it.
    """

    slug: str
    name: str
    mlp_bits: float
    attention_bits: float
    embedding_bits: float
    head_bits: float
    has_own_head: bool
    speed_class: SpeedClass
    source: str
    read_on: str
    note: str

    @property
    def is_gguf(self) -> bool:
        return self.name.startswith("GGUF")

    @property
    def is_16_bits_or_wider(self) -> bool:
        return self.mlp_bits >= SIXTEEN_BITS


@cache
def all_weight_formats() -> MappingProxyType[str, WeightFormat]:
    """Return the whole table by slug, in the order of the file."""
    rows = table_rows("weight_formats.csv")
    return MappingProxyType({row["slug"]: _weight_format(row) for row in rows})


def weight_format_by_slug(slug: str) -> WeightFormat:
    """Return one format.

    Raises
    ------
    InputError
        No such slug in the table; the nearest are offered.
    """
    formats = all_weight_formats()
    found = formats.get(slug)
    if found is not None:
        return found
    near = nearest(slug, known=formats)
    if near:
        values = {"given": slug, "nearest": near}
        raise InputError(field="weight_format", problem="unknown_name_nearest", values=values)
    values = {"given": slug, "choices": tuple(formats)}
    raise InputError(field="weight_format", problem="unknown_choice", values=values)


def weight_bytes(model: LanguageModel, weights: WeightFormat, *, has_narrow_head: bool) -> int:
    """Return the bytes of all weights, all experts included.

    ``has_narrow_head`` is for engines that quantize the output matrix like any other.
    """
    table = model.vocabulary * model.hidden
    head_bits = weights.mlp_bits if has_narrow_head else weights.head_bits
    bits = _layer_bits(model, weights, parameters=model.block_parameters + model.hidden)
    bits += model.learned_positions * model.hidden * weights.embedding_bits
    if not model.has_tied_embeddings or weights.has_own_head:
        bits += table * (weights.embedding_bits + head_bits)
    else:
        # A shared table must serve as the output matrix, so it keeps the wider of both.
        bits += table * max(weights.embedding_bits, weights.head_bits)
    return round(bits / BITS_PER_BYTE)


def read_bytes(model: LanguageModel, weights: WeightFormat) -> int:
    """Return the bytes of weights that one token of one request reads.

    Active experts only. The embedding is looked up, not read; the output matrix is read.
    """
    table = model.vocabulary * model.hidden
    layers = model.read_parameters - table
    bits = _layer_bits(model, weights, parameters=layers) + table * weights.head_bits
    return round(bits / BITS_PER_BYTE)


def _layer_bits(model: LanguageModel, weights: WeightFormat, *, parameters: int) -> float:
    attention = (model.layers - model.linear_layers) * model.attention_parameters
    return attention * weights.attention_bits + (parameters - attention) * weights.mlp_bits


def _weight_format(row: dict[str, str]) -> WeightFormat:
    return WeightFormat(
        slug=row["slug"],
        name=row["name"],
        mlp_bits=float(row["mlp_bits"]),
        attention_bits=float(row["attention_bits"]),
        embedding_bits=float(row["embedding_bits"]),
        head_bits=float(row["head_bits"]),
        has_own_head=row["has_own_head"] == "yes",
        speed_class=SpeedClass(row["speed_class"]),
        source=row["source"],
        read_on=row["read_on"],
        note=row["note"],
    )
