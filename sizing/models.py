"""What the sizing rules are told: plain frozen values, no database row."""

from dataclasses import dataclass
from decimal import Decimal

from sizing.units import GB


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
