"""The constants of time and cost, in ``tables/planning_constants.toml``, each with its source."""

import tomllib
from dataclasses import dataclass, fields
from functools import cache
from importlib.resources import files
from typing import Final

TABLE: Final = "planning_constants.toml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Constants:
    """Low and high bound an estimate; middle is the estimate itself."""

    # Share of the dense 16-bit peak that a training step reaches.
    mfu_low: float
    mfu_middle: float
    mfu_high: float
    # Unpacking quantized weights takes a step as long as so many more tokens.
    unpacking_tokens_low: float
    unpacking_tokens_middle: float
    unpacking_tokens_high: float
    # Share of one direction of a link that exchanges between cards reach.
    nvlink_share_low: float
    nvlink_share_middle: float
    nvlink_share_high: float
    pcie_share_low: float
    pcie_share_middle: float
    pcie_share_high: float


@cache
def planning_constants() -> Constants:
    """Return the package's own constants."""
    table = tomllib.loads(files("sizing.tables").joinpath(TABLE).read_text(encoding="utf-8"))
    return Constants(
        **{field.name: float(table[field.name]["value"]) for field in fields(Constants)}
    )
