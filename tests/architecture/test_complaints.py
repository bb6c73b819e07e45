"""Every complaint that was walked has its answer, and every test named for it exists."""

import ast
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / "docs" / "complaints.md"
COMPLAINTS = 39
TEST = re.compile(r"`(tests/[\w/]+\.py)((?:::\w+)+)`")


def rows() -> list[list[str]]:
    lines = DOCUMENT.read_text(encoding="utf-8").splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [row for row in cells if len(row) == 5 and row[0].isdigit()]


@cache
def names_in(path: str) -> frozenset[str]:
    """Return the functions of a test file, and its methods after their class."""
    file = ROOT / path
    if not file.exists():
        return frozenset()
    names = set()
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef):
            names |= {
                f"{node.name}::{inner.name}"
                for inner in node.body
                if isinstance(inner, ast.FunctionDef)
            }
        elif isinstance(node, ast.FunctionDef):
            names.add(node.name)
    return frozenset(names)


def test_each_complaint_has_one_row_with_its_source_and_answer():
    assert [int(row[0]) for row in rows()] == list(range(1, COMPLAINTS + 1))
    assert [row[0] for row in rows() if not all(row[:4])] == []


def test_each_answer_names_a_test_or_says_that_it_comes_later():
    unproven = [row[0] for row in rows() if not TEST.search(row[4]) and "*later*" not in row[3]]

    assert unproven == []


def test_each_named_test_exists():
    named = [match for row in rows() for match in TEST.findall(row[4])]
    missing = [path + name for path, name in named if name.removeprefix("::") not in names_in(path)]

    assert named
    assert missing == []
