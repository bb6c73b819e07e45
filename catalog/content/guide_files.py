"""Read the guides that come with the project: a TOML head between ``+++`` lines, then Markdown.

``guides.toml`` says of each guide where it stands, which use case it leads on to and which cards
it speaks of; its texts are ``en/<key>.md`` and ``fr/<key>.md``.
"""

import tomllib
from dataclasses import dataclass
from datetime import date
from pathlib import Path

FOLDER = Path(__file__).parent / "guides"
HEAD_MARK = "+++"


@dataclass(frozen=True, slots=True, kw_only=True)
class GuideTextFile:
    """A guide in one language, as its file gives it."""

    language: str
    slug: str
    title: str
    short_title: str
    description: str
    published_on: date
    reviewed_on: date
    body: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GuideFile:
    """A guide with its texts."""

    key: str
    position: int
    use_case: str
    cards: tuple[str, ...]
    texts: tuple[GuideTextFile, ...]


def guide_files() -> list[GuideFile]:
    """Return every guide of the project, in the order of the table."""
    table = tomllib.loads((FOLDER / "guides.toml").read_text(encoding="utf-8"))
    return [
        GuideFile(
            key=key,
            position=place,
            use_case=entry["use_case"],
            cards=tuple(entry["cards"]),
            texts=tuple(_texts(key)),
        )
        for place, (key, entry) in enumerate(table.items(), 1)
    ]


def _texts(key: str) -> list[GuideTextFile]:
    paths = sorted(FOLDER.glob(f"*/{key}.md"))
    return [_text(path.parent.name, path.read_text(encoding="utf-8")) for path in paths]


def _text(language: str, raw: str) -> GuideTextFile:
    _, head, body = raw.split(HEAD_MARK, 2)
    return GuideTextFile(language=language, body=body.strip() + "\n", **tomllib.loads(head))
