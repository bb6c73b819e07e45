"""Files taken over from others are what their list says: named, licensed and unchanged."""

import hashlib
import json

import pytest
from django.conf import settings

FOLDER = settings.BASE_DIR / "static" / "vendor"
LIST = json.loads((FOLDER / "VENDORED.json").read_text(encoding="utf-8"))
HASHES = {name: digest for package in LIST for name, digest in package["files"].items()}


def test_every_file_is_listed() -> None:
    files = {str(path.relative_to(FOLDER)) for path in FOLDER.rglob("*") if path.is_file()}

    assert files - {"VENDORED.json"} == set(HASHES)


@pytest.mark.parametrize("name", HASHES)
def test_is_unchanged(name: str) -> None:
    assert hashlib.sha256((FOLDER / name).read_bytes()).hexdigest() == HASHES[name]


@pytest.mark.parametrize("package", LIST, ids=lambda package: package["name"])
def test_names_its_version_and_brings_its_licence(package: dict[str, object]) -> None:
    folder = f"{package['name']}-{package['version']}"

    assert package["licence"] == "MIT"
    assert "MIT License" in (FOLDER / folder / "LICENSE").read_text(encoding="utf-8")
