"""Rendering jobs: the memory of a scene, the amber state, several cards, and the order by cost."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sizing.benchmarked.ranked import by_speed
from sizing.benchmarked.rendering_jobs import (
    SCENE_BYTES,
    Engine,
    RenderingJob,
    RenderVerdict,
    SceneClass,
    check_rendering_job,
    estimate_rendering,
    out_of_core_share,
    rank_rendering,
    scaling,
    scene_bytes_of_parts,
)
from sizing.benchmarked.standing import Confidence, Standing, confidence_of
from sizing.bounds import InputError
from sizing.cards import all_cards, card_by_slug
from sizing.units import GB

TYPICAL = RenderingJob(scene_bytes=16 * GB)


@pytest.mark.parametrize(
    ("gigabytes", "slug", "verdict"),
    [
        (8, "rtx-4090", RenderVerdict.COMFORTABLE),  # 8 / 0.9 = 8.9 of 24
        (18, "rtx-4090", RenderVerdict.TIGHT),  # 20.0 of 24: above 19.2
        (22, "rtx-4090", RenderVerdict.NO),  # 24.4 of 24
        (24, "l40s", RenderVerdict.COMFORTABLE),
    ],
)
def test_a_scene_needs_itself_over_nine_tenths(
    gigabytes: int, slug: str, verdict: RenderVerdict
) -> None:
    answer = estimate_rendering(RenderingJob(scene_bytes=gigabytes * GB), card_by_slug(slug))

    assert answer.needed_bytes == -(-gigabytes * GB * 10 // 9)
    assert (answer.verdict, answer.verdict_standing) == (verdict, Standing.INDICATIVE)


def test_the_classes_are_eight_sixteen_twenty_four_and_forty_eight() -> None:
    assert [SCENE_BYTES[each] // GB for each in SceneClass] == [8, 16, 24, 48]


def test_textures_in_system_memory_are_a_state_of_their_own() -> None:
    job = RenderingJob(scene_bytes=40 * GB, engine=Engine.VRAY, may_keep_textures_in_host=True)

    answer = estimate_rendering(job, card_by_slug("rtx-4090"))

    # 17 GB fell to 5.1, 22 to 4.8, 16 to 4.9: at most 31 %. 40 / 0.9 x 0.31 = 13.8 of 24 GB.
    assert out_of_core_share() == Decimal("0.31")
    assert answer.verdict is RenderVerdict.OUT_OF_CORE
    assert "out-of-core-slower" in answer.reasons


def test_even_without_its_textures_a_scene_can_be_too_large() -> None:
    job = RenderingJob(scene_bytes=80 * GB, engine=Engine.VRAY, may_keep_textures_in_host=True)

    assert estimate_rendering(job, card_by_slug("rtx-4090")).verdict is RenderVerdict.NO


def test_a_measured_score_carries_its_count_and_its_confidence() -> None:
    figure = estimate_rendering(TYPICAL, card_by_slug("rtx-5090")).samples_per_minute

    assert figure is not None
    assert (figure.value, figure.note) == (Decimal("16071.6"), "143 submissions")
    assert (figure.standing, figure.confidence) == (Standing.MEASURED, Confidence.HIGH)


def test_an_estimated_score_says_its_error() -> None:
    figure = estimate_rendering(TYPICAL, card_by_slug("rtx-6000-ada")).samples_per_minute

    assert figure is not None
    assert (figure.value, figure.standing) == (Decimal(13_200), Standing.ESTIMATED)
    assert (figure.error_percent, figure.confidence) == (30, Confidence.LOW)


@pytest.mark.parametrize(
    ("slug", "reason"),
    [("h100-sxm", "no-rt-cores"), ("h200-sxm", "no-rt-cores"), ("mi300x", "no-measurement")],
)
def test_cards_without_a_score_have_no_figure_but_a_reason(slug: str, reason: str) -> None:
    answer = estimate_rendering(TYPICAL, card_by_slug(slug))

    assert answer.samples_per_minute is None
    assert reason in answer.reasons


@pytest.mark.parametrize(
    ("count", "confidence"),
    [
        (1, Confidence.LOW),
        (4, Confidence.LOW),
        (5, Confidence.MEDIUM),
        (29, Confidence.MEDIUM),
        (30, Confidence.HIGH),
    ],
)
def test_submissions_make_confidence(count: int, confidence: Confidence) -> None:
    assert confidence_of(count) is confidence


@pytest.mark.parametrize(("gpus", "speedup"), [(2, "1.95"), (4, "3.7"), (8, "7.3")])
def test_a_shared_frame_gains_what_was_measured(gpus: int, speedup: str) -> None:
    job = RenderingJob(scene_bytes=16 * GB, gpus=gpus, shares_frames=True)

    answer = estimate_rendering(job, card_by_slug("rtx-4090"))

    assert scaling()[gpus] == Decimal(speedup)
    assert answer.samples_per_minute is not None
    assert answer.samples_per_minute.value == Decimal("11568.2") * Decimal(speedup)
    assert answer.samples_per_minute.standing is Standing.INDICATIVE
    assert {"memory-does-not-add", "prefer-frame-per-card"} <= set(answer.reasons)


def test_a_count_that_nobody_measured_has_no_figure() -> None:
    job = RenderingJob(scene_bytes=16 * GB, gpus=3, shares_frames=True)

    answer = estimate_rendering(job, card_by_slug("rtx-4090"))

    assert answer.samples_per_minute is None
    assert "no-scaling-measurement" in answer.reasons


def test_one_frame_per_card_adds_the_cards_up_but_not_their_memory() -> None:
    job = RenderingJob(scene_bytes=22 * GB, gpus=4)

    answer = estimate_rendering(job, card_by_slug("rtx-4090"))

    assert answer.verdict is RenderVerdict.NO
    assert answer.samples_per_minute is not None
    assert answer.samples_per_minute.value == Decimal("11568.2") * 4


def test_cards_are_ordered_by_the_price_of_the_samples_then_by_speed() -> None:
    cards = [card_by_slug(each) for each in ("rtx-5090", "rtx-4090", "l40", "h100-sxm", "rtx-3070")]
    prices = {"rtx-5090": Decimal("0.69"), "rtx-4090": Decimal("0.33"), "h100-sxm": Decimal(2)}

    ranked = rank_rendering(TYPICAL, cards, prices)

    # 0.33 x 10**6 / (60 x 11,568.2) = 0.475; the 3070 does not hold 16 GB; no price comes after.
    assert [each.slug for each in ranked] == ["rtx-4090", "rtx-5090", "l40", "h100-sxm"]
    assert [each.cost and round(each.cost, 4) for each in ranked[:2]] == [
        Decimal("0.4754"),
        Decimal("0.7155"),
    ]
    assert [each.cost for each in ranked[2:]] == [None, None]


def test_the_other_order_is_by_speed() -> None:
    cards = [card_by_slug(each) for each in ("h100-sxm", "rtx-4090", "rtx-5090")]

    ranked = by_speed(rank_rendering(TYPICAL, cards, {"rtx-4090": Decimal("0.33")}))

    assert [each.slug for each in ranked] == ["rtx-5090", "rtx-4090", "h100-sxm"]


def test_textures_in_system_memory_cost_the_slower_time() -> None:
    spilling = RenderingJob(
        scene_bytes=40 * GB, engine=Engine.OCTANE, may_keep_textures_in_host=True
    )

    (row,) = rank_rendering(spilling, [card_by_slug("rtx-4090")], {"rtx-4090": Decimal("0.33")})

    assert row.cost is not None
    assert round(row.cost, 4) == round(
        Decimal("0.33") * 10**6 / 60 / Decimal("11568.2") * 124 / 100, 4
    )


def test_the_parts_of_a_scene_add_up() -> None:
    # 10 million triangles of 200 bytes; 3 x 4096² pixels x 4 bytes x 4/3; 2 passes x 16 bytes.
    size = scene_bytes_of_parts(
        triangles=10**7, texture_pixels=3 * 4096**2, frame_pixels=10**6, passes=2
    )

    assert size == 2 * 10**9 + 16 * 4096**2 + 32 * 10**6


@pytest.mark.parametrize(
    ("job", "field"),
    [
        (RenderingJob(scene_bytes=0), "scene_bytes"),
        (RenderingJob(scene_bytes=10**14), "scene_bytes"),
        (RenderingJob(scene_bytes=GB, gpus=0), "gpus"),
        (RenderingJob(scene_bytes=GB, million_samples=-1), "million_samples"),
        (RenderingJob(scene_bytes=GB, may_keep_textures_in_host=True), "may_keep_textures_in_host"),
    ],
)
def test_bad_input_is_refused_with_its_field(job: RenderingJob, field: str) -> None:
    with pytest.raises(InputError) as refused:
        check_rendering_job(job)

    assert refused.value.field == field


def test_a_good_job_passes() -> None:
    check_rendering_job(TYPICAL)


@given(
    scene=st.integers(min_value=1, max_value=10**12),
    more=st.integers(min_value=0, max_value=10**12),
    slug=st.sampled_from(sorted(all_cards())),
)
def test_a_larger_scene_never_needs_less(scene: int, more: int, slug: str) -> None:
    order = list(RenderVerdict)
    card = card_by_slug(slug)
    small = estimate_rendering(RenderingJob(scene_bytes=scene), card)
    large = estimate_rendering(RenderingJob(scene_bytes=scene + more), card)

    assert small.needed_bytes <= large.needed_bytes
    assert order.index(small.verdict) <= order.index(large.verdict)
