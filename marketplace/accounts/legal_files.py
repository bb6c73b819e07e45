"""The legal texts that come with the project: drafts to be read by the merchant's counsel.

Each file starts with lines ``name: value`` (title, version), then an empty line, then Markdown.
"""

from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path

from marketplace.accounts.models import Language, LegalKey

FOLDER = Path(__file__).parent / "content" / "legal"


@dataclass(frozen=True, slots=True)
class LegalFile:
    """One text in one language."""

    key: str
    language: str
    title: str
    version: date
    body: str


@cache
def legal_files() -> tuple[LegalFile, ...]:
    """Return every text in every language; a missing file fails loudly."""
    return tuple(_read(key, language) for key in LegalKey.values for language in Language.values)


def _read(key: str, language: str) -> LegalFile:
    text = (FOLDER / language / f"{key}.md").read_text(encoding="utf-8")
    head, body = text.split("\n\n", 1)
    facts = dict(line.split(": ", 1) for line in head.splitlines())
    return LegalFile(
        key=key,
        language=language,
        title=facts["title"],
        version=date.fromisoformat(facts["version"]),
        body=body.strip(),
    )
