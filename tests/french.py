"""How French is spaced, and which words give a language away."""

import re
from collections.abc import Iterator

NARROW, WIDE = "\u202f", "\u00a0"
UNITS = r"(?:Go/s|Mo/s|To/s|Go|Mo|To|Gbit/s|TFLOPS|W|kW|%%?)"
# CLDR sets these off by the wide one; both keep together what belongs together.
COUNTED = r"(?:Md|min|h|s|ms|€)"
# What is not prose: code, placeholders, marks of HTML and Markdown, addresses, times.
NOT_PROSE = re.compile(
    r"`[^`]*`|%\(\w+\)[sd]|%[sd]|\$\{\w+\}|<[^>]+>|\]\([^)]*\)|&\w+;|https?://\S+|\d\d?:\d\d(:\d\d)?"
    r"|^\|[-:| ]+\|$|\S+@\S+",
    re.MULTILINE,
)
RULES = {
    "a narrow no-break space before ; ? !": re.compile(
        rf"[^\s{NARROW}({{\[«“\"?!.][;?!](?=[\s)»\"]|$)|[ {WIDE}][;?!](?=[\s)»\"*]|$)"
    ),
    "a no-break space before :": re.compile(rf"[^\s{WIDE}\d]:(?=\s|$)|[ {NARROW}]:(?=[\s*]|$)"),
    "no-break spaces inside « »": re.compile(rf"«(?!{WIDE})|(?<!{WIDE})»"),
    "the apostrophe ’": re.compile(r"\b[A-Za-zÀ-ÿ]{1,7}'[A-Za-zÀ-ÿ]"),
    "guillemets, not quotes": re.compile(r"[“”]|(?<![=\w])\"\w"),
    "a narrow no-break space before a unit": re.compile(rf"\d[ {WIDE}]{UNITS}(?![\w’-])"),
    "a no-break space before what is counted": re.compile(rf"\d {COUNTED}(?![\w’-])"),
    "the ellipsis …": re.compile(r"\.\.\."),
}
ENGLISH = frozenset(
    [
        "the",
        "and",
        "of",
        "with",
        "your",
        "you",
        "this",
        "that",
        "these",
        "those",
        "for",
        "are",
        "from",
        "which",
        "have",
        "has",
        "will",
        "not",
        "when",
        "what",
        "who",
        "where",
        "there",
        "their",
        "they",
        "been",
        "should",
        "would",
        "could",
        "is",
        "it",
        "we",
        "our",
        "because",
        "into",
        "about",
        "between",
        "without",
        "every",
        "each",
        "how",
        "why",
        "more",
        "than",
        "only",
        "its",
        "by",
        "was",
        "were",
        "be",
        "been",
        "at",
        "in",
    ]
)
FRENCH = frozenset(
    [
        "le",
        "les",
        "des",
        "une",
        "du",
        "dans",
        "avec",
        "vous",
        "votre",
        "vos",
        "nous",
        "qui",
        "que",
        "cette",
        "sont",
        "aux",
        "leur",
        "leurs",
        "ces",
        "et",
        "est",
        "pour",
        "pas",
        "sur",
        "mais",
        "ou",
        "où",
        "être",
        "été",
    ]
)


def faults(text: str) -> Iterator[tuple[str, str]]:
    """Yield (rule, place) of each breach of French spacing in a text."""
    prose = NOT_PROSE.sub("\ufffc", text)
    # A placeholder before a unit is a number.
    measured = re.sub(rf"\ufffc(?=[ {WIDE}](?:{UNITS}|{COUNTED})\b)", "1", prose)
    for rule, pattern in RULES.items():
        for found in pattern.finditer(measured):
            yield rule, measured[max(0, found.start() - 20) : found.end() + 12].replace("\n", "⏎")
