"""Values as people and programs write them: text of an address, or JSON. Read strictly.

A reader takes the field's name and what was given, and returns the value or raises `InputError`.
Text and JSON mean the same: "16" and 16, "true" and true.
"""

import re
from collections.abc import Iterable
from enum import StrEnum
from typing import Final, TypeVar

from sizing.bounds import BOUNDS, InputError, check_value
from sizing.nearest import nearest

_WHOLE: Final = re.compile(r"[+-]?[0-9]+")
_NUMBER: Final = re.compile(r"[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)")
_TRUE: Final = frozenset({"true", "yes", "on", "1"})
_FALSE: Final = frozenset({"false", "no", "off", "0"})

_Choice = TypeVar("_Choice", bound=StrEnum)


def is_given(value: object) -> bool:
    """Say whether somebody gave a value: an empty text and JSON's null leave the field out."""
    return value is not None and not (isinstance(value, str) and not value.strip())


def read_whole(field: str, value: object, *, bounds: str = "") -> int:
    """Return a whole number within its named bounds; ``bounds`` where the field has none."""
    limits = BOUNDS[bounds or field]
    number = value
    if isinstance(value, str) and _WHOLE.fullmatch(value.strip()):
        try:
            number = int(value.strip())
        except ValueError:  # More digits than Python turns into a number.
            number = value
    check_value(field=field, value=number, bounds=limits)
    assert isinstance(number, int)
    return number


def read_number(field: str, value: object) -> float:
    """Return a number within its named bounds, with or without decimals."""
    number = value
    if isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
        number = float(value.strip())
    check_value(field=field, value=number, bounds=BOUNDS[field])
    assert isinstance(number, (int, float))
    return number


def read_flag(field: str, value: object) -> bool:
    text = str(value).strip().lower() if isinstance(value, (str, bool, int)) else ""
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    raise InputError(field=field, problem="not_flag", values={"given": value})


def read_choice(field: str, value: object, kind: type[_Choice]) -> _Choice:
    """Return the member that is written so."""
    wanted = value.strip().lower() if isinstance(value, str) else value
    for each in kind:
        if each.value == wanted:
            return each
    raise unknown_choice(field, value, tuple(each.value for each in kind))


def unknown_choice(field: str, given: object, choices: Iterable[str]) -> InputError:
    values = {"given": given, "choices": tuple(choices)}
    return InputError(field=field, problem="unknown_choice", values=values)


def unknown_name(field: str, given: object, known: Iterable[str]) -> InputError:
    """Return the refusal of a name that a long table lacks, with the nearest ones."""
    near = nearest(given, known=known) if isinstance(given, str) else ()
    if near:
        values = {"given": given, "nearest": near}
        return InputError(field=field, problem="unknown_name_nearest", values=values)
    return InputError(field=field, problem="unknown_name", values={"given": given})
