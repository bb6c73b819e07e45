"""Bad input: one error for every part of the engine, named bounds, and what to try instead.

A value that cannot be meant raises `InputError`; it never becomes a number. The error carries a
stable key and the figures, so that a page says it in its own language; ``str(error)`` is the same
in English: which field, what is wrong with the given value, what to try.
"""

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

# Longer texts than this are cut where an error repeats them: a sentence, not the whole file.
MOST_SHOWN_CHARACTERS: Final = 60
# Larger whole numbers are told by their number of digits.
MOST_SHOWN_DIGITS: Final = 21

# Every problem by its key, as one whole sentence with named placeholders. Pages translate them.
PROBLEMS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "below_least": "{field} is {given}, but the least is {least}: give a value from {least} "
        "to {most}.",
        "above_most": "{field} is {given}, but the most is {most}: give a value from {least} "
        "to {most}.",
        "not_whole": "{field} is {given}, not a whole number: give a whole number from {least} "
        "to {most}, written with digits only.",
        "not_finite": "{field} is {given}, not a number one can reckon with: give a number from "
        "{least} to {most}.",
        "missing": "{field} is missing: give it a value.",
        "unknown_choice": "{field} is {given}, which is not known: choose one of {choices}.",
        "unknown_name": "{field} is {given}, which is not in the table: look the name up in the "
        "list.",
        "unknown_name_nearest": "{field} is {given}, which is not in the table: did you mean "
        "{nearest}?",
        "above_dimension": "{field} is {given}, but it cannot exceed {dimension}, which is {most}: "
        "give at most {most}.",
        "not_dividing": "{field} is {given}, which does not divide {dimension}, which is {whole}: "
        "choose one of {choices}.",
        "not_together": "{field} is {given}, which does not go with {other} {other_given}: for "
        "this {other} choose one of {choices}.",
        "only_with": "{field} is {given}, which only has a meaning with {other} {choices}: leave "
        "{field} out, or change {other}.",
        "too_many_together": "{field} is {given}, but {other} is {other_given}: the product must "
        "not exceed {most}; lower one of them.",
    }
)


class InputError(ValueError):
    """A value that no estimate can be made from.

    ``field`` is the argument's name as forms, the API and the command line call it. ``problem``
    is a key of `PROBLEMS`; ``values`` fill its placeholders, safe to show.
    """

    def __init__(
        self, *, field: str, problem: str, values: Mapping[str, object] | None = None
    ) -> None:
        shown = {name: printable(value) for name, value in (values or {}).items()}
        self.field = field
        self.problem = problem
        self.values: Mapping[str, object] = MappingProxyType(shown)
        super().__init__(PROBLEMS[problem].format(field=field, **shown))


class Bounds(NamedTuple):
    """The least and the most that a field may be, both allowed."""

    least: int | float
    most: int | float
    is_whole: bool = True


# Named bounds. The most is far above anything that exists and low enough that products of several
# fields still mean something. Fields without a unit in their name are counts.
BOUNDS: Final[Mapping[str, Bounds]] = MappingProxyType(
    {
        # The shape of a model: the largest published ones are within a tenth of these.
        "layers": Bounds(1, 1_024),
        "hidden": Bounds(16, 131_072),
        "intermediate": Bounds(16, 1_048_576),
        "heads": Bounds(1, 1_024),
        "kv_heads": Bounds(1, 1_024),
        "head_dim": Bounds(1, 4_096),
        "vocabulary": Bounds(2, 4_194_304),
        "mlp_matrices": Bounds(2, 3),
        "experts": Bounds(2, 4_096),
        "experts_per_token": Bounds(1, 4_096),
        "shared_experts": Bounds(0, 256),
        "expert_intermediate": Bounds(16, 1_048_576),
        "first_dense_layers": Bounds(0, 1_024),
        "kv_lora_rank": Bounds(1, 65_536),
        "q_lora_rank": Bounds(0, 65_536),
        "qk_nope_dim": Bounds(0, 4_096),
        "qk_rope_dim": Bounds(0, 4_096),
        "v_head_dim": Bounds(1, 4_096),
        "window_tokens": Bounds(1, 16_777_216),
        "max_context": Bounds(1, 134_217_728),
        "parameters_billions": Bounds(0.001, 20_000, is_whole=False),
        # Training.
        "sequence_tokens": Bounds(1, 2_097_152),
        "micro_batch": Bounds(1, 65_536),
        "accumulation_steps": Bounds(1, 65_536),
        "lora_rank": Bounds(1, 65_536),
        "galore_rank": Bounds(1, 65_536),
        "training_tokens": Bounds(1, 10**15),
        "epochs": Bounds(1, 10_000),
        "steps": Bounds(1, 10**9),
        # How cards share the work.
        "gpus": Bounds(1, 4_096),
        "data_parallel": Bounds(1, 4_096),
        "tensor_parallel": Bounds(1, 64),
        "pipeline_parallel": Bounds(1, 128),
        # Inference.
        "context_tokens": Bounds(1, 16_777_216),
        "prompt_tokens": Bounds(1, 16_777_216),
        "output_tokens": Bounds(1, 16_777_216),
        "concurrency": Bounds(1, 65_536),
        "prefill_chunk_tokens": Bounds(1, 1_048_576),
        "utilization_percent": Bounds(1, 100),
        # Pictures, clips, scenes, simulations.
        "width_px": Bounds(16, 32_768),
        "height_px": Bounds(16, 32_768),
        "frames": Bounds(1, 100_000),
        "batch": Bounds(1, 4_096),
        "samples": Bounds(1, 1_000_000),
        "triangles_millions": Bounds(0, 1_000_000, is_whole=False),
        "atoms": Bounds(1, 10**12),
        "cells": Bounds(1, 10**15),
        # Cards that somebody describes, and what they cost.
        "memory_gb": Bounds(1, 10_000, is_whole=False),
        "bandwidth_gb_per_s": Bounds(1, 1_000_000, is_whole=False),
        "budget_minor": Bounds(1, 10**12),
        "hours": Bounds(1, 1_000_000),
    }
)


def check_bounds(**fields: object) -> None:
    """Refuse the first field that is no number of its kind or outside its bounds.

    Whole fields take ``int`` only: neither ``True`` nor ``"4"`` nor ``4.0`` is one.

    Raises
    ------
    InputError
        With the field, what is wrong, and the bounds.
    """
    for field, value in fields.items():
        _check(field, value, BOUNDS[field])


def _check(field: str, value: object, bounds: Bounds) -> None:
    kinds = int if bounds.is_whole else (int, float)
    values = {"given": value, "least": bounds.least, "most": bounds.most}
    if value is None:
        raise InputError(field=field, problem="missing")
    if isinstance(value, bool) or not isinstance(value, kinds):
        problem = "not_whole" if bounds.is_whole else "not_finite"
        raise InputError(field=field, problem=problem, values=values)
    if isinstance(value, float) and not math.isfinite(value):
        raise InputError(field=field, problem="not_finite", values=values)
    if value < bounds.least:
        raise InputError(field=field, problem="below_least", values=values)
    if value > bounds.most:
        raise InputError(field=field, problem="above_most", values=values)


def printable(value: object) -> int | float | str:
    """Return a value as a sentence may repeat it: short, on one line, never a broken character."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, int):
        return value if abs(value) < 10**MOST_SHOWN_DIGITS else _digits(value)
    if isinstance(value, (tuple, list)):
        return ", ".join(str(printable(each)) for each in value)
    return _text(value) if isinstance(value, str) else type(value).__name__


def _digits(value: int) -> str:
    """Tell a huge number by its length; writing it out is slow, and forbidden past a length."""
    return f"a number of about {int(value.bit_length() * math.log10(2)) + 1} digits"


def _text(text: str) -> str:
    kept = "".join(each if each.isprintable() else "?" for each in text[:MOST_SHOWN_CHARACTERS])
    return f"“{kept}…”" if len(text) > MOST_SHOWN_CHARACTERS else f"“{kept}”"
