"""French strings and texts are spaced as French is, and translated at all."""

import tomllib
from collections.abc import Iterator

import pytest
from babel.messages.pofile import read_po

from config.messages import LOCALE, ROOT
from tests.french import NARROW, WIDE, faults

# Words that both languages write alike: names, units, and what French took over.
SAME_IN_BOTH = frozenset(
    line.strip()
    for line in """
    %(bits)s bits
    %(count)s tokens
    %(number)s M
    16 bits
    8 bits (FP8)
    8 bits (INT8)
    8 bits (LLM.int8)
    API
    Action
    Actions
    Activations
    AdamW, 8 bits
    Administration
    Architecture
    Attention
    Catalogue
    Checkpointing
    Contact
    Correction
    Date
    Experts
    FLUX.1, 16 bits, diffusers
    FP32 (TFLOPS)
    FP32, TFLOPS
    FP64, TFLOPS
    Framework
    GPU
    Gradients
    Guides
    HTML
    Image
    Lion, 8 bits
    LoRA, 16 bits
    Logits
    MLP
    Machine
    Menu
    NVLink
    Note
    Notifications
    Organisation
    Organisations
    Pages
    Part
    Port
    QLoRA, 4 bits
    Questions
    SD3 Medium, 16 bits, diffusers
    Segment
    Source
    Sources
    Standard
    Tokens/s
    Total
    Verdict
    Version
    action
    architecture
    candidates
    cause
    code
    description
    guide
    guides
    h %(number)s
    invitation
    invitations
    message
    messages
    organisation
    organisations
    port
    position
    segment
    source
    suspension
    version
    ≈ %(size)s
    """.splitlines()
)


def strings() -> Iterator[tuple[str, str, str]]:
    """Yield (part, message, French) of every string; addresses of pages are no prose."""
    for path in sorted((LOCALE / "parts").glob("*.fr.po")):
        with path.open("rb") as file:
            messages = list(read_po(file, locale="fr", charset="utf-8"))
        for message in messages:
            ids = [message.id] if isinstance(message.id, str) else list(message.id)
            if not ids[0] or "/" in ids[0].split()[-1]:
                continue
            french = [message.string] if isinstance(message.string, str) else message.string or ()
            for text in french:
                yield path.name, ids[0], text


def texts() -> Iterator[tuple[str, str]]:
    """Yield (name, text) of every French text file: its head's strings, and its body."""
    for path in sorted(ROOT.glob("*/**/content/**/fr/*.md")):
        raw = path.read_text(encoding="utf-8")
        if raw.startswith("+++"):
            _, head, raw = raw.split("+++", 2)
            for value in tomllib.loads(head).values():
                if isinstance(value, str):
                    yield path.name, value
        elif raw.startswith("title:"):
            raw = raw.split("\n\n", 1)[1]
        yield path.name, raw


def test_every_string_is_spaced_as_french_is() -> None:
    found = [(part, rule, place) for part, _id, text in strings() for rule, place in faults(text)]

    assert found == []


def test_every_text_is_spaced_as_french_is() -> None:
    names = {name for name, _text in texts()}

    found = [(name, rule, place) for name, text in texts() for rule, place in faults(text)]

    assert {"fine-tuning.md", "terms.md"} <= names
    assert found == []


def test_no_string_is_left_as_it_is_in_english() -> None:
    same = {message for _part, message, text in strings() if message == text}

    assert sorted(same - SAME_IN_BOTH) == []


def test_no_part_is_marked_as_unsure() -> None:
    parts = (LOCALE / "parts").glob("*.fr.po")

    assert [path.name for path in parts if "#, fuzzy" in path.read_text(encoding="utf-8")] == []


@pytest.mark.parametrize(
    ("text", "count"),
    [
        (f"Prix{WIDE}: 24{NARROW}Go{NARROW}; 80{NARROW}%{NARROW}!", 0),
        ("Prix : 24 Go ; 80 % !", 5),
        ("Prix: non", 1),
        ("Quoi?", 1),
        (f"«{WIDE}oui{WIDE}» à 14:05", 0),
        ("« oui »", 2),
        ("l'heure", 1),
        ("%(count)s Go", 1),
        (f"%(count)s{NARROW}Go", 0),
        ("Attendez...", 1),
        ("`a ? b : c` et [lien](https://exemple.fr/a?b:c)", 0),
    ],
)
def test_finds_what_is_spaced_wrongly(text: str, count: int) -> None:
    assert len(list(faults(text))) == count, list(faults(text))
