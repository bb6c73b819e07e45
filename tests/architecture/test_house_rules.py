"""Rules of the house that no linter knows."""

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
APPS = ("config", "marketplace", "billing", "catalog", "sizing")
LONGEST_FILE_LINES = 500
LONGEST_FUNCTION_LINES = 70


def source_files(*folders: str) -> Iterator[Path]:
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*.py")):
            if "migrations" not in path.parts:
                yield path


def lines_with(pattern: str, *folders: str) -> list[str]:
    return [
        f"{path.relative_to(ROOT)}:{number}"
        for path in source_files(*folders)
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if re.search(pattern, line)
    ]


def test_no_file_is_longer_than_a_reader_can_hold():
    long = [
        str(path.relative_to(ROOT))
        for path in source_files(*APPS, "tests")
        if path.read_text(encoding="utf-8").count("\n") > LONGEST_FILE_LINES
    ]

    assert long == []


def test_no_function_is_longer_than_a_screen():
    long = [
        f"{path.relative_to(ROOT)}:{node.lineno} {node.name}"
        for path in source_files(*APPS, "tests")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or 0) - node.lineno + 1 > LONGEST_FUNCTION_LINES
    ]

    assert long == []


def test_rows_are_locked_in_locks_modules_only():
    places = lines_with(r"select_for_update|FOR (NO KEY )?UPDATE", *APPS)

    assert [place for place in places if "locks.py" not in place] == []


def test_messages_are_sent_after_commit_only():
    assert lines_with(r"\.delay\(|\.apply_async\(", "marketplace", "billing", "catalog") == []


@pytest.mark.parametrize("folder", ["billing", "marketplace/book"])
def test_no_float_comes_near_money_or_the_book(folder):
    places = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in source_files(folder)
        if "gateways" not in path.parts  # their time-outs are seconds, not money
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if (isinstance(node, ast.Name) and node.id == "float")
        or (isinstance(node, ast.Constant) and isinstance(node.value, float))
    ]

    assert places == []


def test_templates_carry_no_inline_style_and_no_inline_script():
    found = [
        str(path.relative_to(ROOT))
        for path in sorted((ROOT / "templates").rglob("*.html"))
        if "emails" not in path.parts
        and re.search(
            r"\sstyle=|<style|<script(?![^>]*\bsrc=)(?![^>]*application/(ld\+)?json)|\son[a-z]+=",
            path.read_text(encoding="utf-8"),
        )
    ]

    assert found == []


def test_every_setting_read_from_the_environment_is_documented():
    documented = set(
        re.findall(r"^#?\s?([A-Z][A-Z0-9_]+)=", (ROOT / ".env.example").read_text(), re.MULTILINE)
    )
    read = {
        name
        for path in source_files("config/settings")
        for name in re.findall(
            r"(?:env_\w+|database_from_url)\(\s*\"([A-Z0-9_]+)\"", path.read_text(encoding="utf-8")
        )
    }

    assert sorted(read - documented) == []


def test_every_string_has_its_french():
    from config.messages import find_untranslated

    assert find_untranslated() == []


def test_the_project_names_no_package_index_and_no_local_path():
    hosts = "|".join(("py" + "pi.org", "pythonhosted" + ".org", "npm" + "js.", "deb." + "debian"))
    found = subprocess.run(
        ["git", "grep", "-lIE", hosts], cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert found.stdout.split() == []


def test_no_work_is_left_for_later_in_the_code():
    marks = "|".join(("TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK"))

    assert lines_with(rf"\b({marks})\b", *APPS) == []
