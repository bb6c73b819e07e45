"""A model that somebody pastes or uploads: read strictly, and made short enough for an address."""

import json
from typing import Final

from django.conf import settings

from sizing.bounds import InputError
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


def too_big() -> InputError:
    """Return the refusal of a file beyond what any request may hold."""
    most_kb = settings.DATA_UPLOAD_MAX_MEMORY_SIZE // 1000
    return InputError(field="config.json", problem="config_too_big", values={"most": most_kb})


def _is_same(config: dict[str, object], model: LanguageModel) -> bool:
    try:
        return parse_config(json.dumps(config)) == model
    except InputError:
        return False
