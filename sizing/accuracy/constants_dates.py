"""The days on which the engine's constants were fitted, by part of the engine."""

from collections.abc import Mapping
from datetime import date
from functools import cache
from types import MappingProxyType

from sizing.csv_tables import table_rows


@cache
def constants_fitted_on() -> Mapping[str, date]:
    return MappingProxyType(
        {
            row["part"]: date.fromisoformat(row["fitted_on"])
            for row in table_rows("constants_dates.csv")
        }
    )
