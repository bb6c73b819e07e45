"""The sizing engine's refusals in the reader's language: which field, what is wrong, what to try.

The engine knows problems by keys and says them in English; here is the same sentence for each key,
to be translated. Pages call fields by their labels, the API by their own names.
"""

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from django.utils.functional import Promise
from django.utils.translation import get_language
from django.utils.translation import gettext as translated
from django.utils.translation import gettext_lazy as _

from sizing.bounds import InputError

# The figures of these are what somebody gave; others are the engine's words.
_DIGITS: Final = re.compile(r"a number of about (\d+) digits")
# Numbers with more digits are written in groups of three.
_UNGROUPED_BELOW: Final = 10_000

PROBLEM_TEXTS: Final[Mapping[str, Promise]] = MappingProxyType(
    {
        "below_least": _(
            "{field} is {given}, but the least is {least}: give a value from {least} to {most}."
        ),
        "above_most": _(
            "{field} is {given}, but the most is {most}: give a value from {least} to {most}."
        ),
        "not_whole": _(
            "{field} is {given}, not a whole number: give a whole number from {least} to {most}, written with digits only."
        ),
        "not_finite": _(
            "{field} is {given}, not a number one can reckon with: give a number from {least} to {most}."
        ),
        "missing": _("{field} is missing: give it a value."),
        "missing_one": _("{field} is missing: give one of {choices}."),
        "unknown_field": _("{field} is not known here: choose among {choices}."),
        "unknown_field_nearest": _("{field} is not known here: did you mean {nearest}?"),
        "other_task": _(
            "{field} belongs to task {other_given}, not to {given}: change task, or leave {field} out."
        ),
        "two_models": _(
            "{field} and {other} are both given, and each describes the model: keep one of them."
        ),
        "not_flag": _("{field} is {given}: give true or false."),
        "unknown_choice": _("{field} is {given}, which is not known: choose one of {choices}."),
        "unknown_name": _(
            "{field} is {given}, which is not in the table: look the name up in the list."
        ),
        "unknown_name_nearest": _(
            "{field} is {given}, which is not in the table: did you mean {nearest}?"
        ),
        "above_dimension": _(
            "{field} is {given}, but it cannot exceed {dimension}, which is {most}: give at most {most}."
        ),
        "not_dividing": _(
            "{field} is {given}, which does not divide {dimension}, which is {whole}: choose one of {choices}."
        ),
        "not_together": _(
            "{field} is {given}, which does not go with {other} {other_given}: for this {other} choose one of {choices}."
        ),
        "only_with": _(
            "{field} is {given}, which only has a meaning with {other} {choices}: leave {field} out, or change {other}."
        ),
        "not_dividing_both": _(
            "{field} is {given}, which {other} {other_given} does not divide: correct one of them, or give head_dim."
        ),
        "needs_both": _("{field} is given without {other}: give both, or neither."),
        "too_many_parameters": _(
            "{field} describes a model of {given} billion parameters, more than the most, {most}: check the dimensions."
        ),
        "config_empty": _("{field} is empty: paste the content of the model’s config.json."),
        "config_too_big": _(
            "{field} is larger than {most} kB, and no configuration is: give the file config.json, not the weights or the tokenizer."
        ),
        "config_not_utf8": _(
            "{field} is not text in UTF-8: give the file config.json as it was published."
        ),
        "config_address": _("{field} is an address: open it and paste the content of the file."),
        "config_web_page": _(
            "{field} is a web page: use its link to the raw file, and paste that."
        ),
        "config_not_json": _(
            "{field} is not JSON, first at line {line}, column {column}: paste the file from the first brace to the last."
        ),
        "config_not_object": _(
            "{field} is a JSON {kind}, not an object with fields: paste the file from the first brace to the last."
        ),
        "config_too_deep": _(
            "{field} nests its fields more than {most} deep: give the model’s config.json."
        ),
        "config_repeated": _("{field} appears twice: keep one of them."),
        "config_not_finite": _(
            "{field} contains {given}, which is no number: replace it or remove that field."
        ),
        "config_long_number": _("{field} contains a number of {given} digits: correct it."),
        "config_number_as_text": _("{field} is the text {given}: write the number without quotes."),
        "config_not_bool": _("{field} is {given}: give true or false."),
        "config_not_pattern": _(
            "{field} is {given}: give a number, or letters L and G as in LLLG."
        ),
        "config_not_list": _("{field} is {given}: give a list."),
        "config_not_fields": _("{field} is {given}: give an object with fields."),
        "config_wrong_length": _(
            "{field} lists {given} layers, but {other} is {layers}: give one entry for each layer."
        ),
        "config_no_such_layer": _(
            "{field} names the layer {given}: layers are numbered from 0 to {most}."
        ),
        "config_unknown_layer": _(
            "{field} contains {given}, a kind of layer that cannot be counted here: choose a similar model from the list, or describe it by hand."
        ),
        "config_two_values": _(
            "{field} is {given}, but {other} is {other_given}, and both mean the same: keep one."
        ),
        "config_missing": _(
            "{field} is missing (other families spell it {spellings}): add it, or choose the model from the list."
        ),
        "config_missing_one": _("{field} is missing: add it, or choose the model from the list."),
        "config_window_missing": _(
            "{field} says that layers slide, but {other} gives no window: give {other} in tokens."
        ),
        "config_window_off": _(
            "{field} says that layers slide, but {other} is false: correct one of them."
        ),
        "config_experts_off": _(
            "{field} is {given}, but {other} is missing or 0: give the number of experts, or remove {field}."
        ),
        "config_adapter": _(
            "{field} is that of an adapter: give the config.json of the base model."
        ),
        "config_other_file": _("{field} is another file of a model: give its config.json."),
        "config_diffusion": _(
            "{field} is that of a diffusion model: choose images or video instead."
        ),
        "config_encoder": _(
            "model_type is {given}, an encoder that generates no text: give the config.json of a decoder."
        ),
        "config_encoder_decoder": _(
            "model_type is {given}, an encoder with a decoder, which is not counted here: give the config.json of a decoder."
        ),
        "config_vision": _(
            "model_type is {given}, a model for pictures: give the config.json of a language model."
        ),
        "config_sound": _(
            "model_type is {given}, a model for sound: give the config.json of a language model."
        ),
        "config_state_space": _(
            "model_type is {given}, whose layers keep a state that cannot be counted here: choose a similar model from the list, or describe it by hand."
        ),
        "config_other_shape": _(
            "model_type is {given}, whose layers differ in ways that cannot be counted here: choose a similar model from the list, or describe it by hand."
        ),
        "config_unknown_shape": _(
            "{field} is a field of layers that are not known here: choose a similar model from the list, or describe it by hand."
        ),
        "config_unknown_family": _(
            "model_type is {given}, which is not known here, and the file does not tell the form of its MLPs: describe the model by hand."
        ),
        "not_price": _(
            "{field} is {given}: write it as rtx-4090=0.33, or rtx-4090x8=0.30 for eight cards on one server."
        ),
        "file_not_read": _(
            "{field} is {given}, which cannot be read: check the name of the file and who may read it."
        ),
        "not_prices_file": _(
            "{field} cannot be read at line {line}: the first line names the columns slug, gpus and price; each further line gives a card, a number of GPUs (or nothing, for all) and a price."
        ),
        "too_many_together": _(
            "{field} is {given}, but {other} is {other_given}: the product must not exceed {most}; lower one of them."
        ),
    }
)
FIELD_NAMES: Final[Mapping[str, str | Promise]] = MappingProxyType(
    {
        "config": "config.json",
        "task": _("Task"),
        "model": _("Model"),
        "parameters_billions": _("Size in billions of parameters"),
        "layers": _("Number of layers"),
        "hidden": _("Hidden width"),
        "intermediate": _("Width of the MLP"),
        "heads": _("Attention heads"),
        "kv_heads": _("Heads of keys and values"),
        "head_dim": _("Width of a head"),
        "vocabulary": _("Vocabulary"),
        "has_tied_embeddings": _("Head shared with the embedding"),
        "mlp_matrices": _("Matrices of the MLP"),
        "experts": _("Experts"),
        "experts_per_token": _("Experts per token"),
        "expert_intermediate": _("Width of an expert"),
        "shared_experts": _("Shared experts"),
        "first_dense_layers": _("First dense layers"),
        "window_layers": _("Layers with a window"),
        "window_tokens": _("Window, in tokens"),
        "method": _("Method"),
        "profile": _("Framework"),
        "recipe": _("Recipe"),
        "sequence_tokens": _("Sequence length"),
        "micro_batch": _("Micro-batch"),
        "accumulation_steps": _("Gradient accumulation"),
        "lora_rank": _("LoRA rank"),
        "lora_targets": _("LoRA targets"),
        "quantization": _("Frozen weights"),
        "precision": _("Precision"),
        "optimizer": _("Optimizer"),
        "is_fused_step": _("Fused step"),
        "galore_rank": _("GaLore rank"),
        "adapter": _("Adapter"),
        "adapter_precision": _("Precision of the adapters"),
        "has_lora_dropout": _("LoRA dropout"),
        "is_packed": _("Packed texts"),
        "longest_percent": _("Longest batch, in percent"),
        "checkpointing": _("Checkpointing"),
        "attention": _("Attention"),
        "loss": _("Loss"),
        "is_compiled": _("Compiled model"),
        "gpus": _("Number of GPUs"),
        "sharding": _("Sharding"),
        "tensor_parallel": _("Tensor parallelism"),
        "pipeline_parallel": _("Pipeline parallelism"),
        "offload": _("Offload"),
        "counted": _("Memory counted"),
        "training_tokens": _("Tokens to train on"),
        "weight_format": _("Weights"),
        "context_tokens": _("Context of a request"),
        "concurrency": _("Requests at once"),
        "kv_format": _("Keys and values"),
        "engine": _("Engine"),
        "output_tokens": _("Tokens of the answer"),
        "prefill_chunk_tokens": _("Tokens per step of the prompt"),
        "split": _("Split over cards"),
        "cache": _("Room for keys and values"),
        "utilization_percent": _("Share of the card, in percent"),
        "generated_tokens": _("Tokens to generate"),
        "diffusion_model": _("Model"),
        "bits": _("Weights"),
        "width_px": _("Width, pixels"),
        "height_px": _("Height, pixels"),
        "frames": _("Frames of a clip"),
        "items": _("Pictures or clips"),
        "scene_gb": _("Scene in memory, GB"),
        "render_engine": _("Renderer"),
        "million_samples": _("Millions of samples"),
        "atoms": _("Atoms, for molecular dynamics"),
        "code": _("Measured code"),
        "work": _("Work to do"),
        "card": _("Card"),
        "price": _("Price"),
        "prices": _("Prices"),
        "currency": _("Currency"),
        "top": _("First rows"),
    }
)
# What the engine's figures may say in words.
_WORDS: Final[Mapping[str, str | Promise]] = MappingProxyType(
    {
        "an object": _("an object"),
        "no number": _("no number"),
        "list": _("list"),
        "value": _("value"),
        "each target once": _("each target once"),
        "the number of cards": _("the number of cards"),
        "the number of heads": _("the number of heads"),
        "the number of attention heads": _("the number of attention heads"),
        "the number of layers": _("the number of layers"),
        "the narrowest width of the model": _("the narrowest width of the model"),
        "the hidden width": _("the hidden width"),
        "the model's context": _("the model’s context"),
    }
)
_FIELD_VALUES: Final = ("other", "dimension")
_GIVEN_VALUES: Final = ("given", "other_given")


def field_name(field: str) -> str:
    """Return a field's label; what has none, such as a field of a file, keeps its own name."""
    return str(FIELD_NAMES.get(field, field))


def problem_text(error: InputError) -> str:
    """Return a refusal for a page: fields by their labels, numbers in groups."""
    return _sentence(error, name=field_name, number=_grouped)


def plain_problem_text(error: InputError) -> str:
    """Return a refusal for a program's author: fields and numbers as they are sent."""
    return _sentence(error, name=str, number=str)


def _sentence(
    error: InputError, *, name: Callable[[str], str], number: Callable[[int], str]
) -> str:
    values = {
        key: _value(key, value, name=name, number=number) for key, value in error.values.items()
    }
    return str(PROBLEM_TEXTS[error.problem]).format(field=name(error.field), **values)


def _value(
    key: str, value: object, *, name: Callable[[str], str], number: Callable[[int], str]
) -> str:
    if isinstance(value, int):
        return number(value)
    text = str(value)
    if key in _GIVEN_VALUES and text.startswith("“"):
        return _quoted(text[1:-1])
    if text in _WORDS:
        return str(_WORDS[text])
    if key in _FIELD_VALUES:
        return name(text)
    return _DIGITS.sub(lambda found: _of_digits(found[1]), text)


def _of_digits(digits: str) -> str:
    return translated("a number of about {digits} digits").format(digits=digits)


def _quoted(text: str) -> str:
    return translated("“{text}”").format(text=text)


def _grouped(value: int) -> str:
    if abs(value) < _UNGROUPED_BELOW:
        return str(value)
    separator = "\u202f" if get_language() == "fr" else ","
    return f"{value:,}".replace(",", separator)
