"""Scientific jobs: precision first, measured codes, the bound, and the order by cost."""

from dataclasses import replace
from decimal import Decimal
from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sizing.benchmarked.scientific import fluid_speeds
from sizing.benchmarked.scientific_jobs import (
    BYTES_PER_CELL,
    Precision,
    ScientificJob,
    check_scientific_job,
    dynamics_runs,
    estimate_scientific,
    rank_scientific,
)
from sizing.benchmarked.standing import Confidence, Standing
from sizing.bounds import InputError
from sizing.cards import all_cards, card_by_slug

STMV = 1_067_095
FP64 = ScientificJob(precision=Precision.FP64)


@pytest.mark.parametrize("slug", ["rtx-4090", "rtx-5090", "l40s", "rx-7900-xtx", "a16", "b300-sxm"])
def test_cards_slow_in_fp64_are_refused_for_it(slug: str) -> None:
    answer = estimate_scientific(FP64, card_by_slug(slug))

    assert (answer.is_refused, answer.reasons) == (True, ("fp64-too-slow",))
    assert answer.figure is None


@pytest.mark.parametrize(
    ("slug", "tflops", "standing"),
    [
        ("h100-sxm", "33.45", Standing.INDICATIVE),
        ("a100-sxm-80", "9.746", Standing.INDICATIVE),
        ("b200-sxm", "34.292", Standing.MEASURED),
        ("mi355x", "62.858", Standing.MEASURED),
    ],
)
def test_fp64_takes_the_measured_rate_else_the_makers(
    slug: str, tflops: str, standing: Standing
) -> None:
    figure = estimate_scientific(FP64, card_by_slug(slug)).figure

    assert figure is not None
    assert (figure.value, figure.standing) == (Decimal(tflops), standing)


def test_linpack_is_told_beside_it_with_its_span() -> None:
    (linpack,) = estimate_scientific(FP64, card_by_slug("h100-sxm")).others

    assert linpack.value == Decimal("39.5")
    assert linpack.note.startswith("HPL, 36 to 43")


@pytest.mark.parametrize(
    ("slug", "code", "speed"),
    [
        ("h100-sxm", "OpenMM 8.0", "47.8024"),
        ("rtx-4090", "OpenMM 8.0", "59.34967"),
        ("b200-sxm", "OpenMM 8.4", "116.907"),
        ("l40s", "OpenMM 8.4", "77.802"),
    ],
)
def test_dynamics_of_a_measured_size_is_the_measurement(slug: str, code: str, speed: str) -> None:
    job = ScientificJob(precision=Precision.MIXED, atoms=STMV, code=code)

    figure = estimate_scientific(job, card_by_slug(slug)).figure

    assert figure is not None
    assert (figure.value, figure.standing) == (Decimal(speed), Standing.MEASURED)


def test_versions_of_a_code_are_never_mixed() -> None:
    job = ScientificJob(precision=Precision.MIXED, atoms=STMV, code="OpenMM 8.4")

    answer = estimate_scientific(job, card_by_slug("rtx-4090"))

    assert (answer.figure, answer.reasons) == (None, ("no-measurement",))
    assert "OpenMM 8.0, STMV" in " ".join(each.note for each in answer.others)


def test_another_size_takes_the_nearest_system_as_an_indication() -> None:
    job = ScientificJob(precision=Precision.MIXED, atoms=30_000)

    answer = estimate_scientific(job, card_by_slug("l40s"))

    assert answer.figure is not None
    assert (answer.figure.value, answer.figure.standing) == (Decimal("2059.5"), Standing.INDICATIVE)
    assert set(answer.reasons) == {"small-system", "other-size"}


def test_a_card_without_a_variant_has_medium_confidence() -> None:
    job = ScientificJob(precision=Precision.MIXED, atoms=STMV)

    figure = (
        estimate_scientific(job, card_by_slug("h200-sxm")).figure
        or estimate_scientific(job, card_by_slug("h100-sxm")).figure
    )

    assert figure is not None
    assert figure.confidence is Confidence.MEDIUM
    assert "names no variant" in figure.note


@pytest.mark.parametrize(
    ("gpus", "atoms", "speed"),
    [(2, STMV, "112.344"), (4, STMV, "147.089"), (2, 408_609, "245.069")],
)
def test_one_simulation_on_several_cards_is_what_was_measured(
    gpus: int, atoms: int, speed: str
) -> None:
    job = ScientificJob(precision=Precision.MIXED, atoms=atoms, gpus=gpus, shares_simulation=True)

    answer = estimate_scientific(job, card_by_slug("h100-sxm"))

    assert answer.figure is not None
    assert answer.figure.value == Decimal(speed)
    assert ("one-card-per-simulation" in answer.reasons) is (atoms < 10**6)


@pytest.mark.parametrize("precision", list(Precision))
def test_a_scaling_that_nobody_measured_has_no_figure(precision: Precision) -> None:
    job = ScientificJob(precision=precision, atoms=STMV, gpus=2, shares_simulation=True)

    answer = estimate_scientific(job, card_by_slug("a100-sxm-80"))

    assert (answer.figure, answer.reasons) == (None, ("no-scaling-measurement",))


def test_several_simulations_add_up_as_an_estimate() -> None:
    job = ScientificJob(precision=Precision.MIXED, atoms=STMV, gpus=2)

    figure = estimate_scientific(job, card_by_slug("l40s")).figure

    assert figure is not None
    assert (figure.value, figure.standing) == (Decimal("155.604"), Standing.ESTIMATED)


@pytest.mark.parametrize(("slug", "mlups"), [("rtx-4090", 5624), ("h200-sxm", 23056)])
def test_a_code_bound_by_memory_takes_the_measured_speed(slug: str, mlups: int) -> None:
    answer = estimate_scientific(ScientificJob(precision=Precision.BANDWIDTH), card_by_slug(slug))

    assert answer.figure is not None
    assert (answer.figure.value, answer.figure.standing) == (Decimal(mlups), Standing.MEASURED)


def test_an_unmeasured_card_takes_seventy_nine_percent_of_its_bandwidth() -> None:
    answer = estimate_scientific(ScientificJob(precision=Precision.BANDWIDTH), card_by_slug("l4"))

    # 300.1 GB/s over 153 bytes a cell is 1,961 MLUPS; 79 % of it 1,550.
    assert answer.figure is not None
    assert answer.bound is not None
    assert (answer.bound.value, answer.figure.value) == (Decimal(1961), Decimal(1550))
    assert (answer.figure.standing, answer.figure.error_percent) == (Standing.ESTIMATED, 41)


def test_the_measured_cards_lie_where_the_estimate_says() -> None:
    shares = [
        Decimal(speed.mlups) * BYTES_PER_CELL / 1000 / all_cards()[slug].bandwidth_gb_per_s
        for slug, speed in fluid_speeds().items()
    ]

    assert Decimal("0.72") < median(shares) < Decimal("0.86")
    assert [share for share in shares if not Decimal("0.46") < share < Decimal("0.93")] == []


def test_cards_are_ordered_by_the_price_of_the_work() -> None:
    job = ScientificJob(precision=Precision.MIXED, atoms=STMV, work=1000)
    cards = [card_by_slug(each) for each in ("h100-sxm", "l40s", "b200-sxm", "rtx-4090")]

    ranked = rank_scientific(job, cards, {"h100-sxm": Decimal(2), "l40s": Decimal("0.8")})

    # 1,000 ns at 77.802 ns/day are 308.48 hours at 0.80; the others have no price or no speed.
    assert [each.slug for each in ranked] == ["l40s", "h100-sxm", "b200-sxm", "rtx-4090"]
    assert ranked[0].cost is not None
    assert round(ranked[0].cost, 2) == Decimal("246.78")


def test_refused_cards_have_no_place() -> None:
    ranked = rank_scientific(FP64, [card_by_slug("rtx-4090"), card_by_slug("h100-sxm")], {})

    assert [each.slug for each in ranked] == ["h100-sxm"]


def test_a_card_without_a_published_rate_says_so() -> None:
    card = replace(card_by_slug("h100-nvl"), fp64_tflops=None)

    assert estimate_scientific(FP64, card).reasons == ("fp64-not-published",)


def test_every_measured_card_is_in_the_table_of_cards() -> None:
    assert {run.slug for run in dynamics_runs()} <= set(all_cards())


@pytest.mark.parametrize(
    ("job", "field"),
    [
        (ScientificJob(precision=Precision.MIXED), "atoms"),
        (ScientificJob(precision=Precision.MIXED, atoms=0), "atoms"),
        (ScientificJob(precision=Precision.FP64, gpus=0), "gpus"),
        (ScientificJob(precision=Precision.FP64, work=0), "work"),
        (ScientificJob(precision=Precision.FP64, code="OpenMM 1"), "code"),
    ],
)
def test_bad_input_is_refused_with_its_field(job: ScientificJob, field: str) -> None:
    with pytest.raises(InputError) as refused:
        check_scientific_job(job)

    assert refused.value.field == field


def test_a_good_job_passes() -> None:
    check_scientific_job(FP64)


@given(gpus=st.integers(min_value=1, max_value=64), precision=st.sampled_from(Precision))
def test_more_cards_with_work_of_their_own_are_never_slower(
    gpus: int, precision: Precision
) -> None:
    card = card_by_slug("h100-sxm")
    few = estimate_scientific(ScientificJob(precision=precision, atoms=STMV, gpus=gpus), card)
    many = estimate_scientific(ScientificJob(precision=precision, atoms=STMV, gpus=gpus + 1), card)

    assert few.figure is not None
    assert many.figure is not None
    assert few.figure.value < many.figure.value
