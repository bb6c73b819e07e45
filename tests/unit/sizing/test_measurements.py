"""Runs of picture models and of a fluid code: as read, with source and day."""

from decimal import Decimal

import pytest

from sizing.benchmarked.diffusion import PeakBasis, diffusion_runs
from sizing.benchmarked.scientific import fluid_speeds, micro_per_tflops
from sizing.cards import all_cards
from sizing.fits import Verdict, verdict
from sizing.inference import measured_decodes
from sizing.units import GB, MIB


def test_gives_the_peaks_in_bytes_and_rounded_up_in_gigabytes() -> None:
    runs = diffusion_runs()

    assert runs["sd3-medium-16"].peak_bytes == 20_080 * MIB
    assert {key: run.peak_gb for key, run in runs.items()} == {
        "sd3-medium-4": Decimal("6.0"),
        "wan21-t2v-1.3b": Decimal("8.2"),
        "flux-schnell-4": Decimal("11.8"),
        "flux-schnell-8": Decimal("20.1"),
        "sd3-medium-16": Decimal("21.1"),
        "wan21-t2v-14b-8": Decimal("29.9"),
        "flux-16": Decimal("50.0"),
        "wan21-t2v-14b": Decimal("69.1"),
        "wan21-i2v-14b": Decimal("76.7"),
    }


def test_says_which_peak_was_only_documented() -> None:
    documented = [r.key for r in diffusion_runs().values() if r.basis == PeakBasis.DOCUMENTED]

    assert documented == ["flux-16"]


@pytest.mark.parametrize(
    ("key", "memory_gb", "expected"),
    [
        ("sd3-medium-16", 24, Verdict.TIGHT),
        ("sd3-medium-16", 32, Verdict.COMFORTABLE),
        ("flux-16", 48, Verdict.NO),
        ("flux-16", 80, Verdict.COMFORTABLE),
        ("wan21-t2v-14b", 80, Verdict.TIGHT),
        ("wan21-t2v-14b", 96, Verdict.COMFORTABLE),
    ],
)
def test_judges_a_peak_against_a_cards_memory(key: str, memory_gb: int, expected: Verdict) -> None:
    peak = diffusion_runs()[key].peak_bytes

    assert verdict(needed_bytes=peak, memory_bytes=memory_gb * GB) == expected


def test_every_measurement_has_a_public_source() -> None:
    sources = [run.source for run in diffusion_runs().values()]
    sources += [speed.source for speed in fluid_speeds().values()]
    sources += [run.source for run in measured_decodes().values()]

    assert [source.url for source in sources if not source.url.startswith("https://")] == []


def test_every_measured_card_is_in_the_table_of_cards() -> None:
    measured = [*fluid_speeds(), *measured_decodes()]

    assert [slug for slug in measured if slug not in all_cards()] == []


def test_the_fluid_code_uses_47_to_92_percent_of_the_bandwidth() -> None:
    # One update moves 153 bytes: 19 populations in and out in FP32, and a flag.
    shares = {
        slug: speed.mlups * Decimal(10**6) * 153 / (all_cards()[slug].bandwidth_gb_per_s * GB)
        for slug, speed in fluid_speeds().items()
    }

    outside = {
        slug: share
        for slug, share in shares.items()
        if not Decimal("0.47") <= share <= Decimal("0.92")
    }
    assert outside == {}


@pytest.mark.parametrize(
    ("price_micro", "tflops", "micro"),
    [(1_790_000, "9.746", 183_665), (2_880_000, "33.45", 86_099), (330_000, "1.29", 255_814)],
)
def test_a_tflops_costs_its_share_of_the_hour(price_micro: int, tflops: str, micro: int) -> None:
    assert micro_per_tflops(price_micro=price_micro, tflops=Decimal(tflops)) == micro
