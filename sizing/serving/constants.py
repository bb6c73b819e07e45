"""The few constants of serving that come from the world, typed.

Everything else follows from the shape of the model and the bits of the formats. What was read is in
``serving_constants.toml``. What is fitted is in ``serving_speed.toml``, which
`sizing.serving.fitting` writes; a class without rows takes the nearest one's, with a wider
interval.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from sizing.serving.formats import SpeedClass
from sizing.serving.job import Counted, Engine, ServingJob

_TABLE: Final = "serving_constants.toml"
_FITTED_TABLE: Final = "serving_speed.toml"
MICROSECOND: Final = 1e-6


class MemoryKind(StrEnum):
    """Decoding reaches a larger share of slow memory than of fast memory."""

    GDDR = "GDDR"
    HBM = "HBM"

    @classmethod
    def of(cls, memory_type: str) -> "MemoryKind":
        return cls.HBM if memory_type.startswith("HBM") else cls.GDDR


class Spread(NamedTuple):
    """Factors on an estimate that bound it."""

    low: float
    high: float


class SpeedKey(NamedTuple):
    """A class of runs that share their kernels and their memory."""

    engine: Engine
    memory: MemoryKind
    weights: SpeedClass


class SpeedProfile(NamedTuple):
    """How fast a class decodes.

    ``share`` of the card's bandwidth that reading weights reaches, ``layer_s`` seconds for each
    layer and token beside reading, ``spread`` of the speed, ``rows`` it was fitted on: 0 where it
    was taken from the nearest class.
    """

    share: float
    layer_s: float
    spread: Spread
    rows: int


@dataclass(frozen=True, kw_only=True)
class Constants:
    """All constants of serving.

    ``speed`` holds a profile for every key. ``hop_s`` is what one more card costs a token when
    cards split the layers; ``expert_loop`` the cost of each expert, as a share of ``layer_s``, in
    engines that loop over all experts; ``prefill_use`` the share of peak compute of a prompt.
    """

    context_bytes: int
    workspace_bytes: int
    graphs_bytes: int
    nccl_bytes: int
    litgpt_head_bytes_per_weight: int
    gptq_2023_bytes_per_weight: int
    memory_spreads: Mapping[str, Spread]
    speed: Mapping[SpeedKey, SpeedProfile]
    hop_s: float
    expert_loop: float
    prefill_use: Mapping[tuple[Engine, MemoryKind], "PrefillUse"]

    def memory_spread(self, job: ServingJob) -> Spread:
        """Return the interval of the job's class."""
        if job.counted is Counted.DEVICE:
            return self.memory_spreads["device"]
        return self.memory_spreads["16" if job.weights.is_16_bits_or_wider else "quantized"]


class PrefillUse(NamedTuple):
    """Share of the card's dense peak that working on a prompt reaches, with its interval."""

    share: float
    low: float
    high: float
    rows: int


@cache
def constants_table() -> Mapping[str, Any]:
    """Return the table as it is written."""
    return _table(_TABLE)


def _table(name: str) -> Mapping[str, Any]:
    text = files("sizing.tables").joinpath(name).read_text(encoding="utf-8")
    return MappingProxyType(tomllib.loads(text))


@cache
def own_constants() -> Constants:
    """Return the constants of the package's table."""
    table = _table(_FITTED_TABLE)
    fitted = {_speed_key(row): _speed_profile(row) for row in table["speed"]}
    uses = {
        (Engine(row["engine"]), MemoryKind(row["memory"])): PrefillUse(
            share=row["share"], low=row["low"], high=row["high"], rows=row["rows"]
        )
        for row in table["prefill"]
    }
    return constants_of(
        fitted=fitted,
        hop_s=table["hop_us"] * MICROSECOND,
        expert_loop=table["expert_loop"],
        prefill=uses,
    )


def constants_of(
    *,
    fitted: Mapping[SpeedKey, SpeedProfile],
    hop_s: float,
    expert_loop: float,
    prefill: Mapping[tuple[Engine, MemoryKind], PrefillUse],
) -> Constants:
    """Return all constants from those that are fitted; the others are the table's."""
    memory, spreads = constants_table()["memory"], constants_table()["memory_spread"]
    return Constants(
        **memory,
        memory_spreads=MappingProxyType({name: Spread(*pair) for name, pair in spreads.items()}),
        speed=MappingProxyType({key: _nearest_profile(key, fitted) for key in all_speed_keys()}),
        hop_s=hop_s,
        expert_loop=expert_loop,
        prefill_use=MappingProxyType(
            {
                (engine, kind): prefill.get((engine, kind), _prior_prefill())
                for engine in Engine
                for kind in MemoryKind
            }
        ),
    )


def all_speed_keys() -> tuple[SpeedKey, ...]:
    """Return every class there can be."""
    return tuple(
        SpeedKey(engine, memory, weights)
        for engine in Engine
        for memory in MemoryKind
        for weights in SpeedClass
    )


# How much less alike two classes are. Kernels of bitsandbytes are slow in every engine alike, so
# NF4 is compared with NF4 of another engine first.
_OTHER_ENGINE: Final = 4
_OTHER_WEIGHTS: Final = 2
_OTHER_THAN_NF4: Final = 5
_OTHER_MEMORY: Final = 1


def _nearest_profile(wanted: SpeedKey, fitted: Mapping[SpeedKey, SpeedProfile]) -> SpeedProfile:
    """Return the profile of the class, or the most similar one's with a wider interval."""
    exact = fitted.get(wanted)
    if exact is not None:
        return exact
    alike = [key for key in fitted if is_eager(key.engine) == is_eager(wanted.engine)]
    if not alike:
        return prior_profile(wanted.engine)
    nearest = fitted[min(alike, key=lambda key: _distance(key, wanted))]
    wider = constants_table()["speed"]["borrowed_factor"]
    spread = Spread(nearest.spread.low / wider, nearest.spread.high * wider)
    return nearest._replace(spread=spread, rows=0)


def _distance(one: SpeedKey, other: SpeedKey) -> int:
    distance = 0
    if one.engine is not other.engine:
        distance += _OTHER_ENGINE
    if one.weights is not other.weights:
        is_nf4 = SpeedClass.NF4 in {one.weights, other.weights}
        distance += _OTHER_THAN_NF4 if is_nf4 else _OTHER_WEIGHTS
    if one.memory is not other.memory:
        distance += _OTHER_MEMORY
    return distance


def is_eager(engine: Engine) -> bool:
    """Whether the processor launches every kernel of every token, while the card reads."""
    return engine in {Engine.TRANSFORMERS, Engine.TRANSFORMERS_2023, Engine.LITGPT}


def prior_profile(engine: Engine) -> SpeedProfile:
    """Return what is assumed of an engine of which nothing was measured."""
    prior = constants_table()["speed"]["prior"]["eager" if is_eager(engine) else "compiled"]
    return SpeedProfile(
        share=prior["share"],
        layer_s=prior["layer_us"] * MICROSECOND,
        spread=Spread(prior["low"], prior["high"]),
        rows=0,
    )


def _prior_prefill() -> PrefillUse:
    prior = constants_table()["prefill"]["prior"]
    return PrefillUse(share=prior["share"], low=prior["low"], high=prior["high"], rows=0)


def _speed_key(row: Mapping[str, Any]) -> SpeedKey:
    return SpeedKey(Engine(row["engine"]), MemoryKind(row["memory"]), SpeedClass(row["weights"]))


def _speed_profile(row: Mapping[str, Any]) -> SpeedProfile:
    return SpeedProfile(
        share=row["share"],
        layer_s=row["layer_us"] * MICROSECOND,
        spread=Spread(row["low"], row["high"]),
        rows=row["rows"],
    )
