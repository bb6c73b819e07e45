"""The use-case texts: a pair for each language, and the facts that they must state."""

import pytest

from catalog.content.use_cases import FOLDER, cards_of, use_case_keys, use_case_text
from sizing.cards import all_cards

LANGUAGES = ["en", "fr"]

FACTS = {
    "en": [
        "frozen",
        "one GPU is often enough",
        "about 2 bytes",
        "well under 1 byte",
        "checkpointing",
        "24 or 32 GB",
        "7 to 14 billion",
        "48 or 80 GB",
        "about 16 bytes",
        "euros, US dollars or pounds",
        "at the best offer",
        "bid at the price",
        "by the hour",
        "exclude tax",
        "official seller",
    ],
    "fr": [
        "gelé",
        "une seule carte suffit souvent",
        "environ 2 octets",
        "bien moins d’1 octet",
        "checkpointing",
        "24 ou 32 Go",
        "7 à 14 milliards",
        "48 ou 80 Go",
        "environ 16 octets",
        "en euros, en dollars américains ou en livres",
        "à la meilleure offre",
        "demande au prix",
        "à l’heure",
        "hors taxes",
        "vendeur officiel",
    ],
}


def whole_text(language: str) -> str:
    text = use_case_text(key="fine-tuning", language=language, site="Site", programme="Programme")
    parts = [item for part in (text.points, text.questions, text.others) for item in part.items]
    joined = " ".join([text.lead, *(f"{item.title} {item.body}" for item in parts)])
    return " ".join(joined.split())


@pytest.mark.parametrize("language", LANGUAGES)
def test_states_every_fact(language: str) -> None:
    text = whole_text(language)

    assert [fact for fact in FACTS[language] if fact not in text] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_has_three_points_four_questions_and_five_other_uses(language: str) -> None:
    text = use_case_text(key="fine-tuning", language=language, site="Site", programme="Programme")

    sizes = [len(part.items) for part in (text.points, text.questions, text.others)]
    assert sizes == [3, 4, 5]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_use_case_has_its_text(language: str) -> None:
    files = {path.stem for path in (FOLDER / language).glob("*.md")}

    assert files == set(use_case_keys())


def test_every_compared_card_is_in_the_sizing_table() -> None:
    assert [slug for slug in cards_of("fine-tuning") if slug not in all_cards()] == []


def test_puts_the_sites_name_in_and_lets_no_tag_through() -> None:
    text = use_case_text(
        key="fine-tuning", language="en", site="<b>Site</b>", programme="Programme"
    )

    rent = text.questions.items[3]
    assert "&lt;b&gt;Site&lt;/b&gt;" in rent.body
    assert "${" not in whole_text("fr")


def test_french_text_is_spaced_as_french_is() -> None:
    raw = (FOLDER / "fr" / "fine-tuning.md").read_text(encoding="utf-8")

    assert [mark for mark in (" ;", " ?", " !", " :", " Go") if mark in raw] == []
