"""JSON that somebody sends, read strictly. How large a body may be is the site's own limit."""

import json
from collections.abc import Mapping
from typing import IO, Any

from rest_framework.parsers import BaseParser

from sizing.bounds import InputError
from sizing.shapes.config_json import MOST_DEPTH


class StrictJSONParser(BaseParser):
    """One object: no field twice, no number that is none, nothing nested without end."""

    media_type = "application/json"

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> dict[str, object]:
        return _object(stream.read())


def _object(content: bytes) -> dict[str, object]:
    try:
        value = json.loads(
            content.decode("utf-8"), object_pairs_hook=_once, parse_constant=_no_constant
        )
    except json.JSONDecodeError as error:
        raise _not_json(line=error.lineno, column=error.colno) from None
    except RecursionError:
        raise _too_deep() from None
    except InputError:
        raise
    except ValueError:  # Not UTF-8, or a number of thousands of digits.
        raise _not_json(line=1, column=1) from None
    if not isinstance(value, dict):
        kind = {"kind": "list" if isinstance(value, list) else "value"}
        raise InputError(field="body", problem="config_not_object", values=kind)
    _refuse_depth(value)
    return value


def _refuse_depth(value: object) -> None:
    """Refuse what nests deeper than a configuration inside an object may."""
    level = [value]
    for _ in range(MOST_DEPTH + 1):
        level = [
            inner
            for each in level
            if isinstance(each, (dict, list))
            for inner in (each.values() if isinstance(each, dict) else each)
        ]
        if not level:
            return
    raise _too_deep()


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found: dict[str, object] = {}
    for name, value in pairs:
        if name in found:
            raise InputError(field=name, problem="config_repeated")
        found[name] = value
    return found


def _no_constant(constant: str) -> float:
    raise InputError(field="body", problem="config_not_finite", values={"given": constant})


def _not_json(*, line: int, column: int) -> InputError:
    values = {"line": line, "column": column}
    return InputError(field="body", problem="config_not_json", values=values)


def _too_deep() -> InputError:
    return InputError(field="body", problem="config_too_deep", values={"most": MOST_DEPTH})
