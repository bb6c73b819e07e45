"""The use-case texts: a pair for each language, and the facts that they must state."""

import re
from html import unescape

import pytest

from catalog.content.use_cases import (
    FOLDER,
    UseCaseText,
    cards_of,
    columns_of,
    use_case_keys,
    use_case_text,
)
from catalog.use_cases.columns import columns
from sizing.benchmarked.rendering import (
    ESTIMATE_ERROR_PERCENT,
    ESTIMATED_SCORE_PER_TFLOPS,
    blender_version,
)
from sizing.capacity import BYTES_TENTHS_PER_PARAMETER, MEMORY_SHARE_PERCENT
from sizing.cards import all_cards
from sizing.csv_tables import table_rows
from sizing.inference import BYTES_HUNDREDTHS_PER_PARAMETER

LANGUAGES = ["en", "fr"]
KEYS = use_case_keys()

FACTS = {
    "fine-tuning": {
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
        ],
    },
    "llm-training": {
        "en": [
            "Pre-training and full fine-tuning",
            "data-centre GPUs with HBM",
            "16 bytes",
            "NVLink",
        ],
        "fr": ["Préentraîner ou régler tous les poids", "mémoire HBM", "16 octets", "NVLink"],
    },
    "llm-inference": {
        "en": ["KV cache", "how fast can the card read", "42 to 87 percent"],
        "fr": ["cache KV", "à quelle vitesse la carte les lit", "42 à 87 %"],
    },
    "image-video": {
        "en": ["Diffusion models", "cards of 24 GB", "80 GB"],
        "fr": ["modèles de diffusion", "cartes de 24 Go", "80 Go"],
    },
    "rendering": {
        "en": ["Path tracing", "Real-time engines", "RT cores", "Blender"],
        "fr": ["lancer de rayons", "moteurs temps réel", "cœurs RT", "Blender"],
    },
    "scientific": {
        "en": ["Double precision", "HBM", "Fluid dynamics", "molecular dynamics"],
        "fr": ["double précision", "HBM", "Mécanique des fluides", "dynamique moléculaire"],
    },
}
# What every page says of renting.
RENTING = {
    "en": [
        "euros, US dollars or pounds",
        "at the best offer",
        "a bid at",
        "by the hour",
        "rices exclude tax",
        "official seller",
    ],
    "fr": [
        "en euros, en dollars américains ou en livres",
        "à la meilleure offre",
        "une demande",
        "à l’heure",
        "hors taxes",
        "vendeur officiel",
    ],
}


def text_of(key: str, language: str) -> UseCaseText:
    return use_case_text(key=key, language=language, site="Site", programme="Programme")


def whole_text(key: str, language: str) -> str:
    text = text_of(key, language)
    parts = [item for part in (text.points, text.questions) for item in part.items]
    joined = " ".join([text.lead, text.note, *(f"{item.title} {item.body}" for item in parts)])
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", joined)).split())


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("key", KEYS)
def test_states_every_fact(key: str, language: str) -> None:
    text = whole_text(key, language).replace("\N{NARROW NO-BREAK SPACE}", " ")

    missing = [fact for fact in (*FACTS[key][language], *RENTING[language]) if fact not in text]
    assert missing == []


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("key", KEYS)
def test_has_three_points_and_four_questions(key: str, language: str) -> None:
    text = text_of(key, language)

    assert [len(part.items) for part in (text.points, text.questions)] == [3, 4]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_use_case_has_its_text(language: str) -> None:
    files = {path.stem for path in (FOLDER / language).glob("*.md")}

    assert files == set(use_case_keys())


@pytest.mark.parametrize("key", KEYS)
def test_links_lead_to_the_same_pages_in_both_languages(key: str) -> None:
    links = [
        [
            re.findall(r'href="([^"]+)"', item.body)
            for item in text_of(key, language).questions.items
        ]
        for language in LANGUAGES
    ]

    assert [[len(found) for found in of_items] for of_items in links] == [
        [len(found) for found in links[0]]
    ] * len(LANGUAGES)
    assert all(url.startswith("/en/use-cases/") for found in links[0] for url in found)
    assert all(url.startswith("/fr/usages/") for found in links[1] for url in found)


@pytest.mark.parametrize("key", KEYS)
def test_every_compared_card_is_in_the_sizing_table(key: str) -> None:
    assert [slug for slug in cards_of(key) if slug not in all_cards()] == []
    assert len(set(cards_of(key))) == len(cards_of(key))


@pytest.mark.parametrize("key", KEYS)
def test_every_column_is_known_and_the_price_comes_first(key: str) -> None:
    assert [column.key for column in columns(key)] == list(columns_of(key))
    assert columns_of(key)[0] == "price"


def test_puts_the_sites_name_in_and_lets_no_tag_through() -> None:
    text = use_case_text(
        key="fine-tuning", language="en", site="<b>Site</b>", programme="Programme"
    )

    rent = text.questions.items[3]
    assert "&lt;b&gt;Site&lt;/b&gt;" in rent.body
    assert "${" not in whole_text("fine-tuning", "fr")


@pytest.mark.parametrize("key", KEYS)
def test_french_text_is_spaced_as_french_is(key: str) -> None:
    raw = (FOLDER / "fr" / f"{key}.md").read_text(encoding="utf-8")

    marks = [" ;", " ?", " !", " :", " Go", " %", "'"]
    assert [mark for mark in marks if mark in raw] == []


class TestNumbersAgreeWithTheRules:
    """A note that names a rule's numbers must change with them."""

    @pytest.mark.parametrize("key", ["fine-tuning", "llm-training", "llm-inference"])
    def test_the_share_of_the_memory(self, key: str) -> None:
        assert f"{MEMORY_SHARE_PERCENT} percent of the memory" in text_of(key, "en").note
        assert f"{MEMORY_SHARE_PERCENT}\N{NARROW NO-BREAK SPACE}% de la mémoire" in (
            text_of(key, "fr").note
        )

    def test_the_bytes_of_a_parameter(self) -> None:
        tuning, training, serving = (
            text_of(key, "en").note for key in ("fine-tuning", "llm-training", "llm-inference")
        )

        assert list(BYTES_TENTHS_PER_PARAMETER.values()) == [10, 25, 160]
        assert "1 byte per parameter for QLoRA and 2.5 for 16-bit LoRA" in tuning
        assert "16 bytes per parameter" in training
        assert list(BYTES_HUNDREDTHS_PER_PARAMETER.values()) == [200, 110, 62]
        assert "2 bytes per parameter in 16 bits, 1.1 in 8 bits and 0.62 in 4 bits" in serving

    def test_the_estimate_of_a_score(self) -> None:
        note = text_of("rendering", "en").note

        assert f"{ESTIMATED_SCORE_PER_TFLOPS} samples per minute for each TFLOPS" in note
        assert f"within {ESTIMATE_ERROR_PERCENT} percent" in note
        assert f"Blender {blender_version()}, as of 7 October 2026" in note

    def test_the_weights_and_the_cache_of_llama(self) -> None:
        models = {row["slug"]: row for row in table_rows("models.csv")}

        for slug, weights_gb, cache_kb, cache_gb in (
            ("llama-3.1-8b", ("16", "9", "5"), "131 kB", "1.1 GB"),
            ("llama-3.1-70b", ("141", "78", "44"), "328 kB", "2.7 GB"),
        ):
            row = models[slug]
            parameters = int(row["params_total_computed"])
            token_bytes = 2 * int(row["layers"]) * int(row["kv_heads"]) * int(row["head_dim"]) * 2
            assert weights_gb == tuple(
                f"{parameters * hundredths / 100 / 10**9:.0f}"
                for hundredths in BYTES_HUNDREDTHS_PER_PARAMETER.values()
            )
            assert f"{token_bytes / 1000:.0f} kB" == cache_kb
            assert f"{token_bytes * 8192 / 10**9:.1f} GB" == cache_gb
            assert cache_kb in whole_text("llm-inference", "en")
            assert cache_gb in whole_text("llm-inference", "en")

    def test_the_runs_of_picture_models(self) -> None:
        text = whole_text("image-video", "en")

        for figure in ("11.8 GB", "20.1 GB", "8.2 GB", "69.1 GB", "76.7 GB", "about 50 GB"):
            assert figure in text


def test_the_tables_of_measurements_keep_source_and_day() -> None:
    for name, day in (
        ("blender.csv", "captured_on"),
        ("decode.csv", "measured_on"),
        ("diffusion.csv", "read_on"),
        ("fluidx3d.csv", "published_on"),
        ("rt_cores.csv", "read_on"),
    ):
        rows = table_rows(name)
        assert [row for row in rows if not row["source"].startswith("https://")] == []
        assert [row for row in rows if not re.fullmatch(r"20\d\d-\d\d-\d\d", row[day])] == []
