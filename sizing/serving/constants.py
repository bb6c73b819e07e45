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
from statistics import geometric_mean
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
        speed=MappingProxyType({key: _profile(key, fitted) for key in all_speed_keys()}),
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


def _profile(wanted: SpeedKey, fitted: Mapping[SpeedKey, SpeedProfile]) -> SpeedProfile:
    """Return the profile of a class: fitted, borrowed from its own engine, or pooled."""
    exact = fitted.get(wanted)
    if exact is not None:
        return exact
    own = [key for key in fitted if key.engine is wanted.engine]
    if own and not _is_nf4_alone(wanted, own):
        return _borrowed(wanted, fitted, own=own)
    return _pooled(wanted, fitted)


def _is_nf4_alone(wanted: SpeedKey, own: list[SpeedKey]) -> bool:
    """Whether an engine has no row of NF4: its kernels are bitsandbytes', slow in every engine."""
    return wanted.weights is SpeedClass.NF4 and all(
        key.weights is not SpeedClass.NF4 for key in own
    )


def _borrowed(
    wanted: SpeedKey, fitted: Mapping[SpeedKey, SpeedProfile], *, own: list[SpeedKey]
) -> SpeedProfile:
    """Return the most similar class of the same engine, moved to the memory that is wanted."""
    nearest = min(
        own, key=lambda key: (key.memory is not wanted.memory, key.weights is not wanted.weights)
    )
    profile = fitted[nearest]
    moved = (
        prior_profile(wanted).share / prior_profile(nearest._replace(weights=wanted.weights)).share
    )
    wider = constants_table()["speed"]["borrowed_factor"]
    return SpeedProfile(
        share=min(profile.share * moved, _most_share()),
        layer_s=profile.layer_s,
        spread=Spread(profile.spread.low / wider, profile.spread.high * wider),
        rows=0,
    )


def _pooled(wanted: SpeedKey, fitted: Mapping[SpeedKey, SpeedProfile]) -> SpeedProfile:
    """Return the geometric mean of the same class in other engines of the kind and of the prior."""
    prior = prior_profile(wanted)
    others = [
        profile
        for key, profile in fitted.items()
        if key[1:] == wanted[1:] and is_eager(key.engine) == is_eager(wanted.engine)
    ]
    return prior._replace(
        share=geometric_mean([prior.share, *(each.share for each in others)]),
        layer_s=geometric_mean([prior.layer_s, *(each.layer_s for each in others)]),
    )


def _most_share() -> float:
    return float(constants_table()["speed"]["most_share"])


def is_eager(engine: Engine) -> bool:
    """Whether the processor launches every kernel of every token, while the card reads."""
    return engine in {Engine.TRANSFORMERS, Engine.TRANSFORMERS_2023, Engine.LITGPT}


def prior_profile(key: SpeedKey) -> SpeedProfile:
    """Return what is assumed of a class before any row of it."""
    table = constants_table()["speed"]["prior"]
    prior = table["eager" if is_eager(key.engine) else "compiled"]
    is_narrow = key.weights is not SpeedClass.SIXTEEN
    return SpeedProfile(
        share=table["share"][key.memory.value],
        layer_s=prior["layer_us"] * (prior["narrow_factor"] if is_narrow else 1) * MICROSECOND,
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
