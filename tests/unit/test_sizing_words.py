"""Refusals of the sizing engine in both languages."""

import re

import pytest
from django.utils import translation

from catalog.sizing_words import (
    FIELD_NAMES,
    PROBLEM_TEXTS,
    field_name,
    plain_problem_text,
    problem_text,
)
from sizing.bounds import PROBLEMS, InputError
from sizing.plain.jobs import Task, field_names

BIG = InputError(
    field="sequence_tokens",
    problem="above_most",
    values={"given": 9_000_000, "least": 1, "most": 2_097_152},
)
PLACEHOLDER = re.compile(r"\{(\w+)\}")


def test_each_problem_has_its_sentence_in_english() -> None:
    with translation.override("en"):
        texts = {key: str(text).replace("’", "'") for key, text in PROBLEM_TEXTS.items()}

    assert texts == dict(PROBLEMS)


def test_each_sentence_keeps_its_figures_in_french() -> None:
    with translation.override("fr"):
        texts = {key: str(text) for key, text in PROBLEM_TEXTS.items()}

    for key, english in PROBLEMS.items():
        assert texts[key] != english
        assert set(PLACEHOLDER.findall(texts[key])) <= set(PLACEHOLDER.findall(english)), key
        assert "{field}" in texts[key] or "model_type" in texts[key]


def test_each_field_of_a_job_has_a_label() -> None:
    fields = {name for task in Task for name in field_names(task)}

    assert fields - set(FIELD_NAMES) == set()
    assert field_name("num_hidden_layers") == "num_hidden_layers"


@pytest.mark.parametrize(
    ("language", "page", "program"),
    [
        (
            "en",
            (
                "Sequence length is 9,000,000, but the most is 2,097,152: "
                "give a value from 1 to 2,097,152."
            ),
            "sequence_tokens is 9000000, but the most is 2097152: give a value from 1 to 2097152.",
        ),
        (
            "fr",
            (
                "Longueur de séquence\u00a0: 9\u202f000\u202f000, mais le maximum est 2\u202f097\u202f152. "
                "Donnez une valeur de 1 à 2\u202f097\u202f152."
            ),
            (
                "sequence_tokens\u00a0: 9000000, mais le maximum est 2097152. "
                "Donnez une valeur de 1 à 2097152."
            ),
        ),
    ],
)
def test_pages_use_labels_and_programs_names(language: str, page: str, program: str) -> None:
    with translation.override(language):
        assert (problem_text(BIG), plain_problem_text(BIG)) == (page, program)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"given": "abc"}, "«\u00a0abc\u00a0»"),
        ({"given": 10**30}, "un nombre d’environ 31 chiffres"),
        ({"given": {}}, "un objet"),
        ({"given": 1.5}, "1.5"),
    ],
)
def test_what_was_given_is_repeated_as_the_language_does(
    values: dict[str, object], words: str
) -> None:
    bounds = {"least": 1, "most": 64}
    error = InputError(field="lora_rank", problem="not_whole", values=values | bounds)

    with translation.override("fr"):
        assert words in problem_text(error)


def test_dimensions_and_other_fields_are_named_in_the_language() -> None:
    rank = InputError(
        field="lora_rank",
        problem="above_dimension",
        values={"given": 9000, "dimension": "the narrowest width of the model", "most": 4096},
    )
    format_ = InputError(
        field="quantization",
        problem="only_with",
        values={"given": "nf4", "other": "method", "choices": ("qlora",)},
    )

    with translation.override("fr"):
        assert "la plus petite largeur du modèle, soit 4096" in problem_text(rank)
        assert "avec Méthode\u00a0: qlora" in problem_text(format_)
        assert "avec method\u00a0: qlora" in plain_problem_text(format_)


def test_a_number_that_is_not_whole_stays_as_it_is() -> None:
    error = InputError(
        field="parameters_billions",
        problem="below_least",
        values={"given": 0.05, "least": 0.1, "most": 20_000},
    )

    with translation.override("en"):
        assert "is 0.05, but the least is 0.1" in problem_text(error)
