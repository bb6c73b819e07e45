"""The table of language models: their sizes and where each was read."""

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Final

_TABLE: Final = "models.csv"


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageModel:
    """One open model. ``parameters`` is computed from its architecture, all experts included."""

    slug: str
    name: str
    parameters: int
    active_parameters: int
    source: str
    lookup_parameters: int = 0

    @property
    def read_parameters(self) -> int:
        """Parameters read through for one token: the table of embeddings is only looked up.

        Where the output head shares that table, it is read after all.
        """
        return self.active_parameters - self.lookup_parameters


@cache
def all_language_models() -> MappingProxyType[str, LanguageModel]:
    """Return the whole table by slug, in the order of the file."""
    table = files("sizing.tables").joinpath(_TABLE).read_text(encoding="utf-8")
    rows = csv.DictReader(table.splitlines())
    return MappingProxyType({row["slug"]: _language_model(row) for row in rows})


def _language_model(row: dict[str, str]) -> LanguageModel:
    return LanguageModel(
        slug=row["slug"],
        name=row["name"],
        parameters=int(row["params_total_computed"]),
        active_parameters=int(row["params_active_computed"]),
        source=row["source"],
        lookup_parameters=_lookup_parameters(row),
    )


def _lookup_parameters(row: dict[str, str]) -> int:
    is_shared = row["tied_embeddings"] == "1"
    return 0 if is_shared else int(row["vocab"]) * int(row["hidden"])
