"""Form-encoded parameters with Stripe's brackets: decoding and validation."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl

from billing.gateways.stripe_double.errors import (
    ApiError,
    bad_parameter,
    parameter_missing,
)

# Stripe's own bounds are not published; our calls send about thirty fields, three deep.
FIELDS_AT_MOST = 300
DEPTH_AT_MOST = 6

METADATA_KEYS_AT_MOST = 50
METADATA_KEY_CHARACTERS_AT_MOST = 40
METADATA_VALUE_CHARACTERS_AT_MOST = 500


def decode(text: str) -> dict[str, Any]:
    """Turn ``a[b][0]=c`` pairs into nested dictionaries and lists.

    Raises
    ------
    ApiError
        Too many fields, too deep, or a key that is both a value and a container.
    """
    try:
        pairs = parse_qsl(
            text, keep_blank_values=True, max_num_fields=FIELDS_AT_MOST, errors="strict"
        )
    except ValueError as broken:
        raise ApiError("Invalid request: the body is not form data.", is_recorded=False) from broken
    tree: dict[str, Any] = {}
    for key, value in pairs:
        _place(tree, _path(key), value)
    return {key: _listed(value) for key, value in tree.items()}


def _path(key: str) -> list[str]:
    parts = key.replace("]", "").split("[")
    if len(parts) > DEPTH_AT_MOST or not parts[0]:
        raise bad_parameter(f"Invalid parameter name: {key}", param=key)
    return parts


def _place(tree: dict[str, Any], path: list[str], value: str) -> None:
    node = tree
    for part in path[:-1]:
        child = node.setdefault(part or str(len(node)), {})
        if not isinstance(child, dict):
            raise bad_parameter("Invalid hash", param=path[0])
        node = child
    node[path[-1] or str(len(node))] = value


def _listed(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    children = {key: _listed(child) for key, child in value.items()}
    if children and all(key.isdigit() for key in children):
        return [children[key] for key in sorted(children, key=int)]
    return children


class Params:
    """Decoded parameters of one request, read by name and checked as they are read."""

    def __init__(self, values: Mapping[str, Any], *, known: frozenset[str]) -> None:
        for name in values:
            if name not in known and name != "expand":
                raise bad_parameter(
                    f"Received unknown parameter: {name}", param=name, code="parameter_unknown"
                )
        self._values = values

    def raw(self, name: str) -> Any:
        """Return whatever was sent under a name that takes more than one shape."""
        return self._values.get(name)

    def text(self, name: str) -> str | None:
        """Return a string, or None when it is absent; empty is refused, as Stripe does."""
        value = self._values.get(name)
        if value is None:
            return None
        if not isinstance(value, str):
            raise bad_parameter("Invalid string", param=name)
        if not value:
            raise bad_parameter(
                f"You passed an empty string for '{name}'.",
                param=name,
                code="parameter_invalid_empty",
            )
        return value

    def required(self, name: str) -> str:
        """Return a string that must be there."""
        value = self.text(name)
        if value is None:
            raise parameter_missing(name)
        return value

    def one_of(self, name: str, choices: frozenset[str]) -> str | None:
        """Return one of Stripe's listed words, or None when it is absent."""
        value = self.text(name)
        if value is not None and value not in choices:
            listed = ", ".join(sorted(choices))
            raise bad_parameter(f"Invalid {name}: must be one of {listed}", param=name)
        return value

    def integer(self, name: str) -> int | None:
        """Return a whole number, or None when it is absent."""
        value = self.text(name)
        if value is None:
            return None
        return whole_number(value, param=name)

    def mapping(self, name: str) -> dict[str, Any]:
        """Return a nested hash; empty when it is absent."""
        value = self._values.get(name, {})
        if not isinstance(value, dict):
            raise bad_parameter("Invalid hash", param=name)
        return value

    def sequence(self, name: str) -> list[Any]:
        """Return a nested array; empty when it is absent."""
        value = self._values.get(name, [])
        if not isinstance(value, list):
            raise bad_parameter("Invalid array", param=name)
        return value

    def metadata(self) -> dict[str, str]:
        """Return the caller's own notes on the object."""
        return checked_metadata(self.mapping("metadata"), param="metadata")


def whole_number(value: object, *, param: str) -> int:
    """Return an integer from its decimal digits; refuse all else, as Stripe does."""
    if not isinstance(value, str) or not value.removeprefix("-").isascii():
        raise bad_parameter("Invalid integer", param=param, code="parameter_invalid_integer")
    if not value.removeprefix("-").isdigit():
        message = f"Invalid integer: {value}"
        raise bad_parameter(message, param=param, code="parameter_invalid_integer")
    return int(value)


def checked_metadata(values: Mapping[str, Any], *, param: str) -> dict[str, str]:
    """Return metadata within Stripe's limits (50 keys of 40 characters, values of 500)."""
    if len(values) > METADATA_KEYS_AT_MOST:
        raise bad_parameter("Metadata can have up to 50 keys.", param=param)
    for key, value in values.items():
        if not isinstance(value, str) or len(value) > METADATA_VALUE_CHARACTERS_AT_MOST:
            message = "Metadata values must be strings of up to 500 characters."
            raise bad_parameter(message, param=f"{param}[{key}]")
        if len(key) > METADATA_KEY_CHARACTERS_AT_MOST:
            raise bad_parameter("Metadata keys can have up to 40 characters.", param=param)
    return dict(values)
