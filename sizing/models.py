"""What the sizing rules are told: plain frozen values, no database row; and the models by name."""

import csv
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import cache
from importlib.resources import files

from sizing.units import BILLION, GB


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """One GPU model as its maker describes it, with the sources of its figures.

    Rates are dense, without sparsity. None means that no source was read, never zero.
    """

    slug: str
    name: str
    vendor: str
    architecture: str
    segment: str
    memory_gb: int
    memory_type: str
    bandwidth_gb_per_s: Decimal
    fp16_dense_tflops: Decimal | None
    bf16_dense_tflops: Decimal | None
    fp8_dense_tflops: Decimal | None
    fp4_dense_tflops: Decimal | None
    tf32_dense_tflops: Decimal | None
    fp32_tflops: Decimal | None
    fp64_tflops: Decimal | None
    tdp_w: int
    nvlink_gb_per_s: Decimal | None
    form_factor: str
    pcie_gen: Decimal
    release_year: int
    source_base: str
    source_tensor: str
    source_nvlink: str
    note: str

    @property
    def memory_bytes(self) -> int:
        return self.memory_gb * GB


@dataclass(frozen=True, slots=True, kw_only=True)
class WellKnownModel:
    """A language model that people name when they look for a card.

    Parameters are computed from the published configuration. ``kv_heads`` and ``head_dim`` are
    None where the attention keeps a compressed cache instead.
    """

    slug: str
    name: str
    parameters: int
    active_parameters: int
    layers: int
    kv_heads: int | None
    head_dim: int | None
    embedding_parameters: int
    source: str
    read_on: date
    note: str

    @property
    def parameters_b(self) -> Decimal:
        """Billions of parameters, exact."""
        return Decimal(self.parameters) / BILLION

    @property
    def read_parameters(self) -> int:
        """Parameters read for one token: all active ones but the table of input embeddings."""
        return self.active_parameters - self.embedding_parameters


@cache
def well_known_models() -> tuple[WellKnownModel, ...]:
    """Return the table of models, smallest first."""
    table = files("sizing.tables").joinpath("models.csv").read_text(encoding="utf-8")
    return tuple(_well_known_model(row) for row in csv.DictReader(table.splitlines()))


def _well_known_model(row: dict[str, str]) -> WellKnownModel:
    return WellKnownModel(
        slug=row["slug"],
        name=row["name"],
        parameters=int(row["parameters"]),
        active_parameters=int(row["active_parameters"]),
        layers=int(row["layers"]),
        kv_heads=int(row["kv_heads"]) if row["kv_heads"] else None,
        head_dim=int(row["head_dim"]) if row["head_dim"] else None,
        embedding_parameters=int(row["embedding_parameters"]),
        source=row["source"],
        read_on=date.fromisoformat(row["read_on"]),
        note=row["note"],
    )
