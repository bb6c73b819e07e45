"""Markdown written by people, made into HTML that cannot harm the page around it.

Guarantees: no script, no event handler, no style, no frame, no picture from elsewhere; links lead
to the web, to a mail address or into this site, and those that leave it carry
``rel="nofollow noopener"``. Raw HTML in the text is shown as it was typed. Headings begin at the
second level, since the page has the first; each has an id that starts with ``s-``, so that it
meets none of the page's own. Tables scroll in a region of their own, their first column names
the row. Two lines of defence: the reader of Markdown lets no tag through, and the cleaner keeps
only what is listed here.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

import nh3
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import slugify
from django.utils.translation import gettext as _
from markdown_it import MarkdownIt
from markdown_it.token import Token

ANCHOR_PREFIX = "s-"
NAMELESS_ANCHOR = "part"
TOP_LEVEL = 2
DEEPEST_LEVEL = 6
LEAVES_THE_SITE = "nofollow noopener"

TABLE_TAGS = {"table", "thead", "tbody", "tr", "th", "td"}
HEADING_TAGS = {f"h{level}" for level in range(TOP_LEVEL, DEEPEST_LEVEL + 1)}
LIST_TAGS = {"ul", "ol", "li"}
TEXT_TAGS = {"p", "a", "em", "strong", "code", "pre", "blockquote", "hr", "br", "div"}
TAGS = TABLE_TAGS | HEADING_TAGS | LIST_TAGS | TEXT_TAGS
CLASSES = {"div": {"scroll"}, "p": {"hint"}, "table": {"dense"}, "th": {"n"}, "td": {"n"}}
ATTRIBUTES = {
    **{tag: {"id"} for tag in HEADING_TAGS},
    "a": {"href", "title", "rel"},
    "ol": {"start"},
    "th": {"scope"},
    "div": {"aria-label", "role", "tabindex"},
}
SCHEMES = {"http", "https", "mailto"}


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of a text: its level, the id to link to, its words."""

    level: int
    anchor: str
    title: str


def render(text: str) -> SafeString:
    """Return ``text`` as clean HTML."""
    reader = _reader()
    html = reader.renderer.render(_shaped(reader.parse(text)), reader.options, {})
    return _cleaned(html)


def headings(text: str) -> tuple[Heading, ...]:
    """Return the headings of ``text`` in order, with the ids that `render` gives them."""
    tokens = _shaped(_reader().parse(text))
    return tuple(
        Heading(
            level=int(token.tag[1:]),
            anchor=f"{ANCHOR_PREFIX}{token.attrGet('id')}",
            title=_words(tokens[place + 1]),
        )
        for place, token in enumerate(tokens)
        if token.type == "heading_open"
    )


def plain(text: str) -> str:
    """Return the words of ``text`` without its marks: to count them, or to quote them."""
    return "\n".join(_words(token) for token in _reader().parse(text) if token.content)


def _reader() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False}).enable("table")


def _cleaned(html: str) -> SafeString:
    clean = nh3.clean(
        html,
        tags=TAGS,
        attributes=ATTRIBUTES,
        allowed_classes=CLASSES,
        url_schemes=SCHEMES,
        link_rel=None,  # set on the links that leave the site alone
        set_tag_attribute_values={"pre": {"tabindex": "0"}},  # a long line scrolls by keyboard
        id_prefix=ANCHOR_PREFIX,
    )
    return mark_safe(clean)  # noqa: S308  cleaned in the line above


def _shaped(tokens: list[Token]) -> list[Token]:
    """Give headings their level and id, tables their region, links their relation."""
    anchors: Counter[str] = Counter()
    labels: Counter[str] = Counter()
    shaped: list[Token] = []
    title = ""
    for place, token in enumerate(tokens):
        if token.type in {"heading_open", "heading_close"}:
            token.tag = _lowered(token.tag)
        if token.type == "heading_open":
            title = _words(tokens[place + 1])
            token.attrSet("id", _unique(slugify(title) or NAMELESS_ANCHOR, anchors, "{}-{}"))
        shaped.extend(_with_region(token, title, labels))
        _shape_inline(token)
    _name_rows(shaped)
    return shaped


def _lowered(tag: str) -> str:
    return f"h{max(TOP_LEVEL, int(tag[1:]))}"


def _unique(name: str, seen: Counter[str], pattern: str) -> str:
    """Return ``name``, or the first numbered form of it that was not seen before."""
    unique = name
    while unique in seen:
        seen[name] += 1
        unique = pattern.format(name, seen[name])
    seen[unique] = 1
    return unique


def _with_region(token: Token, title: str, labels: Counter[str]) -> list[Token]:
    """Put a table into a region that scrolls, named after the heading above it."""
    if token.type == "table_open":
        token.attrSet("class", "dense")
        label = _("Table: %(title)s") % {"title": title} if title else _("Table")
        name = escape(_unique(label, labels, "{} ({})"))
        hint = f'<p class="hint">{escape(_("Scroll sideways to see every column."))}</p>'
        region = f'{hint}<div class="scroll" tabindex="0" role="region" aria-label="{name}">'
        return [Token("html_block", "", 0, content=region), token]
    if token.type == "table_close":
        return [token, Token("html_block", "", 0, content="</div>\n")]
    return [token]


def _name_rows(tokens: Sequence[Token]) -> None:
    """Let the first cell of each row name it, columns name themselves, numbers stand right."""
    is_first = False
    for token in tokens:
        if token.type in {"th_open", "td_open"} and "right" in str(token.attrGet("style")):
            token.attrSet("class", "n")
        if token.type == "th_open":
            token.attrSet("scope", "col")
        elif token.type == "tr_open":
            is_first = True
        elif token.type == "td_open" and is_first:
            token.tag = "th"
            token.attrSet("scope", "row")
        elif token.type == "td_close" and is_first:
            token.tag = "th"
            is_first = False


def _shape_inline(token: Token) -> None:
    for child in token.children or ():
        if child.type == "link_open" and _leaves(str(child.attrGet("href") or "")):
            child.attrSet("rel", LEAVES_THE_SITE)
        if child.type == "image":  # no picture from elsewhere: its words stand in its place
            child.content = _words(child)
            child.type, child.tag, child.children = "text", "", None


def _leaves(address: str) -> bool:
    """Tell whether a link leads out of this site; one that cannot be read counts as leaving."""
    try:
        return bool(urlsplit(address).netloc)
    except ValueError:
        return True


def _words(token: Token) -> str:
    """Return the text of a token without marks; a line's end is a space."""
    if not token.children:
        return token.content
    return "".join(_word(child) for child in token.children)


def _word(token: Token) -> str:
    return " " if token.type in {"softbreak", "hardbreak"} else token.content
