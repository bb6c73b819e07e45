"""What the parts above know about a person, asked without knowing them.

Accounts imports nothing of ours: the settings name functions, which are called here. An exporter
takes ``user_id`` and returns rows by the name of their file; a check takes ``organisation_ids``,
which are locked, and returns what stands against closing.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db.models import QuerySet
from django.utils.module_loading import import_string

Rows = list[dict[str, Any]]
# Far more than anybody has of one kind; the newest are given.
ROWS_MAX = 20_000


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Why an account cannot be closed now, and the page where that can be changed."""

    organisation: str
    reason: str
    address: str
    action: str


def rows_of(rows: QuerySet[Any], *fields: str) -> Rows:
    """Return these fields of the newest rows."""
    return [
        {name.replace("__", "_"): value for name, value in row.items()}
        for row in rows.order_by("-pk").values(*fields)[:ROWS_MAX]
    ]


def exported(*, user_id: int) -> dict[str, Rows]:
    """Return what the parts above keep about a person, by file."""
    exporters: list[Callable[..., Mapping[str, Rows]]] = [
        import_string(path) for path in settings.DATA_EXPORTERS
    ]
    files: dict[str, Rows] = {}
    for exporter in exporters:
        files.update(exporter(user_id=user_id))
    return files


def obstacles(*, organisation_ids: Collection[int]) -> list[Obstacle]:
    """Return what the parts above have against closing these organisations."""
    checks: list[Callable[..., list[Obstacle]]] = [
        import_string(path) for path in settings.CLOSURE_CHECKS
    ]
    return [found for check in checks for found in check(organisation_ids=organisation_ids)]
