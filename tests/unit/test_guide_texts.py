"""The project's guides: every figure follows from a rule, a table or a named arithmetic."""

import csv
import re
from decimal import ROUND_HALF_UP, Decimal
from importlib.resources import files

import pytest

from catalog.content.guide_figures import EXAMPLE_BILLIONS, RECIPES, unknown_figures
from catalog.content.guide_files import FOLDER, GuideTextFile, guide_files
from catalog.content.use_cases import use_case_keys
from sizing.benchmarked.rendering import measured_scores
from sizing.capacity import Method, indicative_parameters_b
from sizing.cards import all_cards
from sizing.inference import (
    WeightBits,
    decode_bound_tokens_per_s,
    measured_decodes,
    reference_read_bytes,
    servable_parameters_b,
)
from sizing.units import GB

LANGUAGES = ["en", "fr"]
TEXTS = [(guide.key, text) for guide in guide_files() for text in guide.texts]
IDS = [f"{text.language}/{key}" for key, text in TEXTS]
WORDS = {"en": {"gb": "GB", "mb": "MB"}, "fr": {"gb": "Go", "mb": "Mo"}}


def guide(key: str, language: str) -> GuideTextFile:
    return next(text for name, text in TEXTS if (name, text.language) == (key, language))


def flat(text: str) -> str:
    """Return a text on one line, every space a plain one."""
    return re.sub(r"\s+", " ", text)


def number(value: object, language: str) -> str:
    """Return a number as the texts write it, every space a plain one."""
    written = f"{value:,}"
    return written if language == "en" else written.replace(",", " ").replace(".", ",")


def rounded(value: Decimal, step: str) -> Decimal:
    return value.quantize(Decimal(step), ROUND_HALF_UP)


def tables(text: GuideTextFile) -> list[list[list[str]]]:
    """Return the tables of a text: rows of cells, heads left out."""
    found: list[list[list[str]]] = []
    lines = text.body.splitlines()
    for place, line in enumerate(lines):
        if re.fullmatch(r"\|[-:|]+\|", line):
            found.append([])
            for row in lines[place + 1 :]:
                if not row.startswith("|"):
                    break
                found[-1].append([flat(cell).strip() for cell in row.strip("|").split("|")])
    return found


@pytest.mark.parametrize("language", LANGUAGES)
class TestFineTuning:
    def test_adds_up_every_recipe_of_a_7b_model(self, language):
        unit = WORDS[language]["gb"]

        rows = tables(guide("fine-tuning", language))[0]

        assert len(rows) == len(RECIPES)
        for row, (total, parts) in zip(rows, RECIPES.items(), strict=True):
            assert sum(parts) == total
            assert row[0].startswith(f"{total} ")
            shown = [f"{part * EXAMPLE_BILLIONS} {unit}" if part else "–" for part in parts]
            assert row[1:] == [*shown, f"{total * EXAMPLE_BILLIONS} {unit}"]

    def test_multiplies_sizes_by_bytes_and_names_classes_that_are_as_tight_as_it_says(
        self, language
    ):
        unit = WORDS[language]["gb"]

        rows = tables(guide("fine-tuning", language))[1]

        cards = {7: 2, 13: 2, 34: 4, 70: 8}
        for row, (size, count) in zip(rows, cards.items(), strict=True):
            assert row[0] == f"{size}B"
            assert row[1:4] == [f"{number(size * each, language)} {unit}" for each in (16, 8, 6)]
            assert row[4] == f"{count} × 80 {unit}"
        for size, count, comfortable, tight in (
            (7, 2, 16, None),
            (13, 2, 8, 10),
            (34, 4, 6, 8),
            (70, 8, 6, 8),
        ):
            room = count * 80
            assert size * comfortable <= Decimal("0.8") * room
            assert tight is None or Decimal("0.8") * room < size * tight <= room
        assert Decimal("0.8") * 80 < 7 * 10 <= 80

    def test_states_the_capacities_of_the_rule(self, language):
        rows = tables(guide("fine-tuning", language))[2]

        assert [row[1:] for row in rows] == [
            [
                f"{indicative_parameters_b(memory_bytes=memory * GB, method=method)}B"
                for method in (Method.QLORA, Method.LORA16)
            ]
            for memory in (24, 48, 80)
        ]

    def test_counts_the_share_that_lora_trains(self, language):
        model = row_of("models.csv", "llama-2-7b-hf")
        hidden, inner, layers = (int(model[name]) for name in ("hidden", "intermediate", "layers"))
        total = int(model["params_total_computed"])
        attention, feed = hidden + hidden, hidden + inner

        few = Decimal(8 * layers * 2 * attention * 100) / total
        many = Decimal(16 * layers * (4 * attention + 3 * feed) * 100) / total

        text = flat(guide("fine-tuning", language).body)
        for share in (few, many):
            assert number(rounded(share, "0.01"), language) in text
        assert Decimal("0.05") < few < Decimal("0.1") < many < 1

    def test_counts_the_rest_of_what_it_says(self, language):
        unit, text = WORDS[language]["gb"], flat(guide("fine-tuning", language).body)
        logits = Decimal(8_192 * 152_000 * 12) / GB

        assert f"{rounded(logits, '1')} {unit}" == f"15 {unit}"
        assert f"15 {unit}." in text
        assert rounded(Decimal(70 * 100) / 80, "1") == 88
        assert re.search(r"88 (percent|%)", text)
        # By class: 13B full at 4 bytes on 80 GB; 7B full at 4 and 6 on 48; QLoRA 13B on 24, 34B on 48.
        assert 13 * 4 <= Decimal("0.8") * 80 < 13 * 6
        assert 7 * 4 <= Decimal("0.8") * 48 < 7 * 6 <= 48
        assert Decimal("0.8") * 24 >= 13
        assert Decimal("0.8") * 48 >= 34
        assert Decimal("2.5") * 13 <= Decimal("0.8") * 48
        assert Decimal("2.5") * 7 <= Decimal("0.8") * 24

    def test_quotes_the_measured_lengths_of_the_table(self, language):
        table = (FOLDER / "measured_lengths.csv").read_text(encoding="utf-8")
        rows = list(csv.DictReader(table.splitlines()))

        assert [(row["tokens"], row["peak_memory_gb"]) for row in rows] == [
            ("256", "18.7"),
            ("2048", "19.9"),
            ("4096", "23.0"),
            ("8192", "27.9"),
        ]
        assert {row["source"] for row in rows} <= set(links(guide("fine-tuning", language)))
        text = flat(guide("fine-tuning", language).body)
        assert all(number(Decimal(gb), language) in text for gb in ("61.4", "64.1", "75.6"))

    def test_states_every_fact(self, language):
        text = flat(guide("fine-tuning", language).body)

        assert [fact for fact in FACTS[language] if fact not in text] == []

    def test_is_long_enough_to_help_and_short_enough_to_read(self, language):
        assert 900 <= len(guide("fine-tuning", language).body.split()) <= 1_400


@pytest.mark.parametrize("language", LANGUAGES)
class TestInference:
    def test_states_what_the_rule_serves(self, language):
        rows = tables(guide("llm-inference", language))[0]

        assert [row[1:] for row in rows] == [
            [
                f"{servable_parameters_b(memory_bytes=memory * GB, bits=bits)}B"
                for bits in WeightBits
            ]
            for memory in (24, 32, 48, 80, 141)
        ]

    def test_counts_the_cache_of_keys_and_values(self, language):
        gb, mb = WORDS[language]["gb"], WORDS[language]["mb"]

        rows = tables(guide("llm-inference", language))[1]

        for row, slug in zip(rows, ("llama-3.1-8b", "llama-3.3-70b-instruct"), strict=True):
            model = row_of("models.csv", slug)
            each = 2 * 2
            for name in ("layers", "kv_heads", "head_dim"):
                each *= int(model[name])
            sizes = [rounded(Decimal(each * tokens) / GB, "0.1") for tokens in (8_192, 131_072)]
            per_token = rounded(Decimal(each) / 10**6, "0.01")
            assert row[0] == model["name"]
            assert row[1:] == [
                f"{number(per_token, language)} {mb}",
                *(f"{number(size, language)} {gb}" for size in sizes),
            ]
        assert Decimal(16 * 8_192) == Decimal(131_072)

    def test_bounds_the_speed_and_quotes_what_was_measured(self, language):
        rows = tables(guide("llm-inference", language))[2]
        cards = ("rtx-a6000", "l40s", "rtx-4090", "a100-pcie-80", "h100-pcie")
        unit = {"en": "GB/s", "fr": "Go/s"}[language]

        for row, slug in zip(rows, cards, strict=True):
            card, measured = all_cards()[slug], measured_decodes()[slug].tokens_per_second
            bound = decode_bound_tokens_per_s(
                bandwidth_gb_per_s=card.bandwidth_gb_per_s, read_bytes=reference_read_bytes()
            )
            assert row[1:] == [
                f"{number(int(card.bandwidth_gb_per_s), language)} {unit}",
                f"{bound} tokens/s",
                f"{rounded(measured, '1')} tokens/s",
            ]
        assert rounded(Decimal(reference_read_bytes()) / GB, "0.1") == Decimal("15.0")

    def test_says_how_near_to_the_bound_the_runs_came(self, language):
        def share(slug: str) -> Decimal:
            exact = all_cards()[slug].bandwidth_gb_per_s * GB / reference_read_bytes()
            return measured_decodes()[slug].tokens_per_second / exact

        shares = {slug: share(slug) for slug in measured_decodes()}
        graphics = [
            share
            for slug, share in shares.items()
            if not all_cards()[slug].memory_type.startswith("HBM")
        ]
        stacked = [
            share
            for slug, share in shares.items()
            if all_cards()[slug].memory_type.startswith("HBM")
        ]

        low, high = (rounded(100 * share, "1") for share in (min(graphics), max(graphics)))
        assert f"{low} {'to' if language == 'en' else 'à'} {high}" in flat(
            guide("llm-inference", language).body
        )
        assert len(stacked) == 2
        assert max(stacked) <= Decimal("0.5")


@pytest.mark.parametrize("language", LANGUAGES)
def test_rendering_quotes_the_benchmark_and_divides_by_one_card(language):
    rows = tables(guide("rendering", language))[0]
    cards = ("rtx-pro-6000-blackwell", "rtx-5090", "rtx-4090", "l40s", "rtx-a6000", "a100-pcie-80")
    yardstick = measured_scores()["rtx-4090"].samples_per_minute

    for row, slug in zip(rows, cards, strict=True):
        score = measured_scores()[slug]
        worth = rounded(score.samples_per_minute / yardstick, "0.01")
        assert row[1:] == [
            number(rounded(score.samples_per_minute, "1"), language),
            number(worth, language),
            str(score.submissions),
        ]


@pytest.mark.parametrize(("key", "text"), TEXTS, ids=IDS)
class TestEveryText:
    def test_has_a_short_title_and_a_description_of_one_sentence(self, key, text):
        assert len(f"{text.short_title} – GPU Bourse") <= 60
        assert len(text.title) <= 120
        assert 50 <= len(text.description) <= 170

    def test_shows_known_figures_only(self, key, text):
        assert unknown_figures(text.body) == []

    def test_names_its_sources_at_the_end(self, key, text):
        last = text.body.rsplit("\n## ", 1)[1]

        assert last.startswith("Sources\n")
        assert all(link in last for link in links(text))
        quoted = set(re.findall(r"\[(\d)\](?!\()", text.body))
        assert quoted == {
            str(place) for place in range(1, len(re.findall(r"^\d\. ", last, re.MULTILINE)) + 1)
        }


def test_every_guide_is_there_in_both_languages_and_leads_to_known_cards_and_uses():
    for file in guide_files():
        assert [text.language for text in file.texts] == LANGUAGES
        assert [slug for slug in file.cards if slug not in all_cards()] == []
        assert file.use_case in use_case_keys()


def test_both_languages_tell_the_same_figures():
    for file in guide_files():
        english, french = (sorted(re.findall(r"\d+", digits(text))) for text in file.texts)
        assert english == french, file.key


def digits(text: GuideTextFile) -> str:
    """Return the body with separators of thousands and decimals taken out, and links too."""
    body = re.sub(r"\]\([^)]*\)", "]", text.body)
    return re.sub(r"(?<=\d)[,.\u202f](?=\d)", "", body)


def links(text: GuideTextFile) -> list[str]:
    return re.findall(r"\]\((https://[^)]+)\)", text.body)


def row_of(table: str, slug: str) -> dict[str, str]:
    content = files("sizing.tables").joinpath(table).read_text(encoding="utf-8")
    return next(row for row in csv.DictReader(content.splitlines()) if row["slug"] == slug)


FACTS = {
    "en": [
        "the weights, their gradients, the optimizer’s states and the activations",
        "the run ends before its first step",
        "throughput collapses",
        "Settle the memory, then the speed",
        "bf16",
        "Longer sequences and larger batches",
        "twice the weights",
        "four times",
        "14 GB of weights, 14 GB of gradients and 56 GB for Adam",
        "LoRA freezes",
        "0.1 to 1 percent",
        "4 bits (NF4)",
        "always measure it",
        "one card of 24 to 48 GB",
        "70B base on one 80 GB card is common practice",
        "in proportion to the length",
        "with its square",
        "fused attention",
        "adds nothing to the weights",
        "batch per card × the accumulation steps",
        "win the batch back by accumulating",
        "on one server or one cluster",
        "NVLink",
        "never split",
        "effective batch you aim for",
        "How large is the data set",
        "short trial",
    ],
    "fr": [
        "les poids, leurs gradients, l’état de l’optimiseur et les activations",
        "s’arrête avant la première étape",
        "le débit s’effondre",
        "Réglez d’abord la question de la mémoire",
        "bf16",
        "séquences plus longues",
        "deux fois les poids",
        "quatre fois",
        "14 Go de poids, 14 Go de gradients et 56 Go pour Adam",
        "LoRA gèle",
        "de 0,1 à 1 %",
        "4 bits (NF4)",
        "mesurez-le toujours",
        "une seule carte de 24 à 48 Go",
        "70B sur une carte de 80 Go est une pratique courante",
        "comme la longueur",
        "comme son carré",
        "attention fusionnée",
        "n’ajoute rien aux poids",
        "lot par carte × les pas d’accumulation",
        "retrouvez le lot voulu",
        "sur un même serveur ou un même cluster",
        "NVLink",
        "jamais répartie",
        "quel lot effectif visez-vous",
        "Quelle taille font les données",
        "courte durée d’essai",
    ],
}
