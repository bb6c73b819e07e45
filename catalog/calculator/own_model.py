"""A model that somebody pastes, uploads or describes: read strictly, and short enough for an address."""

import json
from collections.abc import Mapping
from typing import Final

from django.conf import settings

from catalog.calculator.form import without_grouping
from sizing.bounds import InputError
from sizing.plain.jobs import DIMENSION_FIELDS, NEEDED_DIMENSIONS, model_from
from sizing.shapes.architecture import LanguageModel
from sizing.shapes.config_json import parse_config

# Servers cut addresses at some 4,000 characters; the job's other fields take a few hundred.
MOST_ADDRESS_CHARACTERS: Final = 2_600


def checked_config(text: str) -> str:
    """Return the shortest configuration that describes the same model.

    Raises
    ------
    InputError
        It describes none, or none that an address can hold.
    """
    model = parse_config(text)
    kept = json.loads(text)
    for name in list(kept):
        without = {key: value for key, value in kept.items() if key != name}
        if _is_same(without, model):
            kept = without
    short = json.dumps(kept, separators=(",", ":"), ensure_ascii=False)
    if len(short) > MOST_ADDRESS_CHARACTERS:
        raise too_big()
    return short


def told_dimensions(given: Mapping[str, str]) -> dict[str, str]:
    """Return the dimensions that are told, digits without marks between them."""
    told = {name: without_grouping(given.get(name, "").strip()) for name in DIMENSION_FIELDS}
    return {name: text for name, text in told.items() if text}


def checked_dimensions(given: Mapping[str, str]) -> dict[str, str]:
    """Return the dimensions that are told, as fields of an address.

    Raises
    ------
    InputError
        They describe no model: the field says which of them is missing or wrong.
    """
    told = told_dimensions(given)
    if not told:
        raise InputError(field=NEEDED_DIMENSIONS[0], problem="missing")
    model_from(told)
    return told


def too_big() -> InputError:
    """Return the refusal of a file beyond what any request may hold."""
    most_kb = settings.DATA_UPLOAD_MAX_MEMORY_SIZE // 1000
    return InputError(field="config.json", problem="config_too_big", values={"most": most_kb})


def _is_same(config: dict[str, object], model: LanguageModel) -> bool:
    try:
        return parse_config(json.dumps(config)) == model
    except InputError:
        return False
