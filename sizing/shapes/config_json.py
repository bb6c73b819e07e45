"""A model from its ``config.json``, pasted or uploaded: parsed strictly, or refused in a sentence.

Nothing is guessed from a name. What a file leaves out because its family's class has a default is
taken from ``tables/config_families.csv``, and said in ``assumptions``. Sizes are elements. Error:
parameters within 0.1 % of the published weights for decoders from a hundred million parameters up.
Left out: see `sizing.shapes.architecture`. A shape that cannot be counted is an `InputError`.
"""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from sizing.bounds import InputError, printable
from sizing.shapes.architecture import LanguageModel
from sizing.shapes.assumptions import Assumption, in_english
from sizing.shapes.config_families import Family, Kind, all_families, unknown_family
from sizing.shapes.config_fields import Fields
from sizing.shapes.config_shape import described_model

# Published configurations are 1 to 60 kB; those with a list of quantized layers reach some 300 kB.
MOST_CONFIG_BYTES: Final = 1_000_000
# Published configurations nest 5 deep at most.
MOST_DEPTH: Final = 32
# No field counts more than a few hundred billion.
MOST_NUMBER_DIGITS: Final = 400

# Where models for pictures or sound keep their decoder of text.
_TEXT_PARTS: Final = ("text_config", "llm_config", "language_config", "thinker_config")
_OTHER_PARTS: Final = ("vision_config", "audio_config", "vision_tower", "speech_config")
# Fields that tell another file of a model, or another kind of model.
_OTHER_FILES: Final[Mapping[str, str]] = {
    "peft_type": "config_adapter",
    "_diffusers_version": "config_diffusion",
    "weight_map": "config_other_file",
    "tokenizer_class": "config_other_file",
    "added_tokens": "config_other_file",
    "bits": "config_other_file",
    "chat_template": "config_other_file",
}
_GATED_ACTIVATIONS: Final = ("silu", "swish")
# Fields of layers that an unknown family may have and that change what there is to count.
_UNKNOWN_SHAPE: Final = re.compile(
    r"mamba|ssm|rwkv|conv|recurrent|altup|per_layer|block_configs|cross_attention|index_topk"
    r"|lightning|linear_|residual_moe|kv_shared|global_head|attn_type|hybrid|d_state|engram"
)
_FURTHER_TOKENS: Final = ("num_nextn_predict_layers", "mtp_num_hidden_layers")


def parse_config(text: str | bytes, *, name: str = "") -> LanguageModel:
    """Return the model that a configuration describes.

    Parameters
    ----------
    text
        The content of ``config.json``; bytes are UTF-8.
    name
        What to call the model; empty takes the name in the file, or its family's.

    Raises
    ------
    InputError
        The file is not a configuration, or not of a decoder that can be counted; or a field is
        missing, of the wrong kind, out of bounds, or contradicts another.
    """
    whole = _object(_text(text))
    _refuse_other_files(whole)
    config = _decoder_of_text(whole)
    family = _family(config)
    model = described_model(config, family)
    assumptions = (*model.assumptions, *_notes(whole, config))
    return replace(
        model,
        name=_name(name or _said(whole, "_name_or_path") or family.model_type or "config.json"),
        source="config.json",
        note=in_english(assumptions),
        assumptions=assumptions,
    )


def _text(text: str | bytes) -> str:
    if len(text) > MOST_CONFIG_BYTES:
        raise _refusal("config_too_big", most=MOST_CONFIG_BYTES // 1000)
    if isinstance(text, bytes):
        try:
            text = text.decode("utf-8")
        except UnicodeDecodeError:
            raise _refusal("config_not_utf8") from None
    text = text.removeprefix("\ufeff").strip()
    if not text:
        raise _refusal("config_empty")
    if text.startswith(("http://", "https://")):
        raise _refusal("config_address")
    if text.startswith("<"):
        raise _refusal("config_web_page")
    return text


def _object(text: str) -> dict[str, object]:
    try:
        value = json.loads(
            text,
            object_pairs_hook=_without_repeats,
            parse_constant=_no_constant,
            parse_float=_finite,
            parse_int=_short,
        )
    except json.JSONDecodeError as error:
        raise _refusal("config_not_json", line=error.lineno, column=error.colno) from None
    except RecursionError:
        raise _refusal("config_too_deep", most=MOST_DEPTH) from None
    if not isinstance(value, dict):
        raise _refusal("config_not_object", kind="list" if isinstance(value, list) else "value")
    _refuse_depth(value)
    return value


def _without_repeats(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found: dict[str, object] = {}
    for key, value in pairs:
        if key in found:
            raise InputError(field=key, problem="config_repeated")
        found[key] = value
    return found


def _no_constant(constant: str) -> float:
    raise _refusal("config_not_finite", given=constant)


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise _refusal("config_not_finite", given=digits)
    return value


def _short(digits: str) -> int:
    if len(digits) > MOST_NUMBER_DIGITS:
        raise _refusal("config_long_number", given=len(digits))
    return int(digits)


def _refuse_depth(value: object) -> None:
    level = [value]
    for _ in range(MOST_DEPTH):
        level = [
            inner
            for each in level
            if isinstance(each, (dict, list))
            for inner in (each.values() if isinstance(each, dict) else each)
        ]
        if not level:
            return
    raise _refusal("config_too_deep", most=MOST_DEPTH)


def _refuse_other_files(whole: Mapping[str, object]) -> None:
    is_model = any(key in whole for key in ("model_type", "architectures", "hidden_size"))
    for key, problem in _OTHER_FILES.items():
        if key in whole and not (is_model and problem == "config_other_file"):
            raise _refusal(problem)


def _decoder_of_text(whole: dict[str, object]) -> dict[str, object]:
    """Return the part of the file that describes the decoder, wherever it is nested."""
    config, outside = whole, whole.get("tie_word_embeddings")
    # Twice: models for pictures and sound nest the decoder in a part that thinks.
    for part in (*_TEXT_PARTS, *_TEXT_PARTS):
        inner = config.get(part)
        if inner is None:
            continue
        if not isinstance(inner, dict):
            raise InputError(field=part, problem="config_not_fields", values={"given": inner})
        config = inner
    if outside is not None and config.get("tie_word_embeddings") is None:
        return {**config, "tie_word_embeddings": outside}
    return config


def _family(config: dict[str, object]) -> Family:
    model_type = _said(config, "model_type")
    family = all_families().get(model_type)
    if Fields(config).flag("is_encoder_decoder"):
        raise _refused_family("encoder_decoder", model_type)
    if family is None:
        return _unknown_family(config, model_type)
    if family.kind is not Kind.DECODER:
        raise _refused_family(family.kind, model_type)
    return family


def _unknown_family(config: dict[str, object], model_type: str) -> Family:
    strange = next((key for key in config if _UNKNOWN_SHAPE.search(key)), None)
    if strange is not None:
        raise InputError(field=strange, problem="config_unknown_shape")
    architectures = config.get("architectures")
    if isinstance(architectures, list) and any("MaskedLM" in str(each) for each in architectures):
        raise _refused_family("encoder", model_type)
    fields = Fields(config)
    for meaning in ("layers", "hidden", "heads", "vocabulary"):
        fields.needed(meaning)
    if config.get("hidden_act") not in _GATED_ACTIVATIONS:
        values = {"given": model_type}
        raise InputError(field="model_type", problem="config_unknown_family", values=values)
    return unknown_family(model_type)


def _notes(whole: Mapping[str, object], config: Mapping[str, object]) -> list[Assumption]:
    """Say what the file has that is not counted."""
    notes = []
    if config is not whole and any(part in whole for part in _OTHER_PARTS):
        notes.append(Assumption("only_text"))
    if any(config.get(name) not in (None, 0, False) for name in _FURTHER_TOKENS):
        notes.append(Assumption("further_tokens_left_out"))
    quantized = whole.get("quantization_config") or config.get("quantization_config")
    if isinstance(quantized, dict):
        method = str(printable(_said(quantized, "quant_method") or "?"))
        notes.append(Assumption("published_quantized", (("method", method),)))
    return notes


def _name(name: str) -> str:
    shown = " ".join(str(printable(name)).split())
    return shown or "config.json"


def _said(config: Mapping[str, object], key: str) -> str:
    """Return a text that shapes nothing; whatever else stands there says nothing."""
    value = config.get(key)
    return value if isinstance(value, str) else ""


def _refusal(problem: str, **values: object) -> InputError:
    return InputError(field="config.json", problem=problem, values=values)


def _refused_family(kind: str, model_type: str) -> InputError:
    values = {"given": model_type}
    return InputError(field="model_type", problem=f"config_{kind}", values=values)
