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
# More choices than this are a list to look up, not a sentence.
MOST_SHOWN_CHOICES: Final = 40

# Values that somebody gave; the others are the engine's own words and names.
_GIVEN: Final = ("given", "other_given")
_KINDS: Final[Mapping[type, str]] = {type(None): "null", dict: "an object"}

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
        "missing_one": "{field} is missing: give one of {choices}.",
        "unknown_field": "{field} is not known here: choose among {choices}.",
        "unknown_field_nearest": "{field} is not known here: did you mean {nearest}?",
        "other_task": "{field} belongs to task {other_given}, not to {given}: change task, or "
        "leave {field} out.",
        "two_models": "{field} and {other} are both given, and each describes the model: keep one "
        "of them.",
        "not_flag": "{field} is {given}: give true or false.",
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
        "not_dividing_both": "{field} is {given}, which {other} {other_given} does not divide: "
        "correct one of them, or give head_dim.",
        "needs_both": "{field} is given without {other}: give both, or neither.",
        "too_many_parameters": "{field} describes a model of {given} billion parameters, more than "
        "the most, {most}: check the dimensions.",
        # A pasted or uploaded configuration.
        "config_empty": "{field} is empty: paste the content of the model's config.json.",
        "config_too_big": "{field} is larger than {most} kB, and no configuration is: give the "
        "file config.json, not the weights or the tokenizer.",
        "config_not_utf8": "{field} is not text in UTF-8: give the file config.json as it was "
        "published.",
        "config_address": "{field} is an address: open it and paste the content of the file.",
        "config_web_page": "{field} is a web page: use its link to the raw file, and paste that.",
        "config_not_json": "{field} is not JSON, first at line {line}, column {column}: paste the "
        "file from the first brace to the last.",
        "config_not_object": "{field} is a JSON {kind}, not an object with fields: paste the file "
        "from the first brace to the last.",
        "config_too_deep": "{field} nests its fields more than {most} deep: give the model's "
        "config.json.",
        "config_repeated": "{field} appears twice: keep one of them.",
        "config_not_finite": "{field} contains {given}, which is no number: replace it or remove "
        "that field.",
        "config_long_number": "{field} contains a number of {given} digits: correct it.",
        "config_number_as_text": "{field} is the text {given}: write the number without quotes.",
        "config_not_bool": "{field} is {given}: give true or false.",
        "config_not_pattern": "{field} is {given}: give a number, or letters L and G as in LLLG.",
        "config_not_list": "{field} is {given}: give a list.",
        "config_not_fields": "{field} is {given}: give an object with fields.",
        "config_wrong_length": "{field} lists {given} layers, but {other} is {layers}: give one "
        "entry for each layer.",
        "config_no_such_layer": "{field} names the layer {given}: layers are numbered from 0 to "
        "{most}.",
        "config_unknown_layer": "{field} contains {given}, a kind of layer that cannot be counted "
        "here: choose a similar model from the list, or describe it by hand.",
        "config_two_values": "{field} is {given}, but {other} is {other_given}, and both mean the "
        "same: keep one.",
        "config_missing": "{field} is missing (other families spell it {spellings}): add it, or "
        "choose the model from the list.",
        "config_missing_one": "{field} is missing: add it, or choose the model from the list.",
        "config_window_missing": "{field} says that layers slide, but {other} gives no window: "
        "give {other} in tokens.",
        "config_window_off": "{field} says that layers slide, but {other} is false: correct one "
        "of them.",
        "config_experts_off": "{field} is {given}, but {other} is missing or 0: give the number of "
        "experts, or remove {field}.",
        "config_adapter": "{field} is that of an adapter: give the config.json of the base model.",
        "config_other_file": "{field} is another file of a model: give its config.json.",
        "config_diffusion": "{field} is that of a diffusion model: choose images or video instead.",
        "config_encoder": "model_type is {given}, an encoder that generates no text: give the "
        "config.json of a decoder.",
        "config_encoder_decoder": "model_type is {given}, an encoder with a decoder, which is not "
        "counted here: give the config.json of a decoder.",
        "config_vision": "model_type is {given}, a model for pictures: give the config.json of a "
        "language model.",
        "config_sound": "model_type is {given}, a model for sound: give the config.json of a "
        "language model.",
        "config_state_space": "model_type is {given}, whose layers keep a state that cannot be "
        "counted here: choose a similar model from the list, or describe it by hand.",
        "config_other_shape": "model_type is {given}, whose layers differ in ways that cannot be "
        "counted here: choose a similar model from the list, or describe it by hand.",
        "config_unknown_shape": "{field} is a field of layers that are not known here: choose a "
        "similar model from the list, or describe it by hand.",
        "config_unknown_family": "model_type is {given}, which is not known here, and the file "
        "does not tell the form of its MLPs: describe the model by hand.",
        "not_price": "{field} is {given}: write it as rtx-4090=0.33, or rtx-4090x8=0.30 for eight "
        "cards on one server.",
        "file_not_read": "{field} is {given}, which cannot be read: check the name of the file and "
        "who may read it.",
        "not_prices_file": "{field} cannot be read at line {line}: the first line names the columns "
        "slug, gpus and price; each further line gives a card, a number of GPUs (or nothing, for "
        "all) and a price.",
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
        shown = {name: _shown(name, value) for name, value in (values or {}).items()}
        # A field of a file may have any name.
        self.field = str(printable(field))
        self.problem = problem
        self.values: Mapping[str, object] = MappingProxyType(shown)
        self._told = values
        super().__init__(PROBLEMS[problem].format(field=self.field, **shown))

    def named(self, field: str) -> "InputError":
        """Return the same refusal of a field that has another name where its value came from."""
        return InputError(field=field, problem=self.problem, values=self._told)


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
        "dense_intermediate": Bounds(16, 1_048_576),
        "shared_intermediate": Bounds(16, 1_048_576),
        "linear_heads": Bounds(1, 1_024),
        "linear_head_dim": Bounds(1, 4_096),
        "conv_kernel": Bounds(1, 64),
        "layer_interval": Bounds(1, 1_024),
        "window_layers": Bounds(0, 1_024),
        "window_tokens": Bounds(1, 16_777_216),
        "max_context": Bounds(1, 134_217_728),
        "parameters_billions": Bounds(0.1, 20_000, is_whole=False),
        # Training.
        "sequence_tokens": Bounds(1, 2_097_152),
        "micro_batch": Bounds(1, 65_536),
        "accumulation_steps": Bounds(1, 65_536),
        "lora_rank": Bounds(1, 65_536),
        "galore_rank": Bounds(1, 65_536),
        "training_tokens": Bounds(1, 10**15),
        "generated_tokens": Bounds(1, 10**15),
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
        "longest_percent": Bounds(1, 100),
        # Pictures, clips, scenes, simulations.
        "width_px": Bounds(16, 32_768),
        "height_px": Bounds(16, 32_768),
        "frames": Bounds(1, 100_000),
        "batch": Bounds(1, 4_096),
        "samples": Bounds(1, 1_000_000),
        "million_samples": Bounds(1, 10**9),
        "scene_bytes": Bounds(1, 10**13),
        "scene_gb": Bounds(1, 10_000, is_whole=False),
        "items": Bounds(1, 10**9),
        "work": Bounds(1, 10**12),
        "triangles_millions": Bounds(0, 1_000_000, is_whole=False),
        "atoms": Bounds(1, 10**12),
        "cells": Bounds(1, 10**15),
        # Cards that somebody describes, and what they cost.
        "memory_gb": Bounds(1, 10_000, is_whole=False),
        "bandwidth_gb_per_s": Bounds(1, 1_000_000, is_whole=False),
        "budget_minor": Bounds(1, 10**12),
        "hours": Bounds(1, 1_000_000),
        # Rows of a ranking.
        "top": Bounds(1, 10_000),
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
        check_value(field=field, value=value, bounds=BOUNDS[field])


def check_value(*, field: str, value: object, bounds: Bounds) -> None:
    """Refuse a value that is no number of its kind or outside ``bounds``, as `check_bounds`."""
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


def check_at_most(*, field: str, value: int, dimension: str, most: int) -> None:
    """Refuse a value above a dimension of the model, such as a rank above the width."""
    if value > most:
        values = {"given": value, "dimension": dimension, "most": most}
        raise InputError(field=field, problem="above_dimension", values=values)


def check_divides(*, field: str, value: int, dimension: str, whole: int) -> None:
    """Refuse a value that does not divide a dimension, such as cards that share heads."""
    if whole % value:
        choices = [each for each in range(1, whole + 1) if whole % each == 0]
        values = {"given": value, "dimension": dimension, "whole": whole, "choices": choices}
        raise InputError(field=field, problem="not_dividing", values=values)


def printable(value: object) -> int | float | str:
    """Return a value as a sentence may repeat it: short, on one line, never a broken character."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, int):
        return value if abs(value) < 10**MOST_SHOWN_DIGITS else _digits(value)
    if isinstance(value, (tuple, frozenset, list)):
        return ", ".join(str(printable(each)) for each in tuple(value)[:MOST_SHOWN_CHOICES])
    return _text(value) if isinstance(value, str) else _KINDS.get(type(value), "no number")


def _shown(name: str, value: object) -> int | float | str:
    """Quote what somebody wrote, not the words of the engine."""
    shown = printable(value)
    return f"“{shown}”" if name in _GIVEN and isinstance(value, str) else shown


def _digits(value: int) -> str:
    """Tell a huge number by its length; writing it out is slow, and forbidden past a length."""
    return f"a number of about {int(value.bit_length() * math.log10(2)) + 1} digits"


def _text(text: str) -> str:
    kept = "".join(each if each.isprintable() else "?" for each in text[:MOST_SHOWN_CHARACTERS])
    return kept + "…" if len(text) > MOST_SHOWN_CHARACTERS else kept
