"""The examples of the sizing engine's document are what commands and the API answer.

``python -m tests.integration.catalog.test_sizing_docs`` writes the answers anew after the engine has changed.
"""

import contextlib
import io
import json
import re
import shlex
from pathlib import Path

import pytest

DOCUMENT = Path(__file__).resolve().parents[3] / "docs" / "algorithms" / "sizing.md"
COMMAND = "$ python -m sizing "
CALL = "GET "
EXAMPLE = re.compile(r"```\n((?:\$ python -m sizing |GET /)[^\n]*)\n(.*?)```", re.DOTALL)


def answer_of(asked: str) -> str:
    if asked.startswith(COMMAND):
        return of_command(asked.removeprefix(COMMAND))
    return of_call(asked.removeprefix(CALL))


def of_command(arguments: str) -> str:
    from sizing.cli import main

    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        main(shlex.split(arguments))
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"


def of_call(address: str) -> str:
    from django.test import Client

    content = Client(headers={"accept-language": "en"}).get(address).json()
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def examples() -> list[tuple[str, str]]:
    return EXAMPLE.findall(DOCUMENT.read_text(encoding="utf-8"))


@pytest.mark.parametrize(("asked", "answer"), examples(), ids=[asked for asked, _ in examples()])
def test_an_example_is_answered_as_it_stands(asked: str, answer: str) -> None:
    assert answer_of(asked) == answer


def test_each_command_and_address_is_told() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")

    assert len(examples()) == 7
    for name in ("estimate", "fit", "rank", "capacity", "accuracy", "measure"):
        assert f"`{name}`" in text


def test_each_document_that_is_linked_exists() -> None:
    links = re.findall(r"\]\(([\w-]+\.md)\)", DOCUMENT.read_text(encoding="utf-8"))

    assert links
    assert [link for link in links if not (DOCUMENT.parent / link).exists()] == []


if __name__ == "__main__":
    import django

    django.setup()
    written = EXAMPLE.sub(
        lambda found: f"```\n{found[1]}\n{answer_of(found[1])}```",
        DOCUMENT.read_text(encoding="utf-8"),
    )
    DOCUMENT.write_text(written, encoding="utf-8")
