"""The script for one job, as one file to take to any machine."""

import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any, Final

_PLACE: Final = 'EMBEDDED_JOB = ""\n'


def script_text(job: Mapping[str, Any] | None = None) -> str:
    """Return the script's source, with the job in it where one is given."""
    source = files("sizing.measure").joinpath("on_card.py").read_text(encoding="utf-8")
    if job is None:
        return source
    assert source.count(_PLACE) == 1
    # The representation of a string is a literal whatever stands in it.
    return source.replace(_PLACE, f"EMBEDDED_JOB = {json.dumps(dict(job), sort_keys=True)!r}\n")
