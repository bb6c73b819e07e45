"""The few figures that come from measurements, in `tables/training_constants.toml`."""

import tomllib
from dataclasses import dataclass, fields
from functools import cache
from importlib.resources import files
from typing import Final

TABLE: Final = "training_constants.toml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Constants:
    """What formulas cannot give. `fitting.fit` finds the fitted ones; the table says which."""

    # What a process holds before it does anything: driver context, kernels, libraries.
    context_bytes: float
    # Held by the allocator without being handed out, as a share of what is handed out.
    fragmentation_share: float
    # Buffers of the communication library, for each process of several.
    communication_bytes: float
    # Bytes per token and entry of the vocabulary at the peak of the loss.
    eager_loss_bytes: float
    plain_loss_bytes: float
    chunked_loss_bytes: float
    fused_loss_bytes: float
    # Bytes of fp32 copies that a norm keeps, per element of its input.
    norm_bytes: float
    # All that the formula of a layer's activations does not know, as a factor.
    activation_factor: float
    # The same for layers whose frozen weights are quantized and nothing is computed again.
    quantized_factor: float
    # Kernels that write less of a layer out.
    lean_factor: float
    # Copies of one state that a "foreach" step makes.
    step_copies: float
    # DeepSpeed's buckets: bytes per element of gradients, up to a number of elements.
    bucket_bytes: float
    bucket_elements: float
    # What two neighbouring layers need together, gathered from the shards.
    gathered_layers: float
    # Where nine runs of ten lie, as shares of the estimate, by method.
    low_share_full: float
    high_share_full: float
    low_share_lora: float
    high_share_lora: float
    low_share_qlora: float
    high_share_qlora: float


@cache
def training_constants() -> Constants:
    """Return the engine's own constants."""
    text = files("sizing.tables").joinpath(TABLE).read_text(encoding="utf-8")
    table = tomllib.loads(text)
    return Constants(
        **{field.name: float(table[field.name]["value"]) for field in fields(Constants)}
    )
