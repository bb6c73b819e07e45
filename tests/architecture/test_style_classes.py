"""The style sheet dresses what pages draw: a class that nothing uses is not carried along."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
STYLES = ROOT / "static" / "css"
APPS = ("config", "marketplace", "billing", "catalog")
WORD = re.compile(r"[A-Za-z_][\w-]*")
# A whole attribute, with the template tags in it and what those write.
CLASSES = re.compile(r'class="((?:\{%.*?%\}|\{\{.*?\}\}|[^"{])*)"', re.DOTALL)
# What a page tells a component to look like.
LOOK = re.compile(r'\b(?:kind|class|tone)="([\w -]+)"')

# uPlot draws its charts with u-…; the picture of parts numbers its colours: m1, m2 and so on;
# a comparison says how many cards it holds: of1, of2, of3.
BUILT = re.compile(r"u-.+|(m|of)\d")


def words_of_templates() -> Iterator[str]:
    for path in sorted((ROOT / "templates").rglob("*.html")):
        text = path.read_text(encoding="utf-8")
        for part in CLASSES.findall(text) + LOOK.findall(text):
            yield from WORD.findall(part)


def words_of_code() -> Iterator[str]:
    """Yield the words in strings of what draws markup: template tags and Markdown."""
    tags = [path for app in APPS for path in sorted((ROOT / app).rglob("templatetags/*.py"))]
    for path in [*tags, ROOT / "marketplace" / "accounts" / "markdown.py"]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield from WORD.findall(node.value)


def words_of_scripts() -> Iterator[str]:
    for path in sorted((ROOT / "static" / "js").rglob("*.js")):
        for part in re.findall(r"[\"'`]([^\"'`]*)[\"'`]", path.read_text(encoding="utf-8")):
            yield from WORD.findall(part)


def styled_classes() -> dict[str, str]:
    """Return each class that a rule selects, with the file of the rule."""
    found = {}
    for path in sorted(STYLES.rglob("*.css")):
        text = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        for selector in re.findall(r"([^{}]+)\{", text):
            if path.name != "site.css" and not selector.strip().startswith("@"):
                names = re.findall(r"\.(-?[A-Za-z_][\w-]*)", selector)
                found.update(dict.fromkeys(names, path.name))
    return found


def test_every_class_of_the_style_sheet_is_drawn_by_something():
    drawn = {*words_of_templates(), *words_of_code(), *words_of_scripts()}
    unused = {
        name: file
        for name, file in styled_classes().items()
        if name not in drawn and not BUILT.fullmatch(name)
    }

    assert unused == {}
