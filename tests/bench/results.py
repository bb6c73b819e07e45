"""What a measurement prints."""

import json
from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Result:
    """One figure, and how it compares with another measured beside it on the same machine."""

    name: str
    value: float
    unit: str
    ratio_to: str | None = None
    ratio: float | None = None

    def line(self) -> str:
        return json.dumps(asdict(self))
