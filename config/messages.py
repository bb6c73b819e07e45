"""The message catalogue: read from the code, joined from its parts, compiled without gettext.

The French of each part of the site stands in ``config/locale/parts/<part>.fr.po``; English is the
text in the code. `build_messages` joins the parts into one catalogue and compiles it.
"""

import ast
import re
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from tempfile import NamedTemporaryFile

from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from django.template.base import Lexer, Token, TokenType
from django.utils.text import smart_split

ROOT = Path(__file__).resolve().parents[1]
LOCALE = ROOT / "config" / "locale"
CODE_FOLDERS = ("config", "marketplace", "billing", "catalog")
# The functions that mark a string, and how many of their first arguments are messages.
MARKERS = {
    "_": 1,
    "gettext": 1,
    "gettext_lazy": 1,
    "gettext_noop": 1,
    "ngettext": 2,
    "ngettext_lazy": 2,
}
BLOCK_END = re.compile(r"^endblock(?:translate|trans)$")
CALL_IN_TAG = re.compile(r"""_\((?:"([^"]*)"|'([^']*)')\)""")
VARIABLE = re.compile(r"^[\w.]+")

# A message is one string, or the pair of its singular and plural.
Message = str | tuple[str, str]


class CataloguePartsDisagree(Exception):
    """Two parts translate one message differently."""


def read_parts() -> Catalog:
    """Return the French catalogue joined from its parts.

    Raises
    ------
    CataloguePartsDisagree
        One message has two translations.
    """
    joined = Catalog(locale="fr", project="gpubourse", charset="utf-8")
    for path in sorted((LOCALE / "parts").glob("*.fr.po")):
        with path.open("rb") as file:
            part = read_po(file, locale="fr", charset="utf-8")
        for message in part:
            if not message.id:
                continue
            known = joined.get(message.id)
            if known is not None and known.string != message.string:
                raise CataloguePartsDisagree(f"{path.name}: {message.id!r}")
            joined.add(message.id, message.string, flags=message.flags)
    return joined


def build() -> int:
    """Write and compile the French catalogue; return its number of messages."""
    catalogue = read_parts()
    folder = LOCALE / "fr" / "LC_MESSAGES"
    folder.mkdir(parents=True, exist_ok=True)
    text, compiled = BytesIO(), BytesIO()
    write_po(text, catalogue, omit_header=False, sort_output=True)
    write_mo(compiled, catalogue)
    _replace(folder / "django.po", text.getvalue())
    _replace(folder / "django.mo", compiled.getvalue())
    return len(catalogue)


def _replace(file: Path, content: bytes) -> None:
    """Write a file at one stroke: a process that starts meanwhile reads the old one or the new."""
    with NamedTemporaryFile(dir=file.parent, delete=False) as draft:
        draft.write(content)
    Path(draft.name).chmod(0o644)
    Path(draft.name).replace(file)


def find_untranslated() -> list[tuple[str, str]]:
    """Return (place, message) of each marked string that has no French."""
    catalogue = read_parts()
    missing = []
    for place, message in find_marked():
        known = catalogue.get(message)
        strings = (
            known.string if known and isinstance(known.string, tuple) else (known and known.string,)
        )
        if not known or not all(strings):
            missing.append((place, message if isinstance(message, str) else message[0]))
    return missing


def find_marked() -> Iterator[tuple[str, Message]]:
    """Yield (place, message) of each marked string in code and templates."""
    for folder in CODE_FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            if "migrations" not in path.parts:
                yield from _marked_in_code(path)
    for path in sorted((ROOT / "templates").rglob("*")):
        if path.suffix in {".html", ".txt"}:
            yield from _marked_in_template(path)


def _marked_in_code(path: Path) -> Iterator[tuple[str, Message]]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
            continue
        count = MARKERS.get(node.func.id)
        texts = [
            argument.value
            for argument in node.args[: count or 0]
            if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
        ]
        if count and len(texts) == count:
            place = f"{path.relative_to(ROOT)}:{node.lineno}"
            yield place, texts[0] if count == 1 else (texts[0], texts[1])


def _marked_in_template(path: Path) -> Iterator[tuple[str, Message]]:
    tokens = iter(Lexer(path.read_text(encoding="utf-8")).tokenize())
    for token in tokens:
        place = f"{path.relative_to(ROOT)}:{token.lineno}"
        if token.token_type not in {TokenType.BLOCK, TokenType.VAR}:
            continue
        for double, single in CALL_IN_TAG.findall(token.contents):
            yield place, double or single
        if token.token_type is not TokenType.BLOCK:
            continue
        bits = list(smart_split(token.contents))
        if bits[0] in {"translate", "trans"} and bits[1][0] in "\"'":
            yield place, bits[1][1:-1]
        elif bits[0] in {"blocktranslate", "blocktrans"}:
            yield place, _block_message(tokens, is_trimmed="trimmed" in bits)


def _block_message(tokens: Iterator[Token], *, is_trimmed: bool) -> Message:
    """Return the message of a block: its text with each variable as ``%(name)s``."""
    texts = [""]
    for token in tokens:
        if token.token_type is TokenType.BLOCK:
            if BLOCK_END.match(token.contents.strip()):
                break
            texts.append("")
        elif token.token_type is TokenType.VAR:
            name = VARIABLE.match(token.contents)
            texts[-1] += f"%({name.group() if name else token.contents})s"
        else:
            texts[-1] += token.contents.replace("%", "%%")
    if is_trimmed:
        texts = [re.sub(r"\s*\n\s*", " ", text.strip()) for text in texts]
    return texts[0] if len(texts) == 1 else (texts[0], texts[1])
