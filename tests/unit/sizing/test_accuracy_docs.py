"""docs/algorithms/accuracy.md tells the figures of the report, and so does the stored report."""

import json

import pytest

from sizing.accuracy.plain import stored_report_object
from tests.unit.sizing.accuracy_tables import DOCS, all_tables, stored_report


@pytest.mark.parametrize("mark", ["left out", "kinds", "rivals", "verdicts"])
def test_tells_the_figures(mark: str) -> None:
    table = all_tables()[mark]

    told = DOCS.read_text(encoding="utf-8")

    assert f"<!-- {mark} -->\n{table}\n" in told, "python -m tests.unit.sizing.accuracy_tables"


def test_the_stored_report_is_the_computed_one() -> None:
    assert stored_report_object() == json.loads(stored_report())
