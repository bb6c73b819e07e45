"""Blender scores: measured with their count, estimated with their error, or none."""

from dataclasses import replace
from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sizing.benchmarked.rendering import (
    ESTIMATE_ERROR_PERCENT,
    ESTIMATED_SCORE_PER_TFLOPS,
    Basis,
    blender_version,
    measured_scores,
    micro_per_million_samples,
    render_score,
    rt_cores,
)
from sizing.cards import all_cards, card_by_slug


@pytest.mark.parametrize(
    ("slug", "score", "submissions", "is_few"),
    [
        ("rtx-4090", "11568.2", 69, False),
        ("rtx-5090", "16071.6", 143, False),
        ("rtx-a6000", "4743.0", 5, False),
        ("l40s", "8605.4", 1, True),
    ],
)
def test_a_measured_card_has_its_median_and_its_count(
    slug: str, score: str, submissions: int, is_few: bool
) -> None:
    found = render_score(card_by_slug(slug))

    assert found is not None
    assert (found.samples_per_minute, found.basis) == (Decimal(score), Basis.MEASURED)
    assert (found.submissions, found.has_few_submissions) == (submissions, is_few)


def test_a_card_that_nobody_submitted_is_estimated_from_its_fp32_rate() -> None:
    found = render_score(card_by_slug("rtx-6000-ada"))

    # 91.06 TFLOPS x 145 is 13,203.7: whole hundreds, down.
    assert found is not None
    assert (found.samples_per_minute, found.basis) == (Decimal(13_200), Basis.ESTIMATED)
    assert (found.submissions, found.source) == (None, None)


@pytest.mark.parametrize("slug", ["h100-sxm", "h200-sxm", "a100-sxm-80", "mi300x"])
def test_without_rt_cores_and_without_a_submission_there_is_no_figure(slug: str) -> None:
    assert render_score(card_by_slug(slug)) is None


def test_without_an_fp32_rate_nothing_is_estimated() -> None:
    assert render_score(replace(card_by_slug("rtx-6000-ada"), fp32_tflops=None)) is None


def test_cards_with_five_submissions_lie_where_the_estimate_says() -> None:
    ratios = [
        score.samples_per_minute / card.fp32_tflops
        for slug, score in measured_scores().items()
        if rt_cores().get(slug) and not score.has_few_submissions
        for card in [all_cards()[slug]]
        if card.fp32_tflops is not None and card.segment != "data-centre"
    ]

    low = ESTIMATED_SCORE_PER_TFLOPS * (100 - ESTIMATE_ERROR_PERCENT) / 100
    high = ESTIMATED_SCORE_PER_TFLOPS * (100 + ESTIMATE_ERROR_PERCENT) / 100
    assert len(ratios) >= 15
    assert [ratio for ratio in ratios if not low <= ratio <= high] == []


def test_all_scores_come_from_one_version_and_one_day() -> None:
    assert blender_version() == "5.2.0"
    assert {s.source.held_on for s in measured_scores().values() if s.source} == {date(2026, 10, 7)}


def test_every_scored_card_is_in_the_table_of_cards() -> None:
    assert [slug for slug in (*measured_scores(), *rt_cores()) if slug not in all_cards()] == []


@pytest.mark.parametrize(
    ("price_micro", "score", "micro"),
    [(330_000, "11568.2", 475_441), (690_000, "16071.6", 715_548), (740_000, "13200", 934_343)],
)
def test_a_million_samples_cost_the_hours_that_they_take(
    price_micro: int, score: str, micro: int
) -> None:
    cost = micro_per_million_samples(price_micro=price_micro, samples_per_minute=Decimal(score))

    assert cost == micro


@given(
    price_micro=st.integers(min_value=1, max_value=10**8),
    more_micro=st.integers(min_value=0, max_value=10**8),
    score=st.decimals(min_value=1, max_value=100_000, places=1),
)
def test_a_dearer_hour_never_makes_samples_cheaper(
    price_micro: int, more_micro: int, score: Decimal
) -> None:
    cheap = micro_per_million_samples(price_micro=price_micro, samples_per_minute=score)
    dear = micro_per_million_samples(price_micro=price_micro + more_micro, samples_per_minute=score)

    assert dear >= cheap
